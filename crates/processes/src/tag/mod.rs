//! User tags: on whose behalf an operation runs.
//!
//! A tag is a short text that your program attaches to its current process: a request number, a customer, a phase. Operations
//! carry it to every probe, so that a tracer can tell them apart.
//!
//! The functions are those of Erlang's `dyntrace` module, [`with_tag`], and the trait [`Tagged`] with the same as methods.
//!
//! # Where tags belong
//!
//! | where [`put_tag`] is called | whose tag it sets |
//! |---|---|
//! | in a future, stream, reader or writer under [`with_tag`] | that of the innermost of these |
//! | in a [process](crate::process) that is a task or a blocking closure, such as one of [`dyntrace::spawn`](crate::spawn) | that of the process |
//! | in any other tokio task, or in a closure of tokio's `spawn_blocking` | none: it returns an error |
//! | anywhere else, also in the future given to tokio's `block_on` | that of the thread |
//!
//! The tag of a future or task stays with it across awaits and threads. Other tasks of the same thread never see it. Only the thread
//! itself sees a thread's tag: the threads and tasks that it starts do not inherit it.
//!
//! Tokio's own tasks have no tag because tokio does not tell when such a task ends: its tag would stay, and the next task on that
//! thread would see it.
//!
//! # Which tasks and threads have the tag, too
//!
//! | started by | under [`with_tag`] | by a process that has called [`put_tag`] |
//! |---|---|---|
//! | [`dyntrace::spawn`](crate::spawn), [`spawn_local`](crate::spawn_local), [`JoinSet`](crate::task::JoinSet), [`JoinSetExt`](crate::JoinSetExt), `mailbox::spawn` | yes | while [`spread_tag(true)`](spread_tag) |
//! | [`dyntrace::spawn_blocking`](crate::spawn_blocking) | yes | yes |
//! | `tokio::spawn`, `JoinSet::spawn`, any other runtime | if the future is [`with_current_tag()`](Tagged::with_current_tag) | likewise |
//! | `std::thread::spawn` | if it calls [`put_tag`] | likewise |
//!
//! Two rules explain the first line. [`put_tag`] is Erlang's: there a process that another one starts has no tag, and a tag spreads
//! with messages only if the process asks for it. [`with_tag`] is for one operation, such as a request, and an operation consists of all
//! that is started for it. A task that outlives the operation calls [`take_tag`] first, or is started outside of it.
//!
//! # Which function sees which tag
//!
//! A tag that came from another process by spreading is a *received* one. As in Erlang, [`get_tag`] returns only a tag that the process
//! has itself, and [`get_tag_data`] also one that it has received. Operations carry the tag that `get_tag_data` returns. A process started
//! under [`with_tag`] has that tag itself, so both return it.
//!
//! # Other runtimes
//!
//! In tasks of other runtimes use [`with_tag`]. dyntrace cannot tell such a task from its thread, so `put_tag` sets the thread's tag
//! there. The next task on that thread would see it, and this task would lose it when it moves to another thread.
//!
//! # `join!`, `select!`, streams of futures
//!
//! Their branches are parts of one task and share its tag. Give a branch a tag of its own with [`with_tag`].
//!
//! # Tags for a stretch of code
//!
//! [`enter_tag`] puts a tag before that of the process until its guard is dropped, in any task. It is for code that runs around each poll
//! of a task, such as the crate `dyntrace-tracing`, which makes tags of spans.

#[doc(hidden)]
pub mod entered;
#[doc(hidden)]
pub mod span;
mod state;
mod wrapped;

use std::mem;
use std::sync::atomic::AtomicBool;

use dyntrace_probes::host::ProgramWide;

use crate::scope::{self, ForGuests, Refusal, Scoped, Slot, own_slot};
use crate::task_table;

pub use entered::{EnteredTag, enter_tag};
#[doc(hidden)]
pub use state::ANY;
pub use state::{Tag, TagState};
pub use wrapped::{Tagged, WithTag, with_tag};

#[doc(hidden)]
pub static TAGS: Slot<TagState> = Slot::new();

own_slot! {
    impl Own for TagState, in TAGS {
        const NOTHING: Self = TagState::NONE;

        fn is_nothing(&self) -> bool {
            self.in_force().is_none()
        }
    }
}

/// For guests.
#[doc(hidden)]
pub static FOR_GUESTS: ForGuests<TagState> = ForGuests::new();

/// Whether this program ever had a spreading tag; until then operations skip the look-up.
#[doc(hidden)]
pub static ANY_SPREADS: ProgramWide<AtomicBool> = ProgramWide::new(AtomicBool::new(false));

/// A future, or another thing, with a `TagState` of its own.
#[doc(hidden)]
pub type OwnTags<F> = Scoped<TagState, F>;

/// The error of a tag that cannot be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TagError {
    /// The caller is in a tokio task, or a `spawn_blocking` closure, that is not a process.
    #[error(
        "cannot set the user tag of a task that dyntrace did not start, because nothing would remove it at the task's end: \
         start the task with dyntrace::spawn, or wrap its future in dyntrace::with_tag"
    )]
    ForeignTask,
    /// The caller is in the last destructors of a thread, or in a signal handler that interrupted a change of the tag.
    #[error(
        "cannot set the user tag now: the thread is ending, or a signal handler interrupted a change of the tag; \
         set it before"
    )]
    Unreachable,
}

impl From<Refusal> for TagError {
    fn from(refusal: Refusal) -> TagError {
        match refusal {
            Refusal::Foreign => TagError::ForeignTask,
            Refusal::Unreachable => TagError::Unreachable,
        }
    }
}

/// Sets the tag of the current process and returns the previous one.
///
/// # Errors
///
/// [`TagError::ForeignTask`] in a tokio task that was not started with [`dyntrace::spawn`](crate::spawn) and is not under
/// [`with_tag`].
///
/// ```
/// assert_eq!(dyntrace::put_tag("loading")?, None);
/// assert_eq!(dyntrace::put_tag("serving")?.as_deref(), Some("loading"));
/// # Ok::<(), dyntrace::TagError>(())
/// ```
pub fn put_tag(tag: impl Into<Tag>) -> Result<Option<Tag>, TagError> {
    let tag = tag.into();
    let before = scope::change(&TAGS, move |tags| tags.own.replace(tag))?;
    task_table::tag_changed(in_force);
    Ok(before)
}

/// Removes the tag of the current process and returns it. In Erlang this is `put_tag(undefined)`.
///
/// ```
/// dyntrace::put_tag("loading")?;
/// assert_eq!(dyntrace::take_tag().as_deref(), Some("loading"));
/// assert_eq!(dyntrace::get_tag(), None);
/// # Ok::<(), dyntrace::TagError>(())
/// ```
pub fn take_tag() -> Option<Tag> {
    let before = scope::change(&TAGS, |tags| tags.own.take()).ok()?;
    task_table::tag_changed(in_force);
    before
}

/// Returns the tag that the current process has itself: by [`put_tag`], or because it is, or began, under [`with_tag`].
///
/// As in Erlang, it does not return a tag that another process has [spread](spread_tag) to this one: [`get_tag_data`]
/// does. A tag that is [entered](enter_tag) does not count either.
pub fn get_tag() -> Option<Tag> {
    scope::read(&TAGS, |tags| tags.own.as_ref())
}

/// Returns the tag that operations carry here: the tag [entered](enter_tag) last, else the process's own, else the last one that the
/// process received.
// Always inlined: in a program without tags it is one load.
#[inline(always)]
pub fn get_tag_data() -> Option<Tag> {
    if !state::ANY.is_set() {
        return None;
    }
    // No `or_else`, which the compiler would call.
    match entered::innermost() {
        None => in_force(),
        entered => entered,
    }
}

/// The tag of the current process, without those that are entered.
#[inline(always)]
fn in_force() -> Option<Tag> {
    scope::read(&TAGS, TagState::in_force)
}

/// Sets whether the tag of the current process spreads with its messages and to tasks that it starts. Returns the previous state,
/// for [`restore_tag`].
///
/// While the tag spreads, tasks started with [`dyntrace::spawn`](crate::spawn) receive it and spread it further. There
/// [`get_tag_data`] returns it; [`get_tag`] does not. A process begins with `false`, or with `true` if it has received a tag. In a
/// tokio task that is not a process this does nothing.
///
/// A tag of [`with_tag`] goes to such tasks in any case. It goes with messages only if it spreads.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// dyntrace::put_tag("request 7")?;
/// let before = dyntrace::spread_tag(true);
/// let child = dyntrace::spawn(async { (dyntrace::get_tag(), dyntrace::get_tag_data()) });
/// dyntrace::restore_tag(before)?;
/// let (own, in_force) = child.await?;
/// assert_eq!((own, in_force.as_deref()), (None, Some("request 7")));
/// # Ok(())
/// # }
/// ```
pub fn spread_tag(spread: bool) -> TagState {
    if spread {
        // A process that spreads a tag has set this itself, or received it together with a tag.
        ANY_SPREADS.set();
    }
    scope::change(&TAGS, |tags| {
        let before = tags.clone();
        tags.spreads = spread;
        before
    })
    .unwrap_or(TagState::NONE)
}

/// Restores a state that [`spread_tag`] returned, in this process or another: the tag, the received tag, and whether it spreads with
/// messages.
///
/// # Errors
///
/// As for [`put_tag`], but only if the state has a tag.
pub fn restore_tag(data: TagState) -> Result<(), TagError> {
    let has_tag = data.in_force().is_some();
    // A state from outside of `with_tag` does not end the operation, and one from inside does not begin it elsewhere.
    let changed = scope::change(&TAGS, move |tags| {
        let of_operation = tags.of_operation;
        mem::replace(tags, TagState { of_operation, ..data })
    });
    task_table::tag_changed(in_force);
    match changed {
        Err(refusal) if has_tag => Err(refusal.into()),
        _ => Ok(()),
    }
}

/// Whether any message can carry a tag.
#[inline]
#[doc(hidden)]
pub fn any_spreads() -> bool {
    ANY_SPREADS.is_set()
}

/// The tag that messages of the current process carry.
#[doc(hidden)]
pub fn sent() -> Option<Tag> {
    let spreads = scope::read(&TAGS, |tags| Some(&tags.spreads));
    spreads.filter(|spreads| *spreads).and_then(|_| get_tag_data())
}

/// Gives the current process the tag of a message that it has received. Does nothing in a task that is not a process.
#[doc(hidden)]
pub fn on_receive(tag: Option<Tag>) {
    // It may come from another program over the network, and spreads from here.
    if tag.is_some() {
        ANY_SPREADS.set();
    }
    if any_spreads() {
        let _ = scope::change(&TAGS, move |tags| tags.receive(tag));
        task_table::tag_changed(in_force);
    }
}

impl<F> OwnTags<F> {
    /// The tag that the process begins with.
    pub fn tag(&self) -> Option<Tag> {
        self.value().in_force().cloned()
    }
}

/// Wraps the future of a process that the current one starts.
#[doc(hidden)]
pub fn of_new_process<F>(future: F) -> OwnTags<F> {
    let of_operation = scope::read(&TAGS, |tags| Some(&tags.of_operation)).unwrap_or(false);
    let own = if of_operation { get_tag_data() } else { None };
    let mut tags = TagState { of_operation: own.is_some(), own, ..TagState::NONE };
    tags.receive(sent());
    Scoped::new(tags, future)
}

/// Wraps what the current process does in another task or thread.
#[doc(hidden)]
pub fn of_current<T>(value: T) -> OwnTags<T> {
    let spreads = scope::read(&TAGS, |tags| Some(&tags.spreads)).unwrap_or(false);
    Scoped::new(TagState { own: get_tag_data(), received: None, spreads, of_operation: true }, value)
}
