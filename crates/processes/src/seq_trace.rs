//! Sequential trace tokens: which request a message belongs to, and which message caused it.
//!
//! A process that works for a request has a *token*. Each of its messages carries the token, and the process that receives the
//! message takes it on. So a trace can tell the messages of one request from all others and order them by cause, over any number
//! of processes and nodes. This is Erlang's `seq_trace`; the same tokens go to and come from Erlang nodes.
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
//! # Where tokens belong
//!
//! [Processes](crate::process) have tokens: tasks started with [`dyntrace::spawn`](crate::spawn), or with a mailbox, closures of
//! [`dyntrace::spawn_blocking`](crate::spawn_blocking), and, outside of tasks, the thread. Other tokio tasks have none, because tokio does
//! not tell when they end.
//!
//! # The counters
//!
//! A token has a [`Serial`]: {previous, current}. Each process has two counters, `previous` and `current`, which begin at 0. The
//! process keeps them while it lives, even while it has no token.
//!
//! | when a process | then |
//! |---|---|
//! | sends a message, or calls [`print()`], with a token | `current` grows by one; its token and that of the message become {`previous`, `current`} |
//! | receives a message with a token {p, c} | it has that token; `previous` becomes c; `current` becomes c if it was lower |
//! | receives a message without a token | it loses its token |
//! | starts a process | as for a message to it, but the new process begins with its parent's counters |
//! | sets a token by [`set_token`] | the counters stay |
//! | sets a whole token by [`restore_token`] | the counters become its serial's |
//!
//! So each message names the message before it in its process. The first has the serial {0, 1}.
//!
//! In probes a token is three integers: the label and the two counts. A label that is not a 32-bit integer is shown as `i32::MIN`.
//! Without a token all three are 0.
//!
//! # File operations
//!
//! If a process with a token submits a file operation, the probe `seq_trace-operation` fires just before `efile_drv-entry`. It names the
//! operation, the process and the token. `dyntrace view --token LABEL` lists all events of a trace.
//!
//! # Other ways to send
//!
//! If your program sends messages in another way, over a socket or in a queue, send the result of [`on_send`] with each and pass it
//! to [`on_receive`] at the other end.

use dyntrace_probes::sdt::Text;

use crate::probes;
use crate::process::{self, OperationId};
use crate::scope::Refusal;
use crate::sequence::era::{self, era};
use crate::sequence::{Packed, Sequence};

pub use crate::sequence::{Flags, Label, Serial, Token};

/// The error of a token that cannot be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The caller is in a tokio task, or a `spawn_blocking` closure, that is not a process.
    #[error(
        "cannot set the sequential trace token of a task that dyntrace did not start, because nothing would remove it at \
         the task's end: start the task with dyntrace::spawn"
    )]
    ForeignTask,
    /// The caller is in the last destructors of a thread, or in a signal handler that interrupted a change of the token.
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

/// Changes the token and counters of the current process, in this era. `change` must not run user code.
#[inline]
#[doc(hidden)]
pub fn change<R>(era: u32, change: impl FnOnce(&mut Sequence) -> R) -> Result<R, Refusal> {
    process::sequence(|sequence| change(sequence.of_era(era)))
}

/// Likewise, if the process has a token.
#[inline]
#[doc(hidden)]
pub fn change_token<R>(era: u32, change: impl FnOnce(&mut Sequence) -> R) -> Option<R> {
    process::sequence_with_token(|sequence| change(sequence.of_era(era)))
}

/// Gives the current process a token with this label and these flags, and returns the previous one. The serial stays if there was
/// one.
///
/// # Errors
///
/// [`TokenError::ForeignTask`] in a tokio task that dyntrace did not start.
pub fn set_token(label: impl Into<Label>, flags: Flags) -> Result<Option<Token>, TokenError> {
    let label = label.into();
    Ok(change(era::begun(), move |sequence| sequence.set(label, flags))?)
}

/// Gives the current process a whole token with its counts, and returns the previous one. `None` removes the token.
///
/// # Errors
///
/// As for [`set_token`]; `None` never fails.
///
/// ```
/// use dyntrace::seq_trace::{self, Flags};
///
/// seq_trace::set_token(42, Flags::SEND)?;
/// let aside = seq_trace::take_token();
/// // ... work on another request ...
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

/// Removes the token of the current process and returns it. In Erlang this is `set_token([])`.
pub fn take_token() -> Option<Token> {
    changed_where_tokens_are(Sequence::take)
}

/// Returns the token of the current process, if it has one.
pub fn get_token() -> Option<Token> {
    changed_where_tokens_are(|sequence| sequence.token())
}

/// Counts a message that the current process sends, and returns the token for it. The token of the process gets the same serial.
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

/// Counts a message that the current process has received with this token, or without one. Does nothing in a task that is not a
/// process.
///
/// Call it in the process that handles the message, when it takes the message.
pub fn on_receive(token: Option<Token>) {
    // A task that is not a process has no token to change.
    if token.is_some() {
        let _ = change(era::begun(), move |sequence| sequence.receive(token));
    } else {
        take_token();
    }
}

/// Fires `user_trace-i4s4` with the label, the previous and the current count, `"seq_trace"` and `info`, if the current process has
/// a token with [`Flags::PRINT`]. It counts like a message.
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

/// Fires `seq_trace-operation` for an operation that the current process submits, if the process has a token.
#[cold]
#[inline(never)]
#[doc(hidden)]
pub fn tell_operation(id: OperationId) {
    if probes::seq_trace::operation::is_enabled()
        && let Some((label, previous, current)) = changed_where_tokens_are(|sequence| sequence.shown())
    {
        probes::seq_trace::operation(|| (id.thread, id.tag, process::current(), label, previous, current));
    }
}

/// Ends all sequential traces of the program: all processes lose their tokens, counters begin at 0 again, and tokens of messages in
/// mailboxes are void.
pub fn reset_trace() {
    era::next();
}

fn changed_where_tokens_are<R>(changes: impl FnOnce(&mut Sequence) -> Option<R>) -> Option<R> {
    match era() {
        0 => None,
        era => change_token(era, changes).flatten(),
    }
}
