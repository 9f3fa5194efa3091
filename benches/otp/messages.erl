%% The ping-pong of benches/messages in Erlang: `erl -noinput -pa DIR -run messages main ROUNDS` prints the nanoseconds of a round trip on
%% one scheduler, plain and with a token, and between two, as JSON.
-module(messages).
-export([main/1]).

main([Number]) ->
    Rounds = list_to_integer(Number),
    scheduler:main(fun() ->
        io:format("{\"one\": ~.1f, \"token\": ~.1f, \"two\": ~.1f}~n",
                  [sample(1, Rounds, plain), sample(1, Rounds, token), sample(2, Rounds div 10, plain)])
    end).

sample(Scheduler, Rounds, How) ->
    Samples = lists:sort([one(Scheduler, Rounds, How) || _ <- lists:seq(1, 5)]),
    lists:nth(3, Samples).

one(Scheduler, Rounds, How) ->
    Other = spawn_opt(fun answer/0, [link, {scheduler, Scheduler}]),
    _ = [seq_trace:set_token(label, 42) || How =:= token],
    Before = erlang:monotonic_time(nanosecond),
    ask(Other, Rounds),
    Took = erlang:monotonic_time(nanosecond) - Before,
    seq_trace:set_token([]),
    unlink(Other),
    exit(Other, kill),
    Took / Rounds.

ask(_, 0) -> ok;
ask(Other, Rounds) ->
    Other ! {self(), Rounds},
    receive Rounds -> ask(Other, Rounds - 1) end.

answer() ->
    receive {From, Number} -> From ! Number, answer() end.
