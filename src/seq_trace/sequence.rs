//! One process's part in sequential traces: its token and its two counters, by Erlang's rules.

use super::{Flags, Label, Serial, Token};

/// The token of a process and the counts that outlive it.
#[derive(Debug)]
pub(crate) struct Sequence {
    /// How often traces had been reset when this was last true.
    era: u32,
    /// The count of the message with a token that was received last.
    previous: u32,
    /// The highest count that the process has seen or given.
    current: u32,
    token: Option<Token>,
}

impl Sequence {
    /// Of a process that has seen no token.
    pub(crate) const NEW: Sequence = Sequence { era: 0, previous: 0, current: 0, token: None };

    /// Forgets what was before the last reset.
    pub(super) fn of_era(&mut self, era: u32) -> &mut Sequence {
        if self.era != era {
            *self = Sequence { era, ..Sequence::NEW };
        }
        self
    }

    pub(super) fn token(&self) -> Option<&Token> {
        self.token.as_ref()
    }

    /// A token under this label: the one that is there gets it, else there is a new one.
    pub(super) fn set(&mut self, label: Label, flags: Flags) -> Option<Token> {
        let before = self.token.take();
        let serial = before.as_ref().map_or(Serial::default(), |token| token.serial);
        self.token = Some(Token { label, serial, flags });
        before
    }

    /// A whole token, and its counts.
    pub(super) fn restore(&mut self, token: Token) -> Option<Token> {
        Serial { previous: self.previous, current: self.current } = token.serial;
        self.token.replace(token)
    }

    pub(super) fn take(&mut self) -> Option<Token> {
        self.token.take()
    }

    /// The token for a message: the next count, after the last one received.
    pub(super) fn send(&mut self) -> Option<&Token> {
        let token = self.token.as_mut()?;
        self.current = self.current.wrapping_add(1);
        token.serial = Serial { previous: self.previous, current: self.current };
        Some(token)
    }

    /// What came with a message: its token becomes the process's, and a message without one ends the trace here.
    pub(super) fn receive(&mut self, token: Option<Token>) {
        if let Some(Token { serial, .. }) = &token {
            self.seen(*serial);
        }
        self.token = token;
    }

    /// The same for a token with a number. Where one is there already, that is changed in its place.
    pub(super) fn receive_number(&mut self, number: i64, serial: Serial, flags: Flags) {
        match &mut self.token {
            Some(Token { label: Label::Integer(label), serial: its, flags: old }) => {
                (*label, *its, *old) = (number, serial, flags);
                self.seen(serial);
            }
            _ => self.receive(Some(Token { label: Label::Integer(number), serial, flags })),
        }
    }

    fn seen(&mut self, serial: Serial) {
        self.previous = serial.current;
        self.current = self.current.max(serial.current);
    }

    /// What a new process inherits. To start one counts as to send it a message; it goes on with its parent's counts.
    pub(super) fn of_child(&mut self) -> Sequence {
        match self.send().cloned() {
            Some(token) => Sequence { token: Some(token), ..*self },
            None => Sequence::NEW,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traced() -> Sequence {
        let mut sequence = Sequence::NEW;
        sequence.set(42.into(), Flags::SEND);
        sequence
    }

    fn serial(token: Option<Token>) -> (u32, u32) {
        token.map(|token| (token.serial.previous, token.serial.current)).expect("a token")
    }

    /// The example of Erlang's `seq_trace` manual: a call to a server that asks another one, and both answer.
    #[test]
    fn counts_are_those_of_erlangs_manual() {
        let [mut client, mut call_server, mut registry] = [traced(), Sequence::NEW, Sequence::NEW];

        let question = client.send().cloned();
        assert_eq!(question.as_ref().map(|token| token.serial), Some(Serial { previous: 0, current: 1 }));
        call_server.receive(question);

        let forwarded = call_server.send().cloned();
        registry.receive(forwarded.clone());
        assert_eq!(serial(forwarded), (1, 2));

        let registered = registry.send().cloned();
        call_server.receive(registered.clone());
        assert_eq!(serial(registered), (2, 3));

        let answer = call_server.send().cloned();
        client.receive(answer.clone());
        assert_eq!(serial(answer), (3, 4));
        assert_eq!(serial(client.send().cloned()), (4, 5));
    }

    #[test]
    fn several_messages_after_one_received_have_the_same_previous_count() {
        let mut sequence = traced();
        sequence
            .receive(Some(Token { serial: Serial { previous: 2, current: 7 }, ..traced().send().cloned().unwrap() }));
        assert_eq!(serial(sequence.send().cloned()), (7, 8));
        assert_eq!(serial(sequence.send().cloned()), (7, 9));
    }

    #[test]
    fn a_number_received_counts_as_a_token() {
        let serial_of = Serial { previous: 2, current: 7 };
        for mut sequence in [Sequence::NEW, traced(), {
            let mut sequence = Sequence::NEW;
            sequence.set("a text".into(), Flags::SEND);
            sequence
        }] {
            sequence.receive_number(5, serial_of, Flags::PRINT);
            let token = Token { label: 5.into(), serial: serial_of, flags: Flags::PRINT };
            assert_eq!(sequence.token(), Some(&token));
            assert_eq!(serial(sequence.send().cloned()), (7, 8));
        }
    }

    #[test]
    fn a_lower_count_received_does_not_set_the_own_one_back() {
        let mut sequence = traced();
        let early = sequence.send().cloned();
        sequence.send();
        sequence.send();
        sequence.receive(early);
        assert_eq!(serial(sequence.send().cloned()), (1, 4));
    }

    #[test]
    fn a_message_without_a_token_ends_the_trace_but_not_the_counts() {
        let mut sequence = traced();
        sequence.send();
        sequence.receive(None);
        assert_eq!(sequence.send().cloned(), None);
        sequence.set(43.into(), Flags::SEND);
        assert_eq!(serial(sequence.send().cloned()), (0, 2));
    }

    #[test]
    fn a_new_label_keeps_the_serial_and_a_restored_token_sets_the_counts() {
        let mut sequence = traced();
        sequence.send();
        let before = sequence.set("other".into(), Flags::PRINT).unwrap();
        assert_eq!(sequence.token().unwrap().serial, before.serial);
        sequence.send();
        assert_eq!(serial(sequence.restore(before)), (0, 2));
        assert_eq!(serial(sequence.send().cloned()), (0, 2));
    }

    #[test]
    fn a_child_goes_on_with_its_parents_counts() {
        let mut parent = traced();
        parent.send();
        let mut child = parent.of_child();
        assert_eq!(child.token().unwrap().serial, Serial { previous: 0, current: 2 });
        assert_eq!(serial(child.send().cloned()), (0, 3));
        assert_eq!(serial(parent.send().cloned()), (0, 3));
        parent.take();
        assert_eq!(parent.of_child().send().cloned(), None);
    }

    #[test]
    fn a_new_era_begins_with_nothing() {
        let mut sequence = traced();
        sequence.send();
        assert_eq!(sequence.of_era(1).token(), None);
        sequence.set(1.into(), Flags::SEND);
        assert_eq!(serial(sequence.of_era(1).send().cloned()), (0, 1));
    }

    #[test]
    fn counts_wrap() {
        let mut sequence = traced();
        sequence
            .restore(Token { serial: Serial { previous: 0, current: u32::MAX }, ..traced().send().cloned().unwrap() });
        assert_eq!(serial(sequence.send().cloned()), (0, 0));
    }
}
