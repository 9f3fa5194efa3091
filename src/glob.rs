//! Patterns with `*` and `?`, shared with readers of traces.

pub use dyntrace_metadata::Glob;
