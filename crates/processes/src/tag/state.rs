//! A tag, and the tag state of a process.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dyntrace_probes::host::ProgramWide;
use dyntrace_probes::text::Text;

/// Whether this program ever made a tag or entered a span; until then operations skip the look-up. A thread that has a tag has set
/// this itself, or received it together with the tag.
pub static ANY: ProgramWide<AtomicBool> = ProgramWide::new(AtomicBool::new(false));

/// A user tag: a text that is cheap to clone.
///
/// Tracers see it like every string argument: cut at a NUL, and at [`Buffer::LIMIT`](crate::sdt::Buffer::LIMIT) bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tag(Arc<str>);

impl Deref for Tag {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Tag {
    fn new(text: Arc<str>) -> Tag {
        ANY.set();
        Tag(text)
    }
}

impl From<&str> for Tag {
    fn from(text: &str) -> Tag {
        Tag::new(text.into())
    }
}

impl From<String> for Tag {
    fn from(text: String) -> Tag {
        Tag::new(text.into())
    }
}

impl From<&Tag> for Tag {
    fn from(tag: &Tag) -> Tag {
        tag.clone()
    }
}

impl<'a> From<&'a Tag> for Text<'a> {
    fn from(tag: &'a Tag) -> Self {
        Text::from(&**tag)
    }
}

/// The tag state of a process: its tag, the tag it received last, and whether it spreads. [`spread_tag`](crate::spread_tag) returns
/// it, [`restore_tag`](crate::restore_tag) restores it.
#[derive(Clone, Debug)]
pub struct TagState {
    pub(super) own: Option<Tag>,
    pub(super) received: Option<Tag>,
    pub(super) spreads: bool,
    /// The tag is that of an operation: processes that the current one starts have it as their own.
    pub(super) of_operation: bool,
}

impl TagState {
    pub(super) const NONE: TagState = TagState { own: None, received: None, spreads: false, of_operation: false };

    /// The tag that operations carry.
    pub(super) fn in_force(&self) -> Option<&Tag> {
        self.own.as_ref().or(self.received.as_ref())
    }

    /// Takes the tag of a received message: a tag spreads further, and a message without a tag ends the spreading.
    pub(super) fn receive(&mut self, tag: Option<Tag>) {
        self.spreads = tag.is_some();
        self.received = tag;
    }
}
