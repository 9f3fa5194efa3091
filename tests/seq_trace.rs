//! A token belongs to one process, and processes that it starts inherit it.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, mpsc};
use std::thread;

use dyntrace::seq_trace::{self, Flags, Label, Serial, Token, TokenError};
use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;

/// Read-locked by all tests except that of the reset, which ends the tokens of the whole program.
static NO_RESET: RwLock<()> = RwLock::new(());

fn no_reset() -> RwLockReadGuard<'static, ()> {
    NO_RESET.read().unwrap_or_else(PoisonError::into_inner)
}

fn runtimes() -> [Runtime; 2] {
    [Builder::new_current_thread().build().unwrap(), Builder::new_multi_thread().worker_threads(2).build().unwrap()]
}

fn label() -> Option<Label> {
    seq_trace::get_token().map(|token| token.label)
}

fn serial(token: Option<Token>) -> (u32, u32) {
    let Serial { previous, current } = token.expect("a token").serial;
    (previous, current)
}

#[test]
fn a_process_keeps_its_token_across_awaits() {
    let _tokens_stay = no_reset();
    for runtime in runtimes() {
        runtime.block_on(async {
            let mut tasks = Vec::new();
            for number in 0..20 {
                tasks.push(dyntrace::spawn(async move {
                    seq_trace::set_token(number, Flags::SEND).unwrap();
                    for count in 1..10 {
                        yield_now().await;
                        assert_eq!(label(), Some(number.into()));
                        assert_eq!(serial(seq_trace::on_send()), (0, count));
                    }
                }));
            }
            for task in tasks {
                task.await.unwrap();
            }
            assert_eq!(label(), None);
        });
    }
}

#[test]
fn a_new_process_inherits_the_token_and_its_counts() {
    let _tokens_stay = no_reset();
    runtimes()[0].block_on(async {
        seq_trace::set_token("order 7", Flags::SEND).unwrap();
        let child = dyntrace::spawn(async { (seq_trace::get_token(), seq_trace::on_send()) });
        assert_eq!(serial(seq_trace::get_token()), (0, 1), "to start a process counts as a message");
        let (inherited, sent) = child.await.unwrap();
        assert_eq!(inherited, seq_trace::take_token());
        assert_eq!(serial(sent), (0, 2));
        assert_eq!(dyntrace::spawn(async { label() }).await.unwrap(), None);
    });
}

#[test]
fn a_task_that_is_no_process_has_no_token() {
    let _tokens_stay = no_reset();
    runtimes()[0].block_on(async {
        seq_trace::set_token(1, Flags::SEND).unwrap();
        tokio::spawn(async {
            assert_eq!(seq_trace::set_token(2, Flags::SEND), Err(TokenError::ForeignTask));
            let token = Token { label: 3.into(), serial: Serial::default(), flags: Flags::empty() };
            seq_trace::on_receive(Some(token.clone()));
            assert_eq!(seq_trace::restore_token(Some(token)), Err(TokenError::ForeignTask));
            assert_eq!(seq_trace::restore_token(None), Ok(None));
            assert_eq!((seq_trace::get_token(), seq_trace::on_send()), (None, None));
        })
        .await
        .unwrap();
        assert_eq!(label(), Some(1.into()));
        assert_eq!(thread::spawn(label).join().unwrap(), None);
        seq_trace::take_token();
    });
}

#[test]
fn a_received_token_replaces_the_current_one() {
    let _tokens_stay = no_reset();
    let received = |current| Token {
        label: Label::Term([100, 0, 1, b'a'].as_slice().into()),
        serial: Serial { previous: 1, current },
        flags: Flags::RECEIVE,
    };
    seq_trace::set_token(5, Flags::SEND).unwrap();
    seq_trace::on_receive(Some(received(9)));
    assert_eq!(seq_trace::get_token(), Some(received(9)));
    assert_eq!(serial(seq_trace::on_send()), (9, 10));
    seq_trace::on_receive(None);
    assert_eq!(seq_trace::on_send(), None);
}

#[test]
fn only_integers_of_32_bits_are_shown() {
    let _tokens_stay = no_reset();
    let shown = |label: Label| label.shown();
    assert_eq!([shown(42.into()), shown((-1).into())], [42, -1]);
    assert_eq!([shown((1i64 << 31).into()), shown("text".into())], [Label::UNSHOWN; 2]);
    assert_eq!(Token::shown(None), (0, 0, 0));
}

#[test]
fn print_counts_only_where_it_prints() {
    let _tokens_stay = no_reset();
    seq_trace::set_token(6, Flags::SEND).unwrap();
    seq_trace::print("nobody hears this");
    assert_eq!(serial(seq_trace::get_token()), (0, 0));
    seq_trace::set_token(6, Flags::PRINT).unwrap();
    seq_trace::print("this is heard");
    assert_eq!(serial(seq_trace::take_token()), (0, 1));
}

#[test]
fn a_reset_ends_tokens_and_counts_of_every_thread() {
    let _alone = NO_RESET.write().unwrap_or_else(PoisonError::into_inner);
    seq_trace::take_token();
    seq_trace::reset_trace();
    let (go_on, wait) = mpsc::channel();
    let (ready, is_ready) = mpsc::channel();
    let other = thread::spawn(move || {
        seq_trace::set_token(1, Flags::SEND).unwrap();
        assert!(seq_trace::on_send().is_some());
        ready.send(()).unwrap();
        wait.recv().unwrap();
        assert_eq!(seq_trace::on_send(), None);
        seq_trace::set_token(2, Flags::SEND).unwrap();
        assert_eq!(seq_trace::on_send().unwrap().serial.current, 1);
    });
    is_ready.recv().unwrap();
    let (sender, mut receiver) = dyntrace::mailbox::channel(2);
    let send = |label: i32| {
        seq_trace::set_token(label, Flags::SEND).unwrap();
        sender.try_send(label).unwrap();
    };
    send(3);
    seq_trace::reset_trace();
    send(4);
    // Its token is of the era before: it counts as none, and takes away the receiver's.
    assert_eq!((receiver.try_recv(), label()), (Ok(3), None));
    assert_eq!((receiver.try_recv(), label()), (Ok(4), Some(4.into())));
    seq_trace::take_token();
    go_on.send(()).unwrap();
    other.join().unwrap();
}
