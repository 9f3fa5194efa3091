//! Any core file, and any program that it is said to be of, is read within the limits, without a panic:
//! `cargo +nightly fuzz run core` in `crates/tasks`.
#![no_main]

use dyntrace_tasks::hostile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| hostile::core(bytes));
