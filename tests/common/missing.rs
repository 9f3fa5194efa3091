//! Tests whose tool is missing.

use std::env;
use std::thread;

/// Says that the current test leaves out what needs `tool`, and why.
///
/// # Panics
///
/// If the environment variable `DYNTRACE_REQUIRE`, a list of tools separated by blanks, names the tool: the scripts in `ci/` require what
/// they install.
pub fn skip(tool: &str, why: &str) {
    let required = env::var("DYNTRACE_REQUIRE").unwrap_or_default();
    let is_required = required.split_whitespace().any(|name| name == tool);
    assert!(!is_required, "{tool}: {why}, and DYNTRACE_REQUIRE asks for it");
    eprintln!("SKIPPED: {}: {tool}: {why}", thread::current().name().unwrap_or("a test"));
}
