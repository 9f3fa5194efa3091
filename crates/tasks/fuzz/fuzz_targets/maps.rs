//! Any text of a process's mappings is read without a panic: `cargo +nightly fuzz run maps` in `crates/tasks`.
#![no_main]

use dyntrace_tasks::hostile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| hostile::maps(bytes));
