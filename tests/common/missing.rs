//! Tests whose tool is missing.

use std::env;
use std::thread;

/// Prints that the current test skips the parts that need `tool`, and the reason.
///
/// # Panics
///
/// If the environment variable `DYNTRACE_REQUIRE`, a list of tools separated by blanks, contains the tool: the scripts in `ci/` require
/// the tools that they install.
pub fn skip(tool: &str, why: &str) {
    let required = env::var("DYNTRACE_REQUIRE").unwrap_or_default();
    let is_required = required.split_whitespace().any(|name| name == tool);
    assert!(!is_required, "{tool}: {why}, and DYNTRACE_REQUIRE asks for it");
    eprintln!("SKIPPED: {}: {tool}: {why}", thread::current().name().unwrap_or("a test"));
}
