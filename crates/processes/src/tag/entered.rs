//! Tags that are in force between two calls on one thread.
//!
//! Each thread has a list of its entered tags. A tag counts only in the place in which it was entered: in the same tokio task, and in the
//! same poll of the innermost scope. So a guard that is kept too long, or never dropped, does not reach other tasks.
//!
//! Spans have a list of their own, see `span`.

use std::marker::PhantomData;
use std::mem;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use dyntrace_probes::host::ProgramWide;

use super::span::EnteredSpan;
use super::state::ANY;
use super::{TAGS, Tag};
use crate::scope::{self, PollPlace, Slot, own_slot};

use crate::scope::ForGuests;

/// The entered tags and spans of a thread.
pub struct EnteredTags {
    /// Both in the order in which they were entered.
    tags: Vec<Entry<Tag>>,
    /// The tag of a span is looked up when an operation needs it.
    spans: Vec<Entry<EnteredSpan>>,
    /// The number of the last entry.
    last: u64,
}

struct Entry<W> {
    /// Counted by the thread.
    number: u64,
    place: PollPlace,
    what: W,
}

pub static ENTERED: Slot<EnteredTags> = Slot::new();

own_slot! {
    impl Own for EnteredTags, in ENTERED {
        const NOTHING: Self = EnteredTags { tags: Vec::new(), spans: Vec::new(), last: 0 };

        fn is_nothing(&self) -> bool {
            self.tags.capacity() == 0 && self.spans.capacity() == 0
        }
    }
}

/// For guests.
pub static FOR_GUESTS: ForGuests<EnteredTags> = ForGuests::new();

/// Whether this program ever entered a tag; until then operations skip the look-up.
pub static ANY_ENTERED: ProgramWide<AtomicBool> = ProgramWide::new(AtomicBool::new(false));

/// Puts `tag` before the tag of the current process until the returned guard is dropped. [`get_tag_data`](crate::get_tag_data) returns it,
/// and operations carry it.
///
/// It works everywhere, also in tokio tasks that dyntrace did not start, and costs a few nanoseconds if `tag` is a [`Tag`] already. Calls
/// nest: the tag entered last counts. Guards may be dropped in any order.
///
/// A tag counts only in the task, and in the innermost [`with_tag`](crate::with_tag) future or spawned process, in which it was entered.
/// A `with_tag` future that is polled while the guard lives has its own tag. [`put_tag`](crate::put_tag) and
/// [`take_tag`](crate::take_tag) change the tag of the process behind it. Messages and spawned processes carry an entered tag if the
/// process [spreads](crate::spread_tag) its tag; under `with_tag`, spawned processes carry it in any case.
///
/// In the last destructors of a thread it does nothing.
///
/// # Across awaits
///
/// Do not hold a guard across an await: use [`with_tag`](crate::with_tag) there. The tag stays behind on the thread, where no other tokio
/// task sees it. The task itself sees it only while it runs on that thread, and under `with_tag` or in a process of
/// [`dyntrace::spawn`](crate::spawn) only until the next await. In other runtimes, the next tasks of the thread see it.
///
/// A guard that is forgotten is one that is kept until its thread ends.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), tokio::task::JoinError> {
/// let tag = dyntrace::Tag::from("request 7");
/// let task = tokio::spawn(async move {
///     let entered = dyntrace::enter_tag(&tag);
///     let inside = dyntrace::get_tag_data();
///     drop(entered);
///     (inside, dyntrace::get_tag_data())
/// });
/// let (inside, after) = task.await?;
/// assert_eq!((inside.as_deref(), after), (Some("request 7"), None));
/// # Ok(())
/// # }
/// ```
///
/// The guard stays on its thread:
///
/// ```compile_fail,E0277
/// let entered = dyntrace::enter_tag("request 7");
/// std::thread::spawn(move || drop(entered));
/// ```
pub fn enter_tag(tag: impl Into<Tag>) -> EnteredTag {
    let tag = tag.into();
    EnteredTag { number: push(|entered| &mut entered.tags, tag), stays: PhantomData }
}

/// Puts the tag of a span in force until its exit, like [`enter_tag`]. In the last destructors of a thread it does nothing.
#[inline]
pub fn enter_span(span: EnteredSpan) {
    push(|entered| &mut entered.spans, span);
}

/// Ends the last stay of this thread in a span, if there is one. Returns when it began, if that was asked for.
#[inline]
pub fn exit_span(layer: u64, id: u64) -> Option<Instant> {
    scope::change_any(&ENTERED, |entered| {
        let spans = &mut entered.spans;
        let place = spans.iter().rposition(|entry| entry.what.id == id && entry.what.layer == layer)?;
        let since = spans[place].what.since;
        if place + 1 == spans.len() {
            spans.truncate(place);
        } else {
            spans.remove(place);
        }
        since
    })?
}

/// Adds an entry and returns its number. `None` in the last destructors of the thread.
#[inline]
fn push<W>(list: impl FnOnce(&mut EnteredTags) -> &mut Vec<Entry<W>>, what: W) -> Option<u64> {
    // Only this thread reads the entry.
    ANY_ENTERED.set();
    ANY.set();
    let place = scope::place(&TAGS)?;
    scope::change_any(&ENTERED, |entered| {
        entered.last += 1;
        let number = entered.last;
        list(entered).push(Entry { number, place, what });
        number
    })
}

/// A tag that is in force until this is dropped. [`enter_tag`] returns it.
#[must_use = "the tag is in force only until this is dropped"]
#[derive(Debug)]
pub struct EnteredTag {
    /// `None` if the tag could not be entered.
    number: Option<u64>,
    /// Not `Send`: only its own thread can take the tag out of the list.
    stays: PhantomData<*const ()>,
}

impl EnteredTag {
    /// Replaces the tag. The order of the entered tags stays the same.
    ///
    /// ```
    /// let outer = dyntrace::enter_tag("unknown");
    /// let inner = dyntrace::enter_tag("step 1");
    /// outer.set("request 7");
    /// assert_eq!(dyntrace::get_tag_data().as_deref(), Some("step 1"));
    /// drop(inner);
    /// assert_eq!(dyntrace::get_tag_data().as_deref(), Some("request 7"));
    /// ```
    pub fn set(&self, tag: impl Into<Tag>) {
        let tag = tag.into();
        // Dropped here, outside of the change.
        let _old = self.change(move |list, place| mem::replace(&mut list[place].what, tag));
    }

    fn change<R>(&self, change: impl FnOnce(&mut Vec<Entry<Tag>>, usize) -> R) -> Option<R> {
        let number = self.number?;
        scope::change_any(&ENTERED, |entered| {
            let place = entered.tags.iter().rposition(|entry| entry.number == number)?;
            Some(change(&mut entered.tags, place))
        })?
    }
}

impl Drop for EnteredTag {
    fn drop(&mut self) {
        // Dropped here, outside of the change.
        let _entry = self.change(Vec::remove);
    }
}

/// Returns the tag entered last in this place.
#[inline]
pub(super) fn innermost() -> Option<Tag> {
    if ANY_ENTERED.is_set() { of_this_place() } else { None }
}

fn of_this_place() -> Option<Tag> {
    let mut before = u64::MAX;
    loop {
        // Nothing is borrowed during the look-up of a span.
        match last_of_this_place(before)? {
            Last::Tag(tag) => return Some(tag),
            Last::Span(number, span) => match span.tag() {
                None => before = number,
                found => return found,
            },
        }
    }
}

enum Last {
    Tag(Tag),
    /// Its number comes first.
    Span(u64, EnteredSpan),
}

/// Returns the last entry of this place, of those whose numbers are below `before`.
fn last_of_this_place(before: u64) -> Option<Last> {
    let mut found = None;
    scope::look(&ENTERED, |entered| {
        if entered.tags.is_empty() && entered.spans.is_empty() {
            return;
        }
        let Some(place) = scope::place(&TAGS) else { return };
        found = match (last(&entered.tags, place, before), last(&entered.spans, place, before)) {
            (Some(tag), span) if span.is_none_or(|span| span.number < tag.number) => Some(Last::Tag(tag.what.clone())),
            (_, span) => span.map(|span| Last::Span(span.number, span.what)),
        };
    });
    found
}

fn last<W>(list: &[Entry<W>], place: PollPlace, before: u64) -> Option<&Entry<W>> {
    list.iter().rev().find(|entry| entry.number < before && entry.place == place)
}
