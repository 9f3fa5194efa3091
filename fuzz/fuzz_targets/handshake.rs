//! Any bytes that a peer sends in the handshake, and any answer of an epmd, are refused or parsed without a panic:
//! `cargo +nightly fuzz run handshake`.
#![no_main]

use dyntrace::dist::hostile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    hostile::handshaking(bytes);
    hostile::epmd(bytes);
});
