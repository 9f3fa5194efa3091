//! The programs are of other packages: Cargo.toml has their paths.
