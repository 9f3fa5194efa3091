//! User tags: on whose behalf an operation runs.
//!
//! A tag is a short text that your program attaches to its current process: a request number, a customer, a phase. Operations
//! carry it to every probe, so that a tracer can tell them apart.
//!
//! The functions are those of Erlang's `dyntrace` module, and [`with_tag`].
//!
//! # Where tags belong
//!
//! | where [`put_tag`] is called | whose tag it sets |
//! |---|---|
//! | in a future under [`with_tag`] | that of the innermost such future |
//! | in a task started with [`dyntrace::spawn`](crate::spawn) | that of the task |
//! | in any other tokio task, or in a `spawn_blocking` closure | none: it returns an error |
//! | anywhere else, also in the future given to tokio's `block_on` | that of the thread |
//!
//! The tag of a future or task stays with it across awaits and threads. Other tasks of the same thread never see it. Only the thread
//! itself sees a thread's tag: the threads and tasks that it starts do not inherit it.
//!
//! Tokio's own tasks have no tag because tokio does not tell when such a task ends: its tag would stay, and the next task on that
//! thread would see it.
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

mod entered;
mod state;

use std::cell::RefCell;
use std::mem;
use std::pin::Pin;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use crate::host::ProgramWide;
use crate::scope::{self, Door, Own, Refusal, Scoped, Seat, Slot};

#[cfg(feature = "code")]
pub(crate) use entered::{ANY_ENTERED, DOOR as ENTERED_DOOR, ENTERED, EnteredTags};
pub use entered::{EnteredTag, enter_tag};
pub use state::{Tag, TagState};

thread_local! {
    static OWN: RefCell<Seat<TagState>> = const { RefCell::new(Seat::of_thread(TagState::NONE)) };
}

pub(crate) static TAGS: Slot<TagState> = Slot::new(&OWN);

impl Own for TagState {}

/// For guests.
#[cfg(feature = "code")]
pub(crate) static DOOR: Door<TagState> = Door::new(|| OWN.try_with(ptr::from_ref).unwrap_or(ptr::null()));

/// Whether this program ever had a spreading tag; until then operations skip the look-up.
pub(crate) static ANY_SPREADS: ProgramWide<AtomicBool> = ProgramWide::new(AtomicBool::new(false));

/// A future with a `TagState` of its own.
pub(crate) type Tagged<F> = Scoped<TagState, F>;

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
    Ok(scope::change(&TAGS, move |tags| tags.own.replace(tag))?)
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
    scope::change(&TAGS, |tags| tags.own.take()).ok()?
}

/// Returns the tag that the current process has set, if any. A tag that is [entered](enter_tag) does not count.
pub fn get_tag() -> Option<Tag> {
    scope::read(&TAGS, |tags| tags.own.as_ref())
}

/// Returns the tag that operations carry here: the tag [entered](enter_tag) last, else the process's own, else the last one that the
/// process received.
pub fn get_tag_data() -> Option<Tag> {
    entered::innermost().or_else(|| scope::read(&TAGS, TagState::in_force))
}

/// Sets whether the tag of the current process spreads with its messages and to tasks that it starts. Returns the previous state,
/// for [`restore_tag`].
///
/// While the tag spreads, tasks started with [`dyntrace::spawn`](crate::spawn) receive it and spread it further. A process begins
/// with `false`, or with `true` if it has received a tag. In a tokio task that is not a process this does nothing.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// dyntrace::put_tag("request 7")?;
/// let before = dyntrace::spread_tag(true);
/// let child = dyntrace::spawn(async { dyntrace::get_tag_data() });
/// dyntrace::restore_tag(before)?;
/// assert_eq!(child.await?.as_deref(), Some("request 7"));
/// # Ok(())
/// # }
/// ```
pub fn spread_tag(spread: bool) -> TagState {
    if spread {
        // Relaxed: a process that spreads a tag has stored this itself, or received it together with a tag.
        ANY_SPREADS.get().store(true, Ordering::Relaxed);
    }
    scope::change(&TAGS, |tags| {
        let before = tags.clone();
        tags.spreads = spread;
        before
    })
    .unwrap_or(TagState::NONE)
}

/// Restores a state that [`spread_tag`] returned, in this process or another: the tag, the received tag, and whether it spreads.
///
/// # Errors
///
/// As for [`put_tag`], but only if the state has a tag.
pub fn restore_tag(data: TagState) -> Result<(), TagError> {
    let has_tag = data.in_force().is_some();
    match scope::change(&TAGS, move |tags| mem::replace(tags, data)) {
        Err(refusal) if has_tag => Err(refusal.into()),
        _ => Ok(()),
    }
}

/// Runs `future` with a tag of its own, in any runtime.
///
/// Inside, [`put_tag`] and the other functions change the state of this future only. The tag [spreads](spread_tag) if the tag of the
/// caller of `with_tag` does. Calls nest: the innermost counts. The process stays the same.
///
/// # Cancellation
///
/// A future that is dropped early sees its own tag while it is dropped.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), tokio::task::JoinError> {
/// let task = tokio::spawn(dyntrace::with_tag("request 7", async {
///     tokio::task::yield_now().await;
///     dyntrace::get_tag()
/// }));
/// assert_eq!(task.await?.as_deref(), Some("request 7"));
/// assert_eq!(dyntrace::get_tag(), None);
/// # Ok(())
/// # }
/// ```
pub fn with_tag<F: Future>(tag: impl Into<Tag>, future: F) -> WithTag<F> {
    let spreads = scope::read(&TAGS, |tags| Some(&tags.spreads)).unwrap_or(false);
    let tags = TagState { own: Some(tag.into()), received: None, spreads };
    WithTag { tagged: Scoped::new(&TAGS, tags, future) }
}

pin_project_lite::pin_project! {
    /// The future of [`with_tag`].
    #[must_use = "futures do nothing unless polled"]
    pub struct WithTag<F> {
        #[pin]
        tagged: Tagged<F>,
    }
}

impl<F: Future> Future for WithTag<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.project().tagged.poll(context)
    }
}

/// Whether any message can carry a tag.
#[inline]
pub(crate) fn any_spreads() -> bool {
    ANY_SPREADS.get().load(Ordering::Relaxed)
}

/// The tag that messages of the current process carry.
pub(crate) fn sent() -> Option<Tag> {
    let spreads = scope::read(&TAGS, |tags| Some(&tags.spreads));
    spreads.filter(|spreads| *spreads).and_then(|_| get_tag_data())
}

/// Gives the current process the tag of a message that it has received. Does nothing in a task that is not a process.
pub(crate) fn on_receive(tag: Option<Tag>) {
    // It may come from another program over the network, and spreads from here.
    if tag.is_some() {
        ANY_SPREADS.get().store(true, Ordering::Relaxed);
    }
    if any_spreads() {
        let _ = scope::change(&TAGS, move |tags| tags.receive(tag));
    }
}

/// Wraps the future of a process that the current one starts.
pub(crate) fn of_new_process<F>(future: F) -> Tagged<F> {
    let mut tags = TagState::NONE;
    tags.receive(sent());
    Scoped::new(&TAGS, tags, future)
}
