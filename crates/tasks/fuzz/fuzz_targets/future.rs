//! Any debug information and any memory make a chain within the limits, or none: `cargo +nightly fuzz run future` in `crates/tasks`.
#![no_main]

use dyntrace_tasks::hostile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| hostile::future(bytes));
