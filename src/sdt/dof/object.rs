//! Generating DOF from sites.

use std::collections::BTreeMap;

use super::section::Site;

/// The longest names that DTrace accepts, in bytes, without the NUL. DTrace appends the process's number to provider names.
const PROVIDER: usize = 63 - 10;
const NAME: usize = 63;
const FUNCTION: usize = 127;

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
                entry.offsets.push(offset);
                entry.arguments = types.iter().map(|c| (*c).to_owned()).collect();
            }
        }
    }
    for provider in section.providers.values_mut() {
        provider.probes.retain(|_, probe| !probe.offsets.is_empty());
    }
    section.providers.retain(|_, provider| !provider.probes.is_empty());
    (!section.providers.is_empty()).then(|| section.as_bytes())
}

/// The first `limit` bytes of `name`, at most.
fn cut(name: &str, limit: usize) -> String {
    name[..name.floor_char_boundary(limit)].to_owned()
}
