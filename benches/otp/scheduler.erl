%% Processes that stay on one scheduler, as the threads of the other programs stay on one processor.
-module(scheduler).
-export([start/2, result/1, main/1]).

%% The option nobody writes about does it.
start(Scheduler, What) ->
    Whom = self(),
    spawn_opt(fun() -> Whom ! {self(), What()} end, [monitor, {scheduler, Scheduler}]).

result({Process, Monitor}) ->
    receive
        {Process, Result} -> erlang:demonitor(Monitor, [flush]), Result;
        {'DOWN', Monitor, process, Process, Reason} -> error(Reason)
    end.

%% Does that on the first scheduler, and ends the program.
main(What) ->
    try result(start(1, What)) of
        _ -> halt(0)
    catch
        error:Reason -> io:format(standard_error, "~p~n", [Reason]), halt(1)
    end.
