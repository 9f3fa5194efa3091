//! Checks whether every tracer can find a program's probes and read their arguments.

use std::collections::{BTreeMap, BTreeSet};

use dyntrace_programs::elf::{Note, Object, OperandPlace, Segment};
use dyntrace_programs::provider::{self, Providers};
use object::elf;

use super::finding::Finding;

/// With this flag, file offsets of text are addresses.
const LAYOUT_FLAG: &str = "link with -z separate-code: call dyntrace_build::link_for_tracers() in build.rs, \
                           or build with RUSTFLAGS=\"-Clink-arg=-Wl,-z,separate-code\"";
/// Puts semaphores into pages of their own in the file.
const OWN_PAGE: &str = "fire the probe by a function that dyntrace_build generates, whose semaphores begin on a page of their own, \
                        or link with rust-lld's -z separate-loadable-segments";

/// `has_tasks`: the program has tasks, which are read without probes.
pub fn check(object: &Object, providers: &Providers, has_tasks: bool) -> Vec<Finding> {
    if object.notes.is_empty() && object.broken.is_empty() {
        let remedy = object.loss_of_notes().unwrap_or(
            "make it call a probe of dyntrace's, build it without --cfg dyntrace_without_probes, and do not strip the section .note.stapsdt",
        );
        let finding = if has_tasks { Finding::warn } else { Finding::fail };
        return vec![finding("probes", "the file has none", remedy)];
    }
    vec![notes(object, providers), operands(object), base(object), sites(object), semaphores(object), layout(object)]
}

/// The notes can be read and fit the definitions.
fn notes(object: &Object, providers: &Providers) -> Finding {
    if let Some(broken) = object.broken.first() {
        let remedy = "build it again; the assembler or linker wrote a damaged section .note.stapsdt";
        return Finding::fail("notes", broken, remedy);
    }
    for note in &object.notes {
        if let Some(difference) = providers.probe(note).and_then(|probe| provider::difference(note, probe)) {
            let text = format!("{}:{}: {difference}", note.provider, note.tool_name());
            let remedy = "build it with the version of the provider definition that its readers use";
            return Finding::fail("notes", text, remedy);
        }
    }
    let mut by_provider: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for note in &object.notes {
        by_provider.entry(&note.provider).or_default().insert(&note.name);
    }
    let counts: Vec<String> = by_provider
        .iter()
        .map(|(provider, names)| match providers.get(provider) {
            Some(definition) => format!("{} of the {} probes of {provider}", names.len(), definition.probes.len()),
            None => format!("{} probes of {provider}", names.len()),
        })
        .collect();
    Finding::ok("notes", counts.join(", "))
}

/// Every tracer can read the arguments.
fn operands(object: &Object) -> Finding {
    for note in &object.notes {
        for operand in &note.operands {
            let trouble = if operand.is_float {
                "bpftrace and DTrace cannot attach to a floating-point argument"
            } else if !matches!(operand.place, OperandPlace::Register | OperandPlace::Offset) {
                "perf drops arguments that are neither in a register nor at an offset from one"
            } else if !matches!(operand.size, Some(4 | 8)) {
                "perf and SystemTap misread the sign of arguments that are not of 4 or 8 bytes"
            } else {
                continue;
            };
            let text = format!("{}:{}: {}: {trouble}", note.provider, note.tool_name(), operand.text);
            return Finding::warn("arguments", text, "fire this probe by a function that dyntrace_build generates");
        }
    }
    Finding::ok("arguments", "every tracer reads their places and sizes")
}

/// The section .stapsdt.base is there, by which tracers correct addresses.
fn base(object: &Object) -> Finding {
    let text = match object.base {
        _ if object.notes.iter().any(|note| note.base == 0) => {
            "the linker lost .stapsdt.base: tracers look for the sites at wrong addresses"
        }
        None => "the section .stapsdt.base is missing: tracers cannot find the sites",
        Some(0) => "the address of .stapsdt.base is 0",
        Some(_) => return Finding::ok("base", ".stapsdt.base is there"),
    };
    let remedy = "rust-lld drops a section .stapsdt.base that is flagged \"aG\": use probes that flag it \"aGR\", as dyntrace's do";
    Finding::fail("base", text, remedy)
}

/// Every site is code.
fn sites(object: &Object) -> Finding {
    let is_code = |note: &&Note| object.segment(note.location).is_some_and(|segment| segment.executable);
    match object.notes.iter().find(|note| !is_code(note)) {
        None => Finding::ok("sites", format!("{} in code", object.notes.len())),
        Some(note) => Finding::fail(
            "sites",
            format!("{}:{} at {:#x} is not in code", note.provider, note.tool_name(), note.location),
            "build it again without tools that move sections after linking",
        ),
    }
}

/// The kernel can increment every semaphore, and each probe has at most one.
fn semaphores(object: &Object) -> Finding {
    let mut of_probe: BTreeMap<(&str, &str), Option<u64>> = BTreeMap::new();
    for note in &object.notes {
        let probe = format!("{}:{}", note.provider, note.tool_name());
        if let Some(semaphore) = note.semaphore {
            let Some(segment) = object.segment(semaphore).filter(|segment| segment.writable) else {
                let text = format!("that of {probe} at {semaphore:#x} is not in writable memory");
                return Finding::fail("semaphores", text, "put it into a writable section: .probes, flagged \"aw\"");
            };
            if !segment.holds_in_file(semaphore) {
                let text = format!("that of {probe} at {semaphore:#x} is not in the file: tracers cannot name it");
                let remedy = "put it into a section with contents (@progbits), not into .bss";
                return Finding::fail("semaphores", text, remedy);
            }
            if is_mapped_twice(object, segment.offset.saturating_add(semaphore - segment.address)) {
                let text = format!(
                    "that of {probe} shares its page of the file with data that is writable only at the start: \
                     a program that is traced from its start does not notice"
                );
                return Finding::fail("semaphores", text, OWN_PAGE);
            }
        }
        if *of_probe.entry((&note.provider, &note.name)).or_insert(note.semaphore) != note.semaphore {
            let text = format!("the sites of {probe} have different ones");
            let remedy = "fire the probe by one function: some tracers enable only one of its sites";
            return Finding::warn("semaphores", text, remedy);
        }
    }
    match of_probe.iter().find(|(_, semaphore)| semaphore.is_none()) {
        None => Finding::ok("semaphores", "one per probe, writable"),
        Some(((provider, name), _)) => {
            Finding::ok("semaphores", format!("{provider}:{name} has none, so it always fires"))
        }
    }
}

/// The largest page of the kernels that run this object.
fn largest_page(object: &Object) -> u64 {
    if object.machine == elf::EM_AARCH64 { 64 << 10 } else { 4 << 10 }
}

/// Whether two writable segments map the page of the file that holds `offset`. The kernel increments the semaphore in the first one,
/// which may become read-only later (RELRO).
fn is_mapped_twice(object: &Object, offset: u64) -> bool {
    let of_page = !(largest_page(object) - 1);
    let page = offset & of_page;
    let maps = |segment: &&Segment| {
        let first = segment.offset & of_page;
        segment.writable && first <= page && page < segment.offset.saturating_add(segment.file_size)
    };
    object.segments.iter().filter(maps).count() > 1
}

/// Checks that each address of the text section is its offset in the file plus one constant for the whole object.
fn layout(object: &Object) -> Finding {
    let moved = |segment: &Segment| segment.address.wrapping_sub(segment.offset);
    let first = object.segments.first().map_or(0, moved);
    match object.segments.iter().find(|segment| segment.executable && moved(segment) != first) {
        None => Finding::ok("layout", "addresses of text are its offsets in the file"),
        Some(segment) => {
            let (offset, address) = (segment.offset, segment.address.wrapping_sub(first));
            let text = format!(
                "text is at {offset:#x} in the file and at {address:#x} in memory: perf records nothing and SystemTap refuses"
            );
            Finding::fail("layout", text, LAYOUT_FLAG)
        }
    }
}

#[cfg(test)]
mod tests;
