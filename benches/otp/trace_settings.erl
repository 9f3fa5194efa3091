%% The programs of benches/settings in Erlang: time to set and remove traces of 50,000 functions, and pauses of other processes.
%%
%% erl -noinput -pa DIR -run trace_settings main make DIR          makes the module of 50,000 functions
%% erl -noinput -pa DIR -run trace_settings main set ROUNDS        medians in nanoseconds, as JSON
%% erl -noinput -pa DIR -run trace_settings main pause WINDOWS     the same, of the longest pauses
-module(trace_settings).
-export([main/1]).

-define(FUNCTIONS, 50000).
%% The functions of every module.
-define(OWN, 2).
-define(WINDOW, 500_000_000).

main(["make", Directory]) ->
    scheduler:main(fun() -> make(Directory) end);
main([Figure, Number]) ->
    scheduler:main(fun() -> print(measure(Figure, list_to_integer(Number))) end).

make(Directory) ->
    Body = {op, 1, 'bxor', {var, 1, 'A'}, {var, 1, 'B'}},
    Function = fun(Name) -> {function, 1, Name, 2, [{clause, 1, [{var, 1, 'A'}, {var, 1, 'B'}], [], [Body]}]} end,
    Names = [list_to_atom("f" ++ integer_to_list(Number)) || Number <- lists:seq(1, ?FUNCTIONS - ?OWN)],
    Forms = [{attribute, 1, module, many}, {attribute, 1, export, [{Name, 2} || Name <- Names]} | [Function(Name) || Name <- Names]],
    {ok, many, Code} = compile:forms(Forms, []),
    ok = file:write_file(filename:join(Directory, "many.beam"), Code).

measure(Figure, Rounds) ->
    {module, many} = code:ensure_loaded(many),
    figures(Figure, Rounds).

figures("set", Rounds) ->
    Samples = [{timed(fun set/0), timed(fun remove/0), timed(fun set_one/0), timed(fun remove_one/0)} || _ <- lists:seq(1, Rounds)],
    Column = fun(Of) -> median([element(Of, Sample) || Sample <- Samples]) end,
    [{functions, ?FUNCTIONS}, {set, Column(1)}, {removed, Column(2)}, {one_set, Column(3)}, {one_removed, Column(4)}];
figures("pause", Windows) ->
    Seen = [{window(fun set_and_remove/0), window(fun erlang:yield/0)} || _ <- lists:seq(1, Windows)],
    Column = fun(Of, Part) -> median([element(Part, element(Of, Window)) || Window <- Seen]) end,
    [{other_scheduler, Column(1, 1)}, {other_scheduler_beside_spinning, Column(2, 1)},
     {own_scheduler, Column(1, 2)}, {own_scheduler_beside_spinning, Column(2, 2)}].

set() -> ?FUNCTIONS = erlang:trace_pattern({many, '_', '_'}, true, [local]).
remove() -> ?FUNCTIONS = erlang:trace_pattern({many, '_', '_'}, false, [local]).
set_and_remove() -> set(), remove().
set_one() -> 1 = erlang:trace_pattern({many, f25000, 2}, true, [local]).
remove_one() -> 1 = erlang:trace_pattern({many, f25000, 2}, false, [local]).

%% Measures the longest pauses of a process on another scheduler and of one on this one, while this process sets traces in a loop.
window(What) ->
    End = now_ns() + ?WINDOW,
    Watch = fun(Scheduler, Rest) -> scheduler:start(Scheduler, fun() -> watch(End, now_ns(), 0, Rest) end) end,
    Other = Watch(2, fun() -> ok end),
    Own = Watch(1, fun erlang:yield/0),
    without_end(What, End),
    {scheduler:result(Other), scheduler:result(Own)}.

without_end(What, End) ->
    case now_ns() < End of
        true -> What(), without_end(What, End);
        false -> ok
    end.

watch(End, Last, Longest, Rest) ->
    Rest(),
    case now_ns() of
        Now when Now < End -> watch(End, Now, max(Longest, Now - Last), Rest);
        Now -> max(Longest, Now - Last)
    end.

now_ns() -> erlang:monotonic_time(nanosecond).

timed(What) ->
    timer:sleep(1),
    Before = now_ns(),
    What(),
    now_ns() - Before.

median(Samples) -> lists:nth(length(Samples) div 2 + 1, lists:sort(Samples)).

print(Figures) ->
    io:format("{~s}~n", [lists:join(", ", [io_lib:format("\"~s\": ~b", [Name, Value]) || {Name, Value} <- Figures])]).
