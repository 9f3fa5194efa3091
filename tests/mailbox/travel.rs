//! Tokens and tags travel with messages. No test here resets traces, as all run in one program.

use dyntrace::mailbox::{self, Address, Mailbox, channel};
use dyntrace::seq_trace::{self, Flags, Label, Token};
use dyntrace::{get_tag_data, put_tag, spread_tag};
use tokio::sync::oneshot;

use crate::runtime;

fn serial(token: &Option<Token>) -> (u32, u32) {
    token.as_ref().map(|token| (token.serial.previous, token.serial.current)).expect("a token")
}

#[test]
fn a_token_goes_from_process_to_process_and_counts() {
    runtime().block_on(async {
        type Answer = oneshot::Sender<Option<Token>>;
        let (last, _last) = mailbox::spawn(async |mut mailbox: Mailbox<Answer>| {
            while let Some(answer) = mailbox.recv().await {
                answer.send(seq_trace::get_token()).unwrap();
            }
        });
        let (first, _first) = mailbox::spawn(async move |mut mailbox: Mailbox<Answer>| {
            while let Some(answer) = mailbox.recv().await {
                last.send(answer).await.unwrap();
            }
        });
        let ask = async |first: &Address<Answer>| {
            let (answer, answered) = oneshot::channel();
            first.send(answer).await.unwrap();
            answered.await.unwrap()
        };
        for label in [Label::from(42), "a text".into()] {
            let (first, asked) = (first.clone(), label.clone());
            let token = dyntrace::spawn(async move {
                seq_trace::set_token(asked, Flags::SEND).unwrap();
                ask(&first).await
            });
            let token = token.await.unwrap();
            assert_eq!(token.as_ref().map(|token| &token.label), Some(&label));
            let (previous, current) = serial(&token);
            assert!(current > previous && previous > 0);
        }
        assert_eq!(ask(&first).await, None, "a message without a token ends it");
    });
}

#[test]
fn a_token_and_a_tag_go_to_another_runtime() {
    let (sender, mut mailbox) = channel::<()>(1);
    let other = std::thread::spawn(move || {
        runtime().block_on(async {
            mailbox.recv().await.unwrap();
            let seen = (seq_trace::get_token(), get_tag_data());
            mailbox.recv().await.unwrap();
            (seen, seq_trace::get_token(), get_tag_data())
        })
    });
    runtime().block_on(async {
        seq_trace::set_token(7, Flags::empty()).unwrap();
        put_tag("request 7").unwrap();
        spread_tag(true);
        sender.send(()).await.unwrap();
        spread_tag(false);
        let token = seq_trace::take_token();
        sender.send(()).await.unwrap();
        let ((received, tag), no_token, no_tag) = other.join().unwrap();
        assert_eq!((received, tag.as_deref()), (token, Some("request 7")));
        assert_eq!((no_token, no_tag), (None, None));
    });
}

#[test]
fn only_the_message_that_is_taken_brings_its_token() {
    runtime().block_on(async {
        let (sender, mut mailbox) = channel(4);
        for label in 1..=3 {
            seq_trace::set_token(label, Flags::empty()).unwrap();
            sender.send(label).await.unwrap();
        }
        seq_trace::take_token();
        for taken in [2, 1, 3] {
            assert_eq!(mailbox.recv_matching(|label| *label == taken).await, Some(taken));
            assert_eq!(seq_trace::take_token().map(|token| token.label), Some(taken.into()));
        }
    });
}
