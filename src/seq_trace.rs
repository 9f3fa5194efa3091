//! Sequential trace tokens: which request a message belongs to, and which message came of which.
//!
//! A process that works for a request has a *token*. Every message it sends carries the token, and who receives the
//! message has it from then on. So the messages of one request can be told from all others, over any number of
//! processes and nodes, and put in order by cause. It is Erlang's `seq_trace`, and the same tokens travel to and from
//! Erlang nodes.
//!
//! ```
//! use dyntrace::seq_trace::{self, Flags};
//!
//! seq_trace::set_token(42, Flags::SEND | Flags::RECEIVE)?;
//! let token = seq_trace::get_token().expect("the one just set");
//! assert_eq!(token.label, 42.into());
//! # seq_trace::take_token();
//! # Ok::<(), seq_trace::TokenError>(())
//! ```
//!
//! # Whose token
//!
//! A task's that was started with [`dyntrace::spawn`](crate::spawn) or as a process with a mailbox; outside of tasks,
//! the thread's. Any other tokio task has none, and cannot: nothing would take it away at the task's end.
//!
//! # The counters
//!
//! A token has a [`Serial`]: {previous, current}. Each process has two counters, `previous` and `current`, 0 at first,
//! which stay while it lives, also while it has no token.
//!
//! | when a process | then |
//! |---|---|
//! | sends a message, or calls [`print()`], with a token | `current` goes up by one; the token, and what the message carries, becomes {`previous`, `current`} |
//! | receives a message with a token {p, c} | the process has that token; `previous` becomes c; `current` becomes c if it was lower |
//! | receives a message without a token | the process has none any more |
//! | starts a process | as if it sent it a message, but the new process begins with its parent's counters |
//! | sets a token by [`set_token`] | the counters stay |
//! | sets a whole token by [`restore_token`] | the counters become its serial's |
//!
//! So each message names the one before it in its process, and the first has the serial {0, 1}.
//!
//! In probes a token is three integers: the label, or `i32::MIN` for one that is no 32-bit integer, and the two counts; all
//! three are 0 where there is none.
//!
//! # File operations
//!
//! Those that a process with a token asks for are work for its trace: just before `efile_drv-entry` the probe `seq_trace-operation`
//! names the operation, the process and the token. `dyntrace view --token LABEL` lists all of one trace.
//!
//! # Other ways to send
//!
//! Whoever carries messages in a way of his own (over a socket, in a queue) asks [`on_send`] for what is to go with one,
//! and gives it to [`on_receive`] at the other end.

use crate::probes;
use crate::process::{self, OperationId};
use crate::scope::Refusal;
use crate::sdt::Text;
use crate::sequence::era::{self, era};
use crate::sequence::{Packed, Sequence};

pub use crate::sequence::{Flags, Label, Serial, Token};

/// Why a token could not be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The code runs in a tokio task, or a `spawn_blocking` closure, that is not a process.
    #[error(
        "cannot set the sequential trace token of a task that dyntrace did not start, because nothing would remove it at \
         the task's end: start the task with dyntrace::spawn"
    )]
    ForeignTask,
    /// The code runs in the last destructors of a thread, or in a signal handler that came while a token was changed.
    #[error(
        "cannot set the sequential trace token now: the thread is ending, or a signal handler interrupted a change of the \
         token; set it before"
    )]
    Unreachable,
}

impl From<Refusal> for TokenError {
    fn from(refusal: Refusal) -> TokenError {
        match refusal {
            Refusal::Foreign => TokenError::ForeignTask,
            Refusal::Unreachable => TokenError::Unreachable,
        }
    }
}

/// Changes the current process's part in sequential traces, in this era. `change` must run no code of others.
#[inline]
pub(crate) fn change<R>(era: u32, change: impl FnOnce(&mut Sequence) -> R) -> Result<R, Refusal> {
    process::sequence(|sequence| change(sequence.of_era(era)))
}

/// Gives the current process a token with this label and these flags, and returns the one before. If it had one, the
/// serial stays.
///
/// # Errors
///
/// [`TokenError::ForeignTask`] in a tokio task that dyntrace did not start.
pub fn set_token(label: impl Into<Label>, flags: Flags) -> Result<Option<Token>, TokenError> {
    let label = label.into();
    Ok(change(era::begun(), move |sequence| sequence.set(label, flags))?)
}

/// Gives the current process a whole token, with its counts, and returns the one before. `None` takes the token away.
///
/// # Errors
///
/// Those of [`set_token`]; none for `None`.
///
/// ```
/// use dyntrace::seq_trace::{self, Flags};
///
/// seq_trace::set_token(42, Flags::SEND)?;
/// let aside = seq_trace::take_token();
/// // ... work for somebody else ...
/// seq_trace::restore_token(aside)?;
/// assert!(seq_trace::take_token().is_some());
/// # Ok::<(), seq_trace::TokenError>(())
/// ```
pub fn restore_token(token: Option<Token>) -> Result<Option<Token>, TokenError> {
    match token {
        Some(token) => Ok(change(era::begun(), move |sequence| sequence.restore(token))?),
        None => Ok(take_token()),
    }
}

/// Takes the current process's token away and returns it. (In Erlang: `set_token([])`.)
pub fn take_token() -> Option<Token> {
    changed_where_tokens_are(Sequence::take)
}

/// The current process's token, if it has one.
pub fn get_token() -> Option<Token> {
    changed_where_tokens_are(|sequence| sequence.token())
}

/// The token that a message sent now is to carry: the process's, with the next count, which the process keeps too.
///
/// ```
/// use dyntrace::seq_trace::{self, Flags};
///
/// seq_trace::set_token(42, Flags::SEND)?;
/// let carried = seq_trace::on_send();
/// assert_eq!(carried.unwrap().serial.current, 1);
/// # seq_trace::take_token();
/// # Ok::<(), seq_trace::TokenError>(())
/// ```
pub fn on_send() -> Option<Token> {
    changed_where_tokens_are(|sequence| {
        sequence.send(&mut Packed::NOTHING.clone());
        sequence.token()
    })
}

/// The current process has received a message that carried this token, or none. Where a process cannot have one, the token
/// is dropped.
///
/// To be called in the process that works for the message, when it takes it.
pub fn on_receive(token: Option<Token>) {
    let era = if token.is_some() { era::begun() } else { era() };
    if era != 0 {
        // A task that is no process has no token to change.
        let _ = change(era, move |sequence| sequence.receive(token));
    }
}

/// Fires `user_trace-i4s4` with label, previous and current count, `"seq_trace"` and `info`, if the current process has a
/// token whose [`Flags::PRINT`] is set. It counts as sending a message does.
///
/// ```
/// use dyntrace::seq_trace::{self, Flags};
///
/// seq_trace::set_token(42, Flags::PRINT)?;
/// seq_trace::print("the order is paid");
/// assert_eq!(seq_trace::get_token().unwrap().serial.current, 1);
/// # seq_trace::take_token();
/// # Ok::<(), seq_trace::TokenError>(())
/// ```
pub fn print<'a>(info: impl Into<Text<'a>>) {
    let token = changed_where_tokens_are(|sequence| {
        let prints = sequence.flags().contains(Flags::PRINT);
        prints.then(|| sequence.send(&mut Packed::NOTHING.clone()));
        sequence.shown().filter(|_| prints)
    });
    if let Some((label, previous, current)) = token {
        crate::p!(label, previous, current, "seq_trace", info.into());
    }
}

/// Fires `seq_trace-operation`, if the current process has a token: it asks the file driver for this operation.
#[cold]
#[inline(never)]
pub(crate) fn tell_operation(id: OperationId) {
    if probes::seq_trace::operation::is_enabled()
        && let Some((label, previous, current)) = changed_where_tokens_are(|sequence| sequence.shown())
    {
        probes::seq_trace::operation(|| (id.thread, id.tag, process::current(), label, previous, current));
    }
}

/// Ends all sequential traces of the program: no process has a token any more, counters begin at 0, and tokens of messages
/// that wait in mailboxes do not count.
pub fn reset_trace() {
    era::next();
}

fn changed_where_tokens_are<R>(changes: impl FnOnce(&mut Sequence) -> Option<R>) -> Option<R> {
    match era() {
        0 => None,
        era => change(era, changes).ok().flatten(),
    }
}
