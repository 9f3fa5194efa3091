//! The library built for another system, with its own crates, named by `ci/cross`: their objects have one firing site for each probe of
//! provider.d, with the types of the definition. Its recorder has an entry for each of these probes.

mod dof;
mod linker;
#[path = "../common/missing.rs"]
mod missing;

use std::collections::BTreeSet;
use std::{env, fs};

use object::read::archive::ArchiveFile;
use object::{BinaryFormat, File, Object as _, ObjectSection as _};

/// The description of a site.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Site {
    provider: String,
    probe: String,
    /// The C types of the arguments; none for an is-enabled site.
    arguments: Option<Vec<String>>,
}

/// Returns the library that `ci/cross` has built, and its own crates; `None` outside of `ci/cross`.
fn libraries() -> Option<Vec<Vec<u8>>> {
    let Some(paths) = env::var_os("DYNTRACE_BUILT") else {
        missing::skip("built", "ci/cross builds what this looks at");
        return None;
    };
    Some(env::split_paths(&paths).map(|path| fs::read(path).expect("a library")).collect())
}

#[test]
fn the_sites_say_what_the_definition_says() {
    let Some(libraries) = libraries() else { return };
    let objects: Vec<_> = libraries.iter().flat_map(|library| objects(library)).collect();
    let sites = match objects[0].format() {
        BinaryFormat::Elf => dof::sites(&objects),
        BinaryFormat::MachO => linker::sites(&objects),
        other => panic!("no leaf is built for {other:?}"),
    };
    let (mut firing, asking): (Vec<Site>, Vec<Site>) = sites.into_iter().partition(|site| site.arguments.is_some());
    firing.sort();
    let defined = defined();
    assert_eq!(firing, defined);
    // A library contains inlined code only where it calls the function itself.
    let names = |sites: &[Site]| -> BTreeSet<_> {
        sites.iter().map(|site| (site.provider.clone(), site.probe.clone())).collect()
    };
    let (asked, defined) = (names(&asking), names(&defined));
    assert!(!asked.is_empty() && asked.is_subset(&defined), "is-enabled sites: {asked:?}");
}

#[test]
fn the_recorder_has_an_entry_for_each_probe() {
    let Some(libraries) = libraries() else { return };
    let objects: Vec<_> = libraries.iter().flat_map(|library| objects(library)).collect();
    let sections = objects.iter().flat_map(|object| object.sections());
    let entries = sections.filter(|section| section.name() == Ok("dyntrace_probes"));
    let bytes: u64 = entries.map(|section| section.size()).sum();
    // Each is a pointer of 8 bytes; dyntrace-probes has an empty one.
    assert_eq!(bytes / 8, defined().len() as u64 + 1);
}

/// The object files of a library.
fn objects(library: &[u8]) -> Vec<File<'_>> {
    let members = ArchiveFile::parse(library).expect("an archive").members();
    let members = members.map(|member| member.expect("a member of the archive"));
    let objects = members.filter(|member| member.name().ends_with(b".o"));
    objects.map(|object| File::parse(object.data(library).expect("its bytes")).expect("an object file")).collect()
}

/// Returns the firing sites of provider.d, sorted.
fn defined() -> Vec<Site> {
    let provider = dyntrace_build::parse(include_str!("../../provider.d"), "provider.d").expect("our own definition");
    let site = |probe: dyntrace_build::model::Probe| Site {
        provider: provider.name.clone(),
        probe: probe.name,
        arguments: Some(probe.arguments.into_iter().map(|argument| argument.ty.c).collect()),
    };
    let mut sites: Vec<Site> = provider.probes.into_iter().map(site).collect();
    sites.sort();
    sites
}
