//! Messages between this program and real Erlang nodes, over loopback.
//!
//! Without Erlang on the machine the tests that need it say SKIPPED; with DYNTRACE_REQUIRE_ERLANG they fail.

mod bonds;
mod cuts;
mod erl;
mod example;
mod floods;
mod messages;
mod ours;
mod probes;
mod refused;
mod runtimes;
mod silence;
#[cfg(feature = "dist-tls")]
mod tls;
mod tokens;
