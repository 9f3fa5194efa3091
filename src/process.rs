//! Room process.
