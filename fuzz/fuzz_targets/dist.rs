//! Any bytes that a peer sends after its handshake are refused, or decoded within the limits and without a panic:
//! `cargo +nightly fuzz run dist`.
#![no_main]

use dyntrace::dist::hostile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    hostile::connection(bytes);
    // As if each were a message: the fuzzer need not find out about frames first.
    hostile::message(bytes);
});
