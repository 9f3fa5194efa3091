//! The state that both ends of a mailbox share. It fires the probes.

// `std`'s even in models: they order nothing.
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use dyntrace_probes::sdt;
use tokio::sync::mpsc;

use super::depth::Noted;
use super::envelope::{Carried, Envelope, may_carry};
use super::patience::Source;
use dyntrace_processes::probes::message;
use dyntrace_processes::process::{self, Pid};
use dyntrace_processes::sequence::{Packed, era};

pub(super) struct Shared<T> {
    /// For the receiver and for owned permits. Does not keep the mailbox open.
    pub(super) sender: mpsc::WeakSender<Envelope<T>>,
    /// The number of the process that receives.
    owner: AtomicU64,
    /// The number of messages that a selective receive has skipped. Only the receiver changes it.
    passed_over: AtomicUsize,
    /// Says where the next message comes from, if the receiver asks.
    pub(super) source: Source,
    words: fn(&T) -> usize,
    /// The length, for the monitor.
    noted: Noted,
}

/// Whether a message that is sent now may carry something, or a tracer looks.
#[inline(always)]
pub(super) fn is_noticed() -> bool {
    may_carry() || message::send::is_enabled() || message::queued::is_enabled()
}

/// The number of weak senders that do not belong to users: the one in [`Shared`].
pub(super) const OWN: usize = 1;

impl<T> Shared<T> {
    pub(super) fn new(sender: mpsc::WeakSender<Envelope<T>>, owner: Pid, words: fn(&T) -> usize) -> Shared<T> {
        let (owner, passed_over) = (AtomicU64::new(owner.number()), AtomicUsize::new(0));
        Shared { sender, owner, passed_over, source: Source::default(), words, noted: Noted::default() }
    }

    pub(super) fn owner(&self) -> Pid {
        Pid::numbered(self.owner.load(Ordering::Relaxed))
    }

    /// Makes the current process the receiver.
    pub(super) fn adopt(&self) -> Pid {
        let pid = process::current();
        if self.owner() != pid {
            self.owner.store(pid.number(), Ordering::Relaxed);
        }
        pid
    }

    pub(super) fn passed_over(&self) -> usize {
        self.passed_over.load(Ordering::Relaxed)
    }

    pub(super) fn set_passed_over(&self, count: usize) {
        self.passed_over.store(count, Ordering::Relaxed);
    }

    /// The length of the queue, with messages that are about to be in it.
    pub(super) fn queue_len(&self, sender: &mpsc::Sender<Envelope<T>>) -> usize {
        sender.max_capacity() - sender.capacity() + self.passed_over()
    }

    fn words(&self, message: &T) -> u32 {
        narrow((self.words)(message))
    }

    /// Puts a message into its envelope and fires `message-send` and `message-queued`. `queue_len` returns the length of the queue with
    /// this message.
    #[inline(always)]
    pub(super) fn seal(&self, message: T, queue_len: impl FnOnce() -> usize) -> Envelope<T> {
        self.source.answer();
        let carried = Carried::on_send();
        // Not with the envelope, which would be made here and copied once more.
        if message::send::is_enabled() || message::queued::is_enabled() {
            fire_sent(&self.noted, self.owner(), self.words(&message), queue_len(), carried.token());
        }
        Envelope { message, carried }
    }

    /// Whether to call [`fire_received`](Shared::fire_received).
    #[inline(always)]
    pub(super) fn tells_received() -> bool {
        message::receive::is_enabled()
    }

    /// Fires `message-receive`.
    #[inline]
    pub(super) fn fire_received(&self, envelope: &Envelope<T>, queue_len: usize) {
        let (receiver, words) = (self.adopt(), self.words(&envelope.message));
        fire_received(&self.noted, receiver, words, queue_len, envelope.carried.token());
    }
}

/// Fires `message-send` and `message-queued`. Both have the same time: a message is sent when it is in the queue.
#[cold]
#[inline(never)]
#[allow(named_asm_labels)]
fn fire_sent(noted: &Noted, receiver: Pid, words: u32, queue_len: usize, token: Packed) {
    let (sender, queue_len) = (process::current(), narrow(queue_len));
    let (label, previous, current) = token.shown(era());
    noted.note(receiver, queue_len);
    sdt::open_control_if_requested!(message::send);
    let time = sdt::time_if_recorded!(message::send, message::queued);
    if sender == receiver {
        sdt::fire_here!(
            "message__send",
            message::send,
            time,
            (process sender) (process receiver) (u32 words) (i32 label) (i32 previous) (i32 current)
        );
        return;
    }
    sdt::fire_both_here!(
        time,
        "message__send",
        message::send (process sender) (process receiver) (u32 words) (i32 label) (i32 previous) (i32 current),
        "message__queued",
        message::queued (process receiver) (u32 words) (u32 queue_len) (i32 label) (i32 previous) (i32 current),
    );
}

/// Fires `message-receive`.
#[cold]
#[inline(never)]
#[allow(named_asm_labels)]
fn fire_received(noted: &Noted, receiver: Pid, words: u32, queue_len: usize, token: Packed) {
    let queue_len = narrow(queue_len);
    let (label, previous, current) = token.shown(era());
    noted.note(receiver, queue_len);
    sdt::fire_here!(
        "message__receive",
        message::receive,
        None,
        (process receiver) (u32 words) (u32 queue_len) (i32 label) (i32 previous) (i32 current)
    );
}

/// Probes have 32 bits for a count.
fn narrow(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
