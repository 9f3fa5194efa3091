//! Ring 3: real tracers on real runs. Their output is compared with the program's own count.
//!
//! They run where `DYNTRACE_TRACERS` names the folder of `ci/tracers`, as in `ci/ring3`; `cargo test` alone skips them. There, a test whose
//! tool is missing prints a note and passes; `DYNTRACE_REQUIRE` lists the tools that must not be missing. DTrace and the bpftrace that
//! reads eleven arguments are those of `ci/tracers`.

mod answers;
mod beside;
mod bpftrace;
mod calls;
mod dof;
mod drivers;
mod dtrace;
mod events;
mod five;
mod gdb;
mod hostile;
mod machine;
#[path = "../../../../tests/common/missing.rs"]
mod missing;
mod old_bpftrace;
mod perf;
mod polls;
mod pool;
mod process;
mod programs;
mod recorder;
mod systemtap;
mod tags;
mod tasks;
mod token;
mod waits;
