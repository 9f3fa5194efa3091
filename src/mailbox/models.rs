//! Models for loom: names are taken and given up while their mailboxes close, in every order of steps. The channel itself is tokio's.

use loom::thread;

use super::{Receiver, channel, register, unregister, whereis};

fn is_named(name: &str) -> bool {
    whereis::<u32>(name).is_ok()
}

/// A thread that registers a name. Returns whether it got the name, and its mailbox.
fn wants(name: &'static str) -> thread::JoinHandle<(bool, Receiver<u32>)> {
    let (sender, receiver) = channel(1);
    thread::spawn(move || (register(name, &sender).is_ok(), receiver))
}

#[test]
fn loom_names_are_free_when_a_mailbox_ends_while_it_is_named() {
    loom::model(|| {
        let (sender, receiver) = channel::<u32>(1);
        let registers = thread::spawn(move || {
            let _ = register("first", &sender);
            let _ = register("second", &sender);
        });
        drop(receiver);
        registers.join().unwrap();
        assert!(!is_named("first") && !is_named("second"));
        let (sender, _receiver) = channel::<u32>(1);
        assert_eq!(register("first", &sender), Ok(()));
    });
}

#[test]
fn loom_names_are_given_once() {
    loom::model(|| {
        let both = [wants("name"), wants("name")];
        let found = is_named("name");
        let [(one_has, one), (other_has, other)] = both.map(|wants| wants.join().unwrap());
        assert!(one_has != other_has, "one has it, found before or not: {found}");
        let (loser, winner) = if one_has { (other, one) } else { (one, other) };
        drop(loser);
        assert!(is_named("name"));
        drop(winner);
        assert!(!is_named("name"));
    });
}

#[test]
fn loom_names_are_taken_away_while_their_mailbox_ends() {
    loom::model(|| {
        let (sender, receiver) = channel::<u32>(1);
        register("name", &sender).unwrap();
        let unregisters = thread::spawn(|| unregister("name"));
        // A thread that takes the name in between keeps it.
        let takes = wants("name");
        drop(receiver);
        unregisters.join().unwrap();
        let (has, kept) = takes.join().unwrap();
        if has {
            // Either is right: `unregister` may have removed that thread's registration.
            let _ = is_named("name");
        } else {
            assert!(!is_named("name"));
        }
        drop(kept);
        assert!(!is_named("name"));
    });
}
