//! Problems of a text.

/// A problem with the text, and its line.
#[derive(Debug)]
pub(crate) struct Problem {
    /// The line, from 1.
    pub(crate) line: usize,
    pub(crate) reason: String,
}
