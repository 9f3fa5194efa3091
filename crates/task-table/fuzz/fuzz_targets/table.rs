//! Any table is read within the limits, without a panic: `cargo +nightly fuzz run table` in `crates/task-table`.
#![no_main]

use dyntrace_task_table::Table;
use dyntrace_task_table::layout::{MAGIC, PAGE, SLOT, TEXTS, VERSION, header};
use libfuzzer_sys::fuzz_target;

/// Where the slots begin, after a page of texts.
const SLOTS: usize = TEXTS + PAGE;

fuzz_target!(|bytes: &[u8]| {
    let _ = Table::read(bytes);

    // Behind a sound header, as the magic number is hard to guess: texts and slots of the same bytes.
    let mut table = vec![0; SLOTS];
    let texts = bytes.len().min(PAGE);
    table[TEXTS..][..texts].copy_from_slice(&bytes[..texts]);
    table.extend_from_slice(bytes);
    let slots = bytes.len().div_ceil(SLOT) as u64;
    for (word, value) in [
        (header::MAGIC, MAGIC),
        (header::VERSION, VERSION.into()),
        (header::SLOTS, SLOTS as u64),
        (header::LENGTH, slots),
    ] {
        table[8 * word..][..8].copy_from_slice(&value.to_ne_bytes());
    }
    let read = Table::read(&table[..]).expect("the header is sound");
    assert!(read.tasks.len() as u64 + read.unsettled + read.cut <= slots);
});
