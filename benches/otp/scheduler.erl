%% Binds processes to one scheduler, as the threads of the other programs are bound to one processor.
-module(scheduler).
-export([start/2, result/1, main/1]).

%% By an undocumented option.
start(Scheduler, What) ->
    Whom = self(),
    spawn_opt(fun() -> Whom ! {self(), What()} end, [monitor, {scheduler, Scheduler}]).

result({Process, Monitor}) ->
    receive
        {Process, Result} -> erlang:demonitor(Monitor, [flush]), Result;
        {'DOWN', Monitor, process, Process, Reason} -> error(Reason)
    end.

%% Runs the function on the first scheduler, and ends the program.
main(What) ->
    try result(start(1, What)) of
        _ -> halt(0)
    catch
        error:Reason -> io:format(standard_error, "~p~n", [Reason]), halt(1)
    end.
