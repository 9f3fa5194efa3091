//! `--slow`: a poll of this time or longer is slow.

use anyhow::anyhow;
use dyntrace_terminal::exit::{self, Failure};

/// The shipped script with slow polls.
pub const TAKER: &str = "task_latency";

/// Fails for a shipped script without slow polls.
pub fn check(slow: Option<i64>, script: &str) -> Result<(), Failure> {
    if slow.is_none() || script == TAKER { Ok(()) } else { Err(refusal(script)) }
}

/// The error for a script without slow polls.
pub fn refusal(script: impl std::fmt::Display) -> Failure {
    Failure::new(exit::USAGE, anyhow!("{script} takes no --slow: only {TAKER} shows slow polls"))
}
