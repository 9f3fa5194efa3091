//! Reading ends for any bytes in an event file, plain or circular: `cargo +nightly fuzz run events` in `crates/reader`. A good
//! corpus is `crates/reader/tests/golden/shop-12`.
#![no_main]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use dyntrace_reader::{Selection, Trace, finish, recover};
use libfuzzer_sys::fuzz_target;

/// Returns folders with the metadata of the golden trace, reduced to few events, as it is read for each input. Packets of the
/// second trace have checksums.
static FOLDERS: LazyLock<[PathBuf; 2]> = LazyLock::new(|| [false, true].map(folder));

fn folder(checksums: bool) -> PathBuf {
    let folder = tempfile::tempdir().expect("a folder").keep();
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/golden/shop-12/metadata");
    fs::create_dir_all(folder.join("trace/.rings")).expect("a folder");
    let text = fs::read_to_string(golden).expect("the golden metadata");
    let kept =
        |line: &&str| !line.starts_with("event") || line.contains("efile_drv-return") || line.contains("recorder:lost");
    let mut text: String = text.split_inclusive('\n').filter(kept).collect();
    if checksums {
        let word = "integer { size = 64; align = 8; signed = false; }";
        text = text.replace(" tid; };", &format!(" tid; {word} ring; {word} checksum; }};"));
    }
    fs::write(folder.join("trace/metadata"), text).expect("the metadata");
    folder
}

fuzz_target!(|bytes: &[u8]| {
    FOLDERS.iter().for_each(|folder| read(folder, bytes));
});

fn read(folder: &Path, bytes: &[u8]) {
    let (trace, out) = (folder.join("trace"), folder.join("out"));
    for file in ["ring-1", ".rings/ring-1"] {
        fs::write(trace.join(file), bytes).expect("a file");
    }
    let selection = Selection::new().tag("a*").failed();
    let opened = Trace::open(&trace).expect("the metadata is good");
    let mut read = 0;
    for event in opened.events() {
        for (position, (_, value)) in event.fields().enumerate() {
            assert_eq!(event.value(position), Some(value));
        }
        selection.matches(&event);
        read += 1;
    }
    opened.losses();
    drop(opened);

    let recovered = recover(&trace, &out).expect("a plain trace");
    let again = Trace::open(&out).expect("a plain trace");
    assert_eq!(again.events().count() as u64, recovered.events);
    assert!(recovered.events >= read);
    fs::remove_dir_all(&out).expect("the plain trace");
    finish(&trace).expect("a trace");
}
