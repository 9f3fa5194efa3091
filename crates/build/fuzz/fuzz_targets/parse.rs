//! Any text makes a provider or an error: `cargo +nightly fuzz run parse` in `crates/build`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(provider) = dyntrace_build::parse(text, "fuzz.d") {
        dyntrace_build::generate(&provider);
    }
});
