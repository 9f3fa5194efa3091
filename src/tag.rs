//! User tags: on whose behalf an operation runs.
//!
//! A tag is a short text that the application attaches to its current process: a request number, a customer, a phase.
//! Operations carry it to every probe, so a tracer can tell them apart.
//!
//! The functions are those of Erlang's `dyntrace` module, and [`with_tag`].
//!
//! # Whose tag
//!
//! | where | whose tag [`put_tag`] sets |
//! |---|---|
//! | in a future under [`with_tag`] | that future's, the innermost |
//! | in a task started with [`dyntrace::spawn`](crate::spawn) | that task's |
//! | in any other tokio task, or a `spawn_blocking` closure | nobody's: it refuses |
//! | anywhere else, the future given to tokio's `block_on` included | the thread's |
//!
//! A tag of a future or task goes with it across awaits and threads, and is never seen by another task of the same
//! thread. A thread's tag is seen only by that thread, and not inherited by threads or tasks that it starts.
//!
//! Why tokio's own tasks are refused: tokio tells nobody when such a task ends, so its tag would stay for ever, or be
//! found by the next task.
//!
//! # Other runtimes
//!
//! In tasks of other runtimes [`with_tag`] is the only way. Nothing tells such a task from its thread, so there `put_tag`
//! sets the thread's tag, which the next task polled on that thread would see, and this one would lose with its thread.
//!
//! # `join!`, `select!`, streams of futures
//!
//! Their branches are parts of one task and share its tag: after `put_tag` in one, the others see it. Give each branch
//! its own with [`with_tag`].

mod state;

use std::cell::RefCell;
use std::mem;
use std::pin::Pin;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use crate::host::ProgramWide;
use crate::scope::{self, Door, Own, Refusal, Scope, Scoped, Slot};

pub use state::{Tag, TagState};

thread_local! {
    static OWN: RefCell<Scope<TagState>> = const { RefCell::new(Scope::of_thread(TagState::NONE)) };
}

pub(crate) static TAGS: Slot<TagState> = Slot::new(&OWN);

impl Own for TagState {}

/// For guests.
pub(crate) static DOOR: Door<TagState> = Door::new(|| OWN.try_with(ptr::from_ref).unwrap_or(ptr::null()));

/// Whether a tag was ever made to travel in this program; until then nobody need ask whether one does.
pub(crate) static ANY_SPREADS: ProgramWide<AtomicBool> = ProgramWide::new(AtomicBool::new(false));

/// A future whose tags are `TagState` of its own.
pub(crate) type Tagged<F> = Scoped<TagState, F>;

/// Why a tag could not be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TagError {
    /// The code runs in a tokio task, or a `spawn_blocking` closure, that is not a process.
    #[error(
        "cannot set the user tag of a task that dyntrace did not start, because nothing would remove it at the task's end: \
         start the task with dyntrace::spawn, or wrap its future in dyntrace::with_tag"
    )]
    ForeignTask,
    /// The code runs in the last destructors of a thread, or in a signal handler that came while the tag was changed.
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

/// Sets the tag of the current process, and returns the one before.
///
/// # Errors
///
/// [`TagError::ForeignTask`] in a tokio task that neither [`dyntrace::spawn`](crate::spawn) nor [`with_tag`] covers.
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

/// Removes the tag of the current process and returns it. (In Erlang: `put_tag(undefined)`.)
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

/// The tag that the current process has set, if any.
pub fn get_tag() -> Option<Tag> {
    scope::read(&TAGS, |tags| tags.own.as_ref())
}

/// The tag that operations of the current process carry: its own, else the one last received.
pub fn get_tag_data() -> Option<Tag> {
    scope::read(&TAGS, TagState::in_force)
}

/// Says whether the tag of the current process travels with what it sends, and returns the whole state before, for
/// [`restore_tag`].
///
/// While it travels, a task started with [`dyntrace::spawn`](crate::spawn) receives it, and passes it on to those that it
/// starts. A process starts with `false`, or with `true` where it received a tag. In a tokio task that is not a process
/// there is no tag: this does nothing.
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
        // Relaxed: a process sees the tags it has made to travel or received itself, and this with them.
        ANY_SPREADS.get().store(true, Ordering::Relaxed);
    }
    scope::change(&TAGS, |tags| {
        let before = tags.clone();
        tags.spreads = spread;
        before
    })
    .unwrap_or(TagState::NONE)
}

/// Puts back the state that [`spread_tag`] returned: tag, received tag and whether they travel. It may come from another
/// process.
///
/// # Errors
///
/// Those of [`put_tag`], but only where a tag would be lost: a state without one can be put back anywhere.
pub fn restore_tag(data: TagState) -> Result<(), TagError> {
    let has_tag = data.in_force().is_some();
    match scope::change(&TAGS, move |tags| mem::replace(tags, data)) {
        Err(refusal) if has_tag => Err(refusal.into()),
        _ => Ok(()),
    }
}

/// Runs `future` with a tag of its own, in any runtime.
///
/// Inside, [`put_tag`] and the others change this future's state only; it ends with the future. Whether the tag
/// [travels](spread_tag) is taken from where `with_tag` is called. It nests: the innermost counts. The process stays the
/// same.
///
/// Cancellation: dropped early, the future sees its own tag while it is dropped.
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

/// Whether a message can have a tag with it.
#[inline]
pub(crate) fn any_spreads() -> bool {
    ANY_SPREADS.get().load(Ordering::Relaxed)
}

/// What the current process sends along: its tag while that travels.
pub(crate) fn sent() -> Option<Tag> {
    scope::read(&TAGS, |tags| tags.in_force().filter(|_| tags.spreads))
}

/// The current process has received what came with a message. Where it cannot have a tag, that is dropped.
pub(crate) fn on_receive(tag: Option<Tag>) {
    // It may come of another program, over the network, and goes on from here.
    if tag.is_some() {
        ANY_SPREADS.get().store(true, Ordering::Relaxed);
    }
    if any_spreads() {
        let _ = scope::change(&TAGS, move |tags| tags.receive(tag));
    }
}

/// The future of a process that the current one starts.
pub(crate) fn of_new_process<F>(future: F) -> Tagged<F> {
    let mut tags = TagState::NONE;
    tags.receive(sent());
    Scoped::new(&TAGS, tags, future)
}
