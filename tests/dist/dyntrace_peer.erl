%% The Erlang side of the tests and of the benchmark: a registered process that executes requests.
-module(dyntrace_peer).
-export([start/0, start/1]).

start() ->
    start([]).

%% start ["dial", Node, Name]: sends {Self, hello} to that name at once, so that this node is the one that connects.
start(Arguments) ->
    register(driver, self()),
    case Arguments of
        [] -> ok;
        ["dial", Node, Name] -> {list_to_atom(Name), list_to_atom(Node)} ! {self(), hello}
    end,
    loop().

loop() ->
    receive
        {From, echo, Term} ->
            From ! {echo, Term},
            loop();
        {From, token} ->
            From ! {token, seq_trace:get_token()},
            seq_trace:set_token([]),
            loop();
        {From, trace} ->
            Collector = spawn(fun() -> collect([]) end),
            seq_trace:set_system_tracer(Collector),
            From ! {collector, Collector},
            loop();
        {From, tokened, Label} ->
            seq_trace:set_token(label, Label),
            seq_trace:set_token(send, true),
            From ! {tokened, Label},
            seq_trace:set_token([]),
            loop();
        {From, ping, Node} ->
            From ! {ping, net_adm:ping(Node)},
            loop();
        {From, spawn} ->
            From ! {spawned, spawn(fun() -> receive {exit, Reason} -> exit(Reason) end end)},
            loop();
        {From, linked} ->
            From ! {spawned, spawn(fun() -> watched(From, link) end)},
            loop();
        {From, monitoring} ->
            From ! {spawned, spawn(fun() -> watched(From, monitor) end)},
            loop();
        {From, seen} ->
            From ! {seen, get(seen)},
            loop();
        {seen, What} ->
            put(seen, What),
            loop();
        {From, flood, To, Count} ->
            flood(To, Count),
            From ! flooded,
            loop();
        {From, count, Count} ->
            From ! counting,
            From ! {counted, counted(0, Count, true)},
            loop();
        {From, unsuspended, To, Bytes, Count} ->
            From ! {unsuspended, unsuspended(To, binary:copy(<<1>>, Bytes), Count, 0)},
            loop();
        {From, run, Module, Function, Arguments} ->
            From ! {ran, apply(Module, Function, Arguments)},
            loop()
    end.

collect(Seen) ->
    receive
        {seq_trace, Label, {Kind, {Previous, Current}, _, _, Message}} -> collect([{Kind, Label, Previous, Current, Message} | Seen]);
        {From, collected} -> From ! {collected, lists:reverse(Seen)}
    end.

watched(Other, link) ->
    process_flag(trap_exit, true),
    link(Other),
    Other ! ready,
    receive
        {'EXIT', Other, Reason} -> driver ! {seen, {exit, Reason}};
        unlink -> unlink(Other), Other ! unlinked
    end;
watched(Other, monitor) ->
    Monitor = monitor(process, Other),
    Other ! ready,
    receive {'DOWN', Monitor, process, Other, Reason} -> driver ! {seen, {down, Reason}} end.

flood(_, 0) -> ok;
flood(To, Count) ->
    To ! {n, Count},
    flood(To, Count - 1).

counted(Count, Count, InOrder) -> InOrder;
counted(At, Count, InOrder) ->
    receive {n, N} -> counted(At + 1, Count, InOrder andalso N =:= Count - At) end.

%% Returns the number of messages sent before the connection was busy.
unsuspended(_, _, Count, Count) -> Count;
unsuspended(To, Binary, Count, Sent) ->
    case erlang:send(To, Binary, [nosuspend]) of
        ok -> unsuspended(To, Binary, Count, Sent + 1);
        nosuspend -> Sent
    end.
