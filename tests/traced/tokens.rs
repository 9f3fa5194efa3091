//! Patterns that set the sequential trace token of a process, and show it.

use dyntrace::seq_trace::{self, Flags, Label, Token};
use dyntrace::traced;

use crate::support::Watch;

#[traced]
fn login(_name: &str) {}

#[traced]
fn order(_number: u32) {}

#[tokio::test]
async fn a_pattern_starts_a_sequential_trace_and_shows_its_token() {
    let watch = Watch::on(
        r#"**::tokens::login(name) if name == "eve" do silent, set_seq_token(label, 17), set_seq_token(send, true)"#,
    )
    .await;
    watch.session.set("**::tokens::order do get_seq_token").await.unwrap();
    let process = dyntrace::spawn(async {
        login("bob");
        order(1);
        login("eve");
        order(2);
        seq_trace::on_send();
        order(3);
        seq_trace::take_token()
    });
    let Some(Token { label, flags, serial }) = process.await.unwrap() else { panic!("it has no token") };
    assert_eq!((label, flags, serial.current), (Label::Integer(17), Flags::SEND, 1));
    let (events, _) = watch.end().await;
    let tokens: Vec<_> = events.iter().map(|event| event.token.as_ref().map(|token| token.serial.current)).collect();
    assert_eq!(tokens, [None, Some(0), Some(1)]);
    assert_eq!(events[2].to_string(), "call   traced::tokens::order(3)  label 17 token {0,1}");
}

#[tokio::test]
async fn single_components_are_changed() {
    let watch =
        Watch::on("**::tokens::order(n) if n == 7 do set_seq_token(print, true), set_seq_token(send, false)").await;
    let process = dyntrace::spawn(async {
        seq_trace::set_token("basket", Flags::SEND | Flags::RECEIVE).unwrap();
        order(7);
        seq_trace::take_token()
    });
    let token = process.await.unwrap().unwrap();
    assert_eq!((token.label, token.flags), (Label::from("basket"), Flags::RECEIVE | Flags::PRINT));
    // Nothing would take it away again.
    let foreign = tokio::spawn(async {
        order(7);
        seq_trace::get_token()
    });
    assert_eq!(foreign.await.unwrap(), None);
    assert_eq!(watch.lines().await.len(), 2);
}
