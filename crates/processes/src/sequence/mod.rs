//! The token of a process and its two counters, by Erlang's rules.

pub mod era;
#[cfg(all(loom, test))]
mod models;
mod packed;
mod token;

pub use era::era;
pub use packed::Packed;
pub use token::{Flags, Label, Serial, Token};

/// The token of a process, and its counters, which outlive the token.
#[derive(Clone, Debug)]
pub struct Sequence {
    /// The era in which this was last changed.
    era: u32,
    /// The next message carries this: the token, if there is one; the count of the last received message with a token; and one more
    /// than the highest count that the process has seen or given.
    next: Packed,
    /// The serial of the token.
    serial: Serial,
    /// The label, if it is not a 32-bit number.
    label: Option<Label>,
}

impl Sequence {
    /// The sequence of a process that has seen no token.
    pub const NEW: Sequence = Sequence {
        era: 0,
        next: Packed::nothing(Serial { previous: 0, current: 1 }),
        serial: Serial { previous: 0, current: 0 },
        label: None,
    };

    /// Forgets everything of an earlier era.
    #[inline]
    pub fn of_era(&mut self, era: u32) -> &mut Sequence {
        if self.era != era {
            self.begin(era);
        }
        self
    }

    #[cold]
    #[inline(never)]
    fn begin(&mut self, era: u32) {
        *self = Sequence { era, ..Sequence::NEW };
    }

    /// Whether something is lost if this is never dropped.
    #[inline]
    pub fn owns_memory(&self) -> bool {
        self.label.is_some()
    }

    /// Whether there is a token, of whichever era.
    #[inline]
    pub fn has_token(&self) -> bool {
        self.next.is_some()
    }

    pub fn token(&self) -> Option<Token> {
        self.next.is_some().then(|| Token {
            label: self.label.clone().unwrap_or(self.next.label().into()),
            serial: self.serial,
            flags: self.next.flags(),
        })
    }

    /// The token as messages carry it.
    fn packed(&self) -> Packed {
        let mut packed = self.next;
        packed.set_serial(self.serial);
        packed
    }

    /// The token as probes show it, if there is one.
    pub fn shown(&self) -> Option<(i32, i32, i32)> {
        self.next.is_some().then(|| self.packed().shown(self.era))
    }

    pub fn flags(&self) -> Flags {
        self.next.flags()
    }

    /// Gives the token this label and these flags; makes a token if there is none.
    pub fn set(&mut self, label: Label, flags: Flags) -> Option<Token> {
        let before = self.take();
        let serial = before.as_ref().map_or(Serial::default(), |token| token.serial);
        self.keep(Token { label, serial, flags });
        before
    }

    /// Sets the token and its counts.
    pub fn restore(&mut self, token: Token) -> Option<Token> {
        let Serial { previous, current } = token.serial;
        let before = self.take();
        self.keep(token);
        self.next.set_serial(Serial { previous, current: current.wrapping_add(1) });
        before
    }

    pub fn take(&mut self) -> Option<Token> {
        let before = self.token();
        self.lose();
        before
    }

    /// Sets the token, but not the counts.
    fn keep(&mut self, Token { label, serial, flags }: Token) {
        self.next.set_token(&Packed::new(&label, self.era, flags, serial));
        self.serial = serial;
        self.label = label.is_unpacked().then_some(label);
    }

    pub fn lose(&mut self) {
        self.next.set_token(&Packed::NOTHING);
        self.set_label(None);
    }

    /// Usually there is none before and after.
    #[inline]
    fn set_label(&mut self, label: Option<&Label>) {
        if label.is_some() || self.label.is_some() {
            self.replace_label(label);
        }
    }

    #[cold]
    #[inline(never)]
    fn replace_label(&mut self, label: Option<&Label>) {
        self.label = label.cloned();
    }

    /// Counts a message, and stores the token for it in `carried`. Returns the label that goes beside it, if it is not a 32-bit
    /// number.
    #[inline]
    pub fn send(&mut self, carried: &mut Packed) -> Option<&Label> {
        if self.next.is_some() {
            *carried = self.next;
            self.serial = self.next.serial();
            let Serial { previous, current } = self.serial;
            self.next.set_serial(Serial { previous, current: current.wrapping_add(1) });
        }
        self.label.as_ref()
    }

    /// Takes the token of a received message. A message without one removes the token.
    pub fn receive(&mut self, token: Option<Token>) {
        match token {
            Some(Token { label, serial, flags }) => {
                let packed = Packed::new(&label, self.era, flags, serial);
                self.receive_packed(&packed, Some(&label).filter(|label| label.is_unpacked()));
            }
            None => self.lose(),
        }
    }

    /// The same for a packed token of this era, with the label beside it.
    #[inline(always)]
    pub fn receive_packed(&mut self, token: &Packed, label: Option<&Label>) {
        let highest = self.next.serial().current.wrapping_sub(1);
        self.serial = token.serial();
        let previous = self.serial.current;
        self.next.set_token(token);
        self.next.set_serial(Serial { previous, current: highest.max(previous).wrapping_add(1) });
        self.set_label(label);
    }

    /// Returns the sequence that a new process inherits. Starting it counts as a message to it; it continues its parent's counts.
    pub fn of_child(&mut self) -> Sequence {
        self.send(&mut Packed::NOTHING.clone());
        if self.next.is_some() { self.clone() } else { Sequence::NEW }
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

    fn sent(sequence: &mut Sequence) -> Option<Token> {
        sequence.send(&mut Packed::NOTHING.clone());
        sequence.token()
    }

    fn serial(token: Option<Token>) -> (u32, u32) {
        token.map(|token| (token.serial.previous, token.serial.current)).expect("a token")
    }

    /// The example of Erlang's `seq_trace` manual: a call to a server that asks another one, and both answer.
    #[test]
    fn counts_are_those_of_erlangs_manual() {
        let [mut client, mut call_server, mut registry] = [traced(), Sequence::NEW, Sequence::NEW];

        let question = sent(&mut client);
        assert_eq!(question.as_ref().map(|token| token.serial), Some(Serial { previous: 0, current: 1 }));
        call_server.receive(question);

        let forwarded = sent(&mut call_server);
        registry.receive(forwarded.clone());
        assert_eq!(serial(forwarded), (1, 2));

        let registered = sent(&mut registry);
        call_server.receive(registered.clone());
        assert_eq!(serial(registered), (2, 3));

        let answer = sent(&mut call_server);
        client.receive(answer.clone());
        assert_eq!(serial(answer), (3, 4));
        assert_eq!(serial(sent(&mut client)), (4, 5));
    }

    #[test]
    fn several_messages_after_one_received_have_the_same_previous_count() {
        let mut sequence = traced();
        sequence.receive(Some(Token { serial: Serial { previous: 2, current: 7 }, ..sent(&mut traced()).unwrap() }));
        assert_eq!(serial(sent(&mut sequence)), (7, 8));
        assert_eq!(serial(sent(&mut sequence)), (7, 9));
    }

    #[test]
    fn a_token_is_what_it_was_before_it_travelled() {
        let serial_of = Serial { previous: 2, current: 7 };
        let labels: [Label; 4] = [5.into(), i32::MIN.into(), (i64::from(i32::MAX) + 1).into(), "a text".into()];
        for (label, before) in labels.iter().flat_map(|label| labels.iter().map(move |before| (label, before))) {
            let mut sender = Sequence::NEW;
            let token = Token { label: label.clone(), serial: serial_of, flags: Flags::PRINT };
            sender.restore(token.clone());
            assert_eq!(sender.token(), Some(token));
            let mut carried = Packed::NOTHING;
            let beside = sender.send(&mut carried).cloned();
            let token = Token { label: label.clone(), serial: Serial { previous: 2, current: 8 }, flags: Flags::PRINT };

            let mut receiver = Sequence::NEW;
            receiver.set(before.clone(), Flags::SEND);
            receiver.receive_packed(&carried, beside.as_ref());
            assert_eq!((receiver.token(), receiver.shown()), (Some(token), Some((label.shown(), 2, 8))));
            assert_eq!(serial(sent(&mut receiver)), (8, 9));
            receiver.receive(None);
            assert_eq!((receiver.token(), receiver.shown()), (None, None));
        }
    }

    #[test]
    fn a_token_of_an_earlier_era_is_void() {
        let mut carried = Packed::NOTHING;
        traced().send(&mut carried);
        assert!(carried.is_of(0) && !carried.is_of(1));
    }

    #[test]
    fn a_lower_count_received_does_not_set_the_own_one_back() {
        let mut sequence = traced();
        let early = sent(&mut sequence);
        sent(&mut sequence);
        sent(&mut sequence);
        sequence.receive(early);
        assert_eq!(serial(sent(&mut sequence)), (1, 4));
    }

    #[test]
    fn a_message_without_a_token_ends_the_trace_but_not_the_counts() {
        let mut sequence = traced();
        sent(&mut sequence);
        sequence.receive(None);
        assert_eq!(sent(&mut sequence), None);
        sequence.set(43.into(), Flags::SEND);
        assert_eq!(serial(sent(&mut sequence)), (0, 2));
    }

    #[test]
    fn a_new_label_keeps_the_serial_and_a_restored_token_sets_the_counts() {
        let mut sequence = traced();
        sent(&mut sequence);
        let before = sequence.set("other".into(), Flags::PRINT).unwrap();
        assert_eq!(sequence.token().unwrap().serial, before.serial);
        sent(&mut sequence);
        assert_eq!(serial(sequence.restore(before)), (0, 2));
        assert_eq!(serial(sent(&mut sequence)), (0, 2));
    }

    #[test]
    fn a_child_goes_on_with_its_parents_counts() {
        let mut parent = traced();
        sent(&mut parent);
        let mut child = parent.of_child();
        assert_eq!(child.token().unwrap().serial, Serial { previous: 0, current: 2 });
        assert_eq!(serial(sent(&mut child)), (0, 3));
        assert_eq!(serial(sent(&mut parent)), (0, 3));
        parent.take();
        assert_eq!(sent(&mut parent.of_child()), None);
    }

    #[test]
    fn a_new_era_begins_with_nothing() {
        let mut sequence = traced();
        sent(&mut sequence);
        assert_eq!(sequence.of_era(1).token(), None);
        sequence.set(1.into(), Flags::SEND);
        assert_eq!(serial(sent(sequence.of_era(1))), (0, 1));
    }

    #[test]
    fn counts_wrap() {
        let mut sequence = traced();
        sequence.restore(Token { serial: Serial { previous: 0, current: u32::MAX }, ..sent(&mut traced()).unwrap() });
        assert_eq!(serial(sent(&mut sequence)), (0, 0));
    }
}
