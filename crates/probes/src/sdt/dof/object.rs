//! Generating DOF from sites.

use std::collections::BTreeMap;

use super::section::Site;

/// The longest names that DTrace accepts, in bytes, without the NUL. DTrace appends the process's number to provider names.
const PROVIDER: usize = 63 - 10;
const NAME: usize = 63;
const FUNCTION: usize = 127;

/// In DOF: where the header has the number of section headers, where those begin, and the type of a provider's section.
const COUNT: usize = 28;
const HEADERS: usize = 64;
const PROVIDERS: usize = 15;

/// The version tells each system the kind of is-enabled sites.
const VERSION: u8 = if cfg!(target_os = "linux") { 3 } else { 2 };

/// The DOF of the sites; `None` if no probe has a site that fires.
///
/// A probe of DOF has one base address, here that of its lowest site, and the offsets of its sites from it. All sites of a name are one
/// probe, whatever functions they are in; the named function is that of the lowest one. Probes with is-enabled sites only are left out.
pub(super) fn build(sites: &[Site]) -> Option<Vec<u8>> {
    let mut sites: Vec<Site> = sites.to_vec();
    sites.sort_by_key(|site| site.address);
    let mut section = dof::Section::default();
    let mut attributes = BTreeMap::new();
    section.ident.version = VERSION;
    for Site { address, probe } in sites {
        let provider = section
            .providers
            .entry(probe.provider.to_owned())
            .or_insert_with(|| dof::Provider { name: cut(probe.provider, PROVIDER), probes: BTreeMap::new() });
        let entry = provider.probes.entry(probe.name.to_owned()).or_insert_with(|| dof::Probe {
            name: cut(&probe.name.replace("__", "-"), NAME),
            // A colon separates the parts of a probe's name in D.
            function: cut(&probe.function.replace("::", "."), FUNCTION),
            address: address as u64,
            offsets: Vec::new(),
            enabled_offsets: Vec::new(),
            arguments: Vec::new(),
        });
        // Code of a program or shared object spans less than 4 GiB: its jumps reach 2.
        let offset = (address as u64 - entry.address) as u32;
        match probe.arguments {
            None => entry.enabled_offsets.push(offset),
            Some(types) => {
                attributes.insert(probe.provider, probe.attributes);
                entry.offsets.push(offset);
                entry.arguments = types.iter().map(|c| (*c).to_owned()).collect();
            }
        }
    }
    for provider in section.providers.values_mut() {
        provider.probes.retain(|_, probe| !probe.offsets.is_empty());
    }
    section.providers.retain(|_, provider| !provider.probes.is_empty());
    (!section.providers.is_empty()).then(|| {
        let mut bytes = section.as_bytes();
        set_attributes(&mut bytes, attributes.into_values());
        bytes
    })
}

/// Writes the attributes of each provider, in the order of their sections, which is that of their names. (The crate `dof` writes zeros.)
///
/// The offsets are those of `dof_hdr`, `dof_sec` and `dof_provider` in each system's `sys/dtrace.h`.
fn set_attributes(bytes: &mut [u8], attributes: impl Iterator<Item = &'static str>) {
    let word = |bytes: &[u8], at: usize| u32::from_ne_bytes(bytes[at..][..4].try_into().expect("four bytes")) as usize;
    let headers = (0..word(bytes, COUNT)).map(|number| HEADERS + 32 * number);
    let providers: Vec<usize> =
        headers.filter(|at| word(bytes, *at) == PROVIDERS).map(|at| word(bytes, at + 16)).collect();
    for (provider, attributes) in providers.into_iter().zip(attributes) {
        let numbers: Vec<u8> = attributes.split('_').filter_map(|number| number.parse().ok()).collect();
        for (part, [name, data, class]) in numbers.as_chunks().0.iter().enumerate() {
            let of_part = u32::from_be_bytes([*name, *data, *class, 0]);
            bytes[provider + 20 + 4 * part..][..4].copy_from_slice(&of_part.to_ne_bytes());
        }
    }
}

/// The first `limit` bytes of `name`, at most.
fn cut(name: &str, limit: usize) -> String {
    name[..name.floor_char_boundary(limit)].to_owned()
}
