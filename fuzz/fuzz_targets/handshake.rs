//! Whatever a peer of the distribution sends in the handshake, and whatever an epmd answers, is refused or understood without a panic:
//! `cargo +nightly fuzz run handshake`.
#![no_main]

use dyntrace::dist::hostile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    hostile::handshaking(bytes);
    hostile::epmd(bytes);
});
