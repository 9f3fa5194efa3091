//! Finds the command `dyntrace` beside the test.

use std::env;
use std::path::PathBuf;

use crate::missing;

/// Returns the command, if it was built.
pub fn dyntrace() -> Option<PathBuf> {
    let dyntrace = env::current_exe().unwrap().ancestors().nth(2).unwrap().join("dyntrace");
    if !dyntrace.exists() {
        missing::skip("dyntrace", "not built: cargo build -p dyntrace-cli");
        return None;
    }
    Some(dyntrace)
}
