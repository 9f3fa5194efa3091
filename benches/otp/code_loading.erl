%% The time of Erlang's code:finish_loading: the peer of `finish`.
%%
%% erl -noinput -pa DIR -run code_loading main ROUNDS        medians in nanoseconds, as JSON
-module(code_loading).
-export([main/1]).

%% Number of functions in each module, as in the figure of `finish`.
-define(EXPORTS, 100).

main([Rounds]) ->
    scheduler:main(fun() -> print([{Modules, median(Modules, list_to_integer(Rounds))} || Modules <- [1, 10, 100]]) end).

%% Measures rounds in which N modules are prepared, then finished at once, then purged.
median(Modules, Rounds) ->
    Codes = [{name(Number), compiled(name(Number))} || Number <- lists:seq(1, Modules)],
    Times = lists:sort([finish(Codes) || _ <- lists:seq(1, Rounds)]),
    lists:nth((length(Times) + 1) div 2, Times).

finish(Codes) ->
    Prepared = [{Name, erlang:prepare_loading(Name, Code)} || {Name, Code} <- Codes],
    Names = [Name || {Name, _} <- Codes],
    Begin = erlang:monotonic_time(nanosecond),
    %% Several at one instant, as the emulator does if none has an on_load function.
    ok = erlang:finish_loading([Loader || {_, Loader} <- Prepared]),
    Time = erlang:monotonic_time(nanosecond) - Begin,
    [begin erlang:delete_module(Name), erlang:purge_module(Name) end || Name <- Names],
    Time.

name(Number) ->
    list_to_atom("made_" ++ integer_to_list(Number)).

compiled(Name) ->
    Functions = [list_to_atom("f" ++ integer_to_list(Number)) || Number <- lists:seq(1, ?EXPORTS)],
    Body = {op, 1, 'bxor', {var, 1, 'A'}, {var, 1, 'B'}},
    Forms = [{attribute, 1, module, Name}, {attribute, 1, export, [{Function, 2} || Function <- Functions]}
             | [{function, 1, Function, 2, [{clause, 1, [{var, 1, 'A'}, {var, 1, 'B'}], [], [Body]}]} || Function <- Functions]],
    {ok, Name, Code} = compile:forms(Forms),
    Code.

print(Medians) ->
    Fields = [io_lib:format("\"~b\": ~b", [Modules, Median]) || {Modules, Median} <- Medians],
    io:format("{~s}~n", [lists:join(", ", Fields)]).
