%% One end of a stream of small messages, {n, N} to a registered name; the other is benches/dist or a second Erlang node.
-module(dist_messages).
-export([sink/0, source/1]).

sink() ->
    register(sink, self()),
    serve().

serve() ->
    receive
        {count, From, Count} ->
            count(Count),
            From ! done,
            serve()
    end.

count(0) -> ok;
count(Count) -> receive {n, _} -> count(Count - 1) end.

%% source [Peer, Count]: prints messages a second.
source([Peer, Count]) ->
    Sink = {sink, list_to_atom(Peer)},
    Number = list_to_integer(Count),
    true = net_kernel:connect_node(list_to_atom(Peer)),
    Started = erlang:monotonic_time(microsecond),
    Sink ! {count, self(), Number},
    send(Sink, Number),
    receive done -> ok end,
    io:format("~b~n", [Number * 1000000 div (erlang:monotonic_time(microsecond) - Started)]),
    halt().

send(_, 0) -> ok;
send(Sink, Number) ->
    Sink ! {n, Number},
    send(Sink, Number - 1).
