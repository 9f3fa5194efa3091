//! Compiles D provider definitions into Rust probe functions.

/// Compiles the provider definition at `path`.
pub fn compile(path: impl AsRef<std::path::Path>) {
    let _ = path;
}
