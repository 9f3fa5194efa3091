//! Any metadata, of either format, gives a trace or an error: `cargo +nightly fuzz run metadata` in `crates/reader`.
#![no_main]

use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

use dyntrace_reader::Trace;
use libfuzzer_sys::fuzz_target;

/// Returns a folder with the events of the golden trace.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder").keep();
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/golden/shop-12/");
    for file in ["ring-1", "ring-2", "process"] {
        fs::copy(format!("{golden}{file}"), folder.join(file)).expect("the golden events");
    }
    folder
});

fuzz_target!(|text: &[u8]| {
    fs::write(FOLDER.join("metadata"), text).expect("a file");
    if let Ok(trace) = Trace::open(&*FOLDER) {
        for event in trace.events() {
            assert_eq!(event.fields().count(), event.class.fields.len());
        }
    }
});
