//! The output of `sdt::macos`: calls of functions whose names describe the site to Apple's linker.

use std::collections::BTreeSet;

use object::{File, Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget, macho};

use crate::Site;

/// Returns the called sites, after checking the provider's types and stability for the linker.
pub fn sites(objects: &[File<'_>]) -> Vec<Site> {
    let is_site = |name: &&str| name.starts_with("___dtrace_probe$") || name.starts_with("___dtrace_isenabled$");
    let marks: BTreeSet<&str> = objects
        .iter()
        .flat_map(|object| object.symbols())
        .filter_map(|symbol| symbol.name().ok())
        .filter(|name| name.starts_with("___dtrace_") && !is_site(name))
        .collect();
    let expected = ["___dtrace_stability$dyntrace$v1$5_5_5_1_1_5_1_1_5_5_5_5_5_5_5", "___dtrace_typedefs$dyntrace$v2"];
    assert_eq!(marks, BTreeSet::from(expected));
    objects.iter().flat_map(calls).filter(is_site).map(site).collect()
}

/// Returns the names of the functions that an object calls, once for each call.
fn calls<'a>(object: &'a File<'a>) -> impl Iterator<Item = &'a str> {
    let branch = match object.architecture() {
        object::Architecture::X86_64 => macho::X86_64_RELOC_BRANCH,
        _ => macho::ARM64_RELOC_BRANCH26,
    };
    let relocations = object.sections().flat_map(|section| section.relocations());
    relocations.filter_map(move |(_, relocation)| match (relocation.flags(), relocation.target()) {
        (RelocationFlags::MachO { r_type, .. }, RelocationTarget::Symbol(symbol)) if r_type == branch => {
            object.symbol_by_index(symbol).ok()?.name().ok()
        }
        _ => None,
    })
}

fn site(name: &str) -> Site {
    let (provider, probe, arguments) = match name.split('$').collect::<Vec<_>>()[..] {
        ["___dtrace_probe", provider, probe, "v1", ref types @ ..] => {
            (provider, probe, Some(types.iter().map(|hex| text(hex)).collect()))
        }
        ["___dtrace_isenabled", provider, probe, "v1"] => (provider, probe, None),
        _ => panic!("{name}"),
    };
    Site { provider: provider.to_owned(), probe: probe.to_owned(), arguments }
}

/// Decodes hexadecimal digits.
fn text(hex: &str) -> String {
    let byte = |digits: &[u8; 2]| {
        let digits = str::from_utf8(digits).expect("ASCII");
        char::from(u8::from_str_radix(digits, 16).expect("two digits"))
    };
    hex.as_bytes().as_chunks().0.iter().map(byte).collect()
}
