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

/// The tag of a span that has one, or may get one.
#[derive(Debug)]
pub(crate) struct SpanTag {
    pub(crate) tag: Option<Tag>,
    /// The place of its field in the list of fields: the value of an earlier one replaces it.
    rank: usize,
}

impl SpanTag {
    /// Whether this goes before a tag that is known.
    pub(crate) fn goes_before(&self, known: &SpanTag) -> bool {
        self.tag.is_some() && self.rank <= known.rank
    }
}

impl Rules {
    /// Whether spans like this may have a tag of their own.
    pub(crate) fn concern(&self, metadata: &Metadata<'_>) -> bool {
        self.name_is_tag(metadata) || metadata.fields().iter().any(|field| self.rank(&field).is_some())
    }

    /// Finds the tag in fields. `values` gives those that have values to a visitor.
    pub(crate) fn find(&self, values: impl FnOnce(&mut Finder<'_>)) -> SpanTag {
        let mut finder = Finder { rules: self, found: SpanTag { tag: None, rank: LAST } };
        values(&mut finder);
        finder.found
    }

    /// Returns the tag of a new span without a field that is one: by its name, or inherited.
    pub(crate) fn without_field(
        &self,
        metadata: &Metadata<'_>,
        inherited: impl FnOnce() -> Option<Tag>,
    ) -> Option<Tag> {
        if self.name_is_tag(metadata) {
            Some(Tag::from(metadata.name()))
        } else if self.inherit {
            inherited()
        } else {
            None
        }
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
    /// The best so far: a field of a higher rank does not replace it.
    found: SpanTag,
}

impl Finder<'_> {
    fn rank(&self, field: &Field) -> Option<usize> {
        self.rules.rank(field).filter(|rank| *rank <= self.found.rank)
    }

    fn see(&mut self, field: &Field, rank: usize, text: &str) {
        let text = if field.name() == TRACEPARENT { trace_context::trace_id(text) } else { Some(text) };
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            self.found = SpanTag { tag: Some(Tag::from(text)), rank };
        }
    }
}

impl Visit for Finder<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if let Some(rank) = self.rank(field) {
            self.see(field, rank, value);
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if let Some(rank) = self.rank(field) {
            self.see(field, rank, &format!("{value:?}"));
        }
    }
}
