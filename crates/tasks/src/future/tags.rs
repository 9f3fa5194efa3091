//! User tags of dyntrace: of tasks, and of futures under `with_tag`.

use super::texts::text;
use super::value::{Value, Values};
use super::walk::Walk;

impl Walk<'_, '_> {
    /// Returns the tag that operations of a future carry, of the wrapper that keeps it between polls.
    pub(super) fn user_tag(&self, scoped: &Value) -> Option<String> {
        // during a poll the wrapper has the tag of the code around it
        let state = self.steady.follow(scoped, &["scope", "value"]).filter(|_| !self.ran())?;
        ["own", "received"].iter().find_map(|field| tag(&self.steady, &self.steady.field(&state, field)?))
    }
}

/// Reads an `Option` of a tag: a wrapped `Arc<str>`.
pub(crate) fn tag(values: &Values<'_, '_>, tag: &Value) -> Option<String> {
    let shared = values.follow(tag, &["?", "__0", "ptr", "pointer"])?;
    let begin = values.field(&shared, "data_ptr")?;
    let length = values.number(&values.field(&shared, "length")?)?;
    // the text stands behind two counters of the size of a pointer
    text(values, values.number(&begin)?.checked_add(2 * begin.kind.size)?, length)
}
