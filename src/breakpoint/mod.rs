//! Trace settings: which functions are traced, for whom, and what is done when one is called.

pub mod pattern;
pub mod value;
