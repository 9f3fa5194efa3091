%% traced_loop of Erlang: `erl -noinput -pa DIR -run traced_calls main CASE CALLS` prints the CPU time of a call in nanoseconds.
-module(traced_calls).
-export([main/1]).

main([Case, Number]) ->
    Calls = list_to_integer(Number),
    scheduler:main(fun() -> io:format("~.2f~n", [cost(list_to_atom(Case), Calls)]) end).

cost(Case, Calls) ->
    trace(Case),
    loop(Calls div 10, Calls),
    Before = native_tracer:cpu_ns(),
    loop(Calls, Calls),
    Spent = native_tracer:cpu_ns() - Before,
    check(Case, Calls + Calls div 10),
    Spent / Calls.

loop(0, _) -> ok;
loop(Call, Calls) ->
    traced(Call, Calls),
    loop(Call - 1, Calls).

traced(A, B) -> A bxor B.

%% The trace settings of traced/2.
trace(bare) -> ok;
trace(count) -> pattern(true, [local, call_count]);
trace(time) -> pattern(true, [local, call_time]), to_process();
trace(native) -> pattern(true, [local]), flags([{tracer, native_tracer, []}]);
trace(native_return) -> pattern([{'_', [], [{return_trace}]}], [local]), flags([{tracer, native_tracer, []}]);
trace(process) -> pattern(true, [local]), to_process();
trace(process_return) -> pattern([{'_', [], [{return_trace}]}], [local]), to_process().

pattern(Spec, How) ->
    1 = erlang:trace_pattern({?MODULE, traced, 2}, Spec, How).

flags(Tracer) ->
    1 = erlang:trace(self(), true, [call | Tracer]).

to_process() ->
    {Tracer, _} = scheduler:start(2, fun() -> tracer(0) end),
    put(tracer, Tracer),
    flags([{tracer, Tracer}]).

tracer(Told) ->
    receive
        {told, Whom} -> Whom ! Told;
        _Event -> tracer(Told + 1)
    end.

%% Checks that each call was traced.
check(bare, _) -> ok;
check(count, Calls) -> {call_count, Calls} = erlang:trace_info({?MODULE, traced, 2}, call_count);
check(time, Calls) -> {call_time, [{_, Calls, _, _}]} = erlang:trace_info({?MODULE, traced, 2}, call_time);
check(native, Calls) -> Calls = native_tracer:events();
check(native_return, Calls) -> Events = 2 * Calls, Events = native_tracer:events();
check(process, Calls) -> told(Calls);
check(process_return, Calls) -> told(2 * Calls).

told(Events) ->
    erlang:trace(self(), false, [call]),
    Delivered = erlang:trace_delivered(self()),
    receive {trace_delivered, _, Delivered} -> ok end,
    get(tracer) ! {told, self()},
    receive Events -> ok end.
