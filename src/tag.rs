//! User tags.
