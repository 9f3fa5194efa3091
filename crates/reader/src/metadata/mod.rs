//! Parses the metadata of a process into event classes, clock and names.
//!
//! CTF 1.8: `lexer` makes tokens, `syntax` blocks and types, and `tsdl` interprets them. CTF 2 is JSON, interpreted by `json`. Both accept
//! the recorder's output, with any white space, comments and unknown attributes. The headers of packets and events must be the
//! recorder's: the metadata of another tracer is an error.

mod content;
mod json;
mod lexer;
mod problem;
mod syntax;
#[cfg(test)]
mod tests;
mod tsdl;

use dyntrace_metadata::is_ctf2;

pub(crate) use content::Metadata;
pub(crate) use problem::Problem;

/// Parses the text of a metadata file.
pub(crate) fn parse(text: &str) -> Result<Metadata, Problem> {
    if is_ctf2(text) { json::parse(text) } else { tsdl::parse(text) }
}
