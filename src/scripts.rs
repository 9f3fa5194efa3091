//! Room scripts.
