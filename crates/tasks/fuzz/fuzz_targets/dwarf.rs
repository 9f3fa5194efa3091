//! Any debug information is read within the limits, without a panic: `cargo +nightly fuzz run dwarf` in `crates/tasks`.
#![no_main]

use dyntrace_tasks::hostile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| hostile::dwarf(bytes));
