//! Which spans have a tag, and which.

use std::borrow::Cow;
use std::fmt;

use dyntrace::Tag;
use tracing_core::Metadata;
use tracing_core::field::{Field, Visit};

use crate::trace_context;

/// The field that is a header of W3C's Trace Context.
const TRACEPARENT: &str = "traceparent";

/// A rank after those of all fields.
const LAST: usize = usize::MAX;

#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) fields: Vec<Cow<'static, str>>,
    pub(crate) spans: Vec<Cow<'static, str>>,
    pub(crate) inherit: bool,
}

impl Default for Rules {
    fn default() -> Rules {
        let fields = ["request_id", "trace_id", TRACEPARENT];
        Rules { fields: fields.map(Cow::Borrowed).into(), spans: Vec::new(), inherit: true }
    }
}

/// In the extensions of a span that has a tag, or may get one.
#[derive(Clone, Debug)]
pub(crate) struct SpanTag {
    pub(crate) tag: Option<Tag>,
    /// The place of its field in the list of fields: the value of an earlier one replaces it.
    rank: usize,
}

impl Rules {
    /// Whether spans like this may have a tag of their own.
    pub(crate) fn concern(&self, metadata: &Metadata<'_>) -> bool {
        self.name_is_tag(metadata) || metadata.fields().iter().any(|field| self.rank(&field).is_some())
    }

    /// Returns the tag that a new span has by its name, or inherits.
    pub(crate) fn of_new(&self, metadata: &Metadata<'_>, inherited: impl FnOnce() -> Option<Tag>) -> SpanTag {
        let tag = if self.name_is_tag(metadata) {
            Some(Tag::from(metadata.name()))
        } else if self.inherit {
            inherited()
        } else {
            None
        };
        SpanTag { tag, rank: LAST }
    }

    /// Finds the tag in fields with values.
    pub(crate) fn finder(&self) -> Finder<'_> {
        Finder { rules: self, found: None }
    }

    fn name_is_tag(&self, metadata: &Metadata<'_>) -> bool {
        self.spans.iter().any(|name| name == metadata.name())
    }

    fn rank(&self, field: &Field) -> Option<usize> {
        self.fields.iter().position(|name| name == field.name())
    }
}

/// Looks for a tag in fields with values.
pub(crate) struct Finder<'r> {
    rules: &'r Rules,
    found: Option<(usize, String)>,
}

impl Finder<'_> {
    /// Puts the found tag in place of `known`, if its field has the precedence. Returns whether it did.
    pub(crate) fn replace(self, known: &mut SpanTag) -> bool {
        match self.found {
            Some((rank, text)) if rank <= known.rank => {
                *known = SpanTag { tag: Some(Tag::from(text)), rank };
                true
            }
            _ => false,
        }
    }

    fn see(&mut self, field: &Field, text: impl FnOnce() -> String) {
        let Some(rank) = self.rules.rank(field) else { return };
        if self.found.as_ref().is_some_and(|(found, _)| *found < rank) {
            return;
        }
        let text = text();
        let text =
            if field.name() == TRACEPARENT { trace_context::trace_id(&text).map(str::to_owned) } else { Some(text) };
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.found = Some((rank, text));
        }
    }
}

impl Visit for Finder<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.see(field, || value.to_owned());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.see(field, || format!("{value:?}"));
    }
}
