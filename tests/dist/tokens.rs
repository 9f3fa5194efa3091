//! Sequential trace tokens: set on either side, seen on the other, and confirmed by the system tracer of the Erlang side.

use dyntrace::dist::term;
use dyntrace::seq_trace::{self, Flags, Label, Serial};

use crate::erl::{ask, connected, next};
use crate::world;

#[tokio::test]
async fn tokens_go_both_ways() {
    let mut world = world!();
    let node = world.node("worker@127.0.0.1");
    world.erl("-name", "erl@127.0.0.1", &[]);
    connected(&node, "erl@127.0.0.1").await;
    // A process, so that it has its own token.
    dyntrace::spawn(async move {
        let mut inbox = node.inbox();
        let ready = ask(&mut inbox, "erl@127.0.0.1", vec![term!(trace)]).await;
        let [_, collector] = tuple(ready.term);

        seq_trace::set_token(42, Flags::SEND | Flags::RECEIVE).unwrap();
        let answer = ask(&mut inbox, "erl@127.0.0.1", vec![term!(echo), term!(traced)]).await;
        let token = answer.token.expect("the answer carries the token on");
        assert_eq!((token.label, token.flags), (42.into(), Flags::SEND | Flags::RECEIVE));
        // Our serial was {0, 1}; theirs follows it.
        assert_eq!(token.serial, Serial { previous: 1, current: 2 });
        assert_eq!(seq_trace::get_token().map(|token| token.label), Some(42.into()), "received with the message");
        seq_trace::take_token();

        let dyntrace::dist::Term::Pid(collector) = collector else { panic!("a pid") };
        inbox.send(&collector, term!({(inbox.pid()), collected})).await.unwrap();
        let [_, seen] = tuple(next(&mut inbox).await.term);
        let own = inbox.pid();
        let request = term!({(&own), echo, traced});
        let expected = term!([{receive, 42, 0, 1, (request)}, {send, 42, 1, 2, {echo, traced}}]).to_string();
        assert_eq!(seen.to_string(), expected, "what the system tracer of the Erlang node was told");

        // Labels that are not integers arrive, too, and go back unchanged.
        for (term, label) in [
            (term!(7), Label::from(7)),
            (term!(<<"an order">>), Label::from("an order")),
            (term!({order, 7}), {
                let mut bytes = Vec::new();
                term!({order, 7}).encode(&mut bytes).unwrap();
                Label::Term(bytes[1..].into())
            }),
        ] {
            let message = ask(&mut inbox, "erl@127.0.0.1", vec![term!(tokened), term]).await;
            let token = message.token.expect("a token");
            assert_eq!((&token.label, token.flags), (&label, Flags::SEND));
            let answer = ask(&mut inbox, "erl@127.0.0.1", vec![term!(token)]).await;
            assert_eq!(answer.token.map(|token| token.label), Some(label));
            seq_trace::take_token();
        }

        // To a pid, as to a name.
        let driver =
            ask(&mut inbox, "erl@127.0.0.1", vec![term!(echo), term!(untraced)]).await.sender.expect("its pid");
        seq_trace::set_token(9, Flags::SEND).unwrap();
        inbox.send(&driver, term!({(inbox.pid()), echo, by_pid})).await.unwrap();
        let sent = seq_trace::get_token().expect("this side has it still");
        let answer = next(&mut inbox).await;
        let token = answer.token.expect("a token");
        assert_eq!((answer.term, token.label), (term!({echo, by_pid}), 9.into()));
        assert_eq!(token.serial.previous, sent.serial.current);
        seq_trace::take_token();

        let plain = ask(&mut inbox, "erl@127.0.0.1", vec![term!(token)]).await;
        assert_eq!((plain.term, plain.token), (term!({token, []}), None));
    })
    .await
    .unwrap();
}

fn tuple<const N: usize>(term: dyntrace::dist::Term) -> [dyntrace::dist::Term; N] {
    let dyntrace::dist::Term::Tuple(tuple) = term else { panic!("{term} is no tuple") };
    tuple.elements.try_into().expect("as many as asked for")
}
