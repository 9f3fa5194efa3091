//! The programs are examples, of which Cargo.toml has the paths.
