//! Messages between this program and real Erlang nodes, over loopback.
//!
//! Without Erlang on the machine the tests print SKIPPED; with `erlang` in DYNTRACE_REQUIRE they fail.

mod bonds;
mod budgets;
#[cfg(target_os = "linux")]
#[path = "../common/command.rs"]
mod command;
mod cuts;
mod ends;
mod erl;
mod example;
mod floods;
mod garbage;
mod held;
mod hostile;
mod messages;
#[path = "../common/missing.rs"]
mod missing;
#[cfg(target_os = "linux")]
mod nested;
mod ours;
mod probes;
mod refused;
mod runtimes;
mod silence;
mod slow;
mod strangers;
#[cfg(feature = "dist-tls")]
mod tls;
mod tokens;
