//! Compares the notes of the same probes by dyntrace, the `usdt` crate and the `probe` crate, in one executable.
//!
//! The test names each intended difference. Not covered: `usdt` ends the build at a seventh
//! argument, so `efile_drv-entry` is beyond it; and its back end is chosen for the host of the build, so this test is not
//! for cross builds.
#![cfg(all(not(dyntrace_without_probes), target_os = "linux", target_arch = "x86_64"))]

mod stapsdt;

use stapsdt::Note;

pub mod ours {
    #![allow(missing_docs)]
    use dyntrace::sdt as __sdt;

    include!("../crates/build/tests/golden/shop.rs");
}

#[usdt::provider(provider = "usdt_shop")]
mod usdt_shop {
    fn order__paid(name: &str, cents: u32) {}
    fn order__return(kind: i32, status: u8, balance: i64) {}
    fn tick() {}
}

/// Fires every probe of all three.
fn fire() {
    ours::order::paid(|| ("a name", 5));
    ours::order::r#return(|| (1, 2, 3));
    ours::tick(|| ());

    usdt_shop::order__paid!(|| ("a name", 5u32));
    usdt_shop::order__return!(|| (1, 2u8, 3i64));
    usdt_shop::tick!(|| ());

    let name = c"a name".as_ptr();
    probe::probe_lazy!(probe_shop, order__paid, name, 5);
    probe::probe_lazy!(probe_shop, order__return, 1, 2, 3);
    probe::probe_lazy!(probe_shop, tick);
    dyntrace::probe!(probe_shop, one_off, 7);
}

/// Returns the only note with this provider and name.
fn note<'a>(notes: &'a [Note], provider: &str, name: &str) -> &'a Note {
    let mut found = notes.iter().filter(|note| note.provider == provider && note.name == name);
    let note = found.next().unwrap_or_else(|| panic!("no note {provider}:{name} in {notes:#?}"));
    assert!(found.next().is_none(), "two notes {provider}:{name}");
    note
}

#[test]
fn notes_agree_with_those_of_other_crates() {
    fire();
    let (file, notes) = stapsdt::own();
    for (name, name_in_tools) in [("order__paid", "order-paid"), ("order__return", "order-return"), ("tick", "tick")] {
        let ours = note(&notes, "shop", name);
        // Intended: `usdt` writes the hyphen into the note. dyntrace writes `__` like C's macros and `probe`. SystemTap and DTrace read
        // both alike; bpftrace, perf and gdb know only the note's spelling.
        let usdt = note(&notes, "usdt_shop", name_in_tools);
        let probe = note(&notes, "probe_shop", name);

        assert_eq!(ours.arguments.len(), usdt.arguments.len(), "{name}");
        assert_eq!(ours.arguments.len(), probe.arguments.len(), "{name}");
        for other in [ours, usdt, probe] {
            assert_ne!(other.semaphore, 0, "{name}: is-enabled by semaphore");
            assert_eq!(other.base, ours.base, "{name}: one base for all");
            // Intended: the byte at the address is a nop in all of them; dyntrace's site has a second one, for newer kernels.
            assert!(matches!(stapsdt::instruction(&file, other.location, 1)[..], [0x90 | 0x0f]), "{name}");
        }
    }
}

#[test]
fn sizes_are_those_of_the_definition() {
    fire();
    let (_, notes) = stapsdt::own();
    let sizes = |provider: &str, name: &str| note(&notes, provider, name).sizes().join(" ");
    assert_eq!(sizes("shop", "order__paid"), "8 4");
    assert_eq!(sizes("usdt_shop", "order-paid"), "8 4");
    // Intended: `probe` has no types and passes everything as a signed word.
    assert_eq!(sizes("probe_shop", "order__paid"), "-8 -8");

    // Intended: the second argument is an `unsigned char`. dyntrace widens it, as some tracers misread registers of one byte.
    assert_eq!(sizes("shop", "order__return"), "-4 4 -8");
    assert_eq!(sizes("usdt_shop", "order-return"), "-4 1 -8");
}

#[test]
fn a_one_off_probe_has_no_semaphore() {
    fire();
    let (_, notes) = stapsdt::own();
    assert_eq!(note(&notes, "probe_shop", "one_off").semaphore, 0);
}
