//! Sites to DOF.

use std::collections::BTreeMap;

use super::section::Site;

/// Longest names that DTrace takes, in bytes, without the NUL. Provider names get the process's number behind.
const PROVIDER: usize = 63 - 10;
const NAME: usize = 63;
const FUNCTION: usize = 127;

/// By which each system knows what an is-enabled site is.
const VERSION: u8 = if cfg!(target_os = "linux") { 3 } else { 2 };

/// The DOF of the sites.
///
/// A probe of DOF is one place in memory with the distances of its sites from it: here the probe's lowest site. All the
/// sites of a name are one probe, however many functions they are in; the function named is that of the lowest one. What
/// is asked for and never fires is left out; `None` if that is all there is.
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
        // The text of a program or shared object is far below 4 GiB: its own jumps reach 2.
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

/// At most `limit` bytes of `name`.
fn cut(name: &str, limit: usize) -> String {
    name[..name.floor_char_boundary(limit)].to_owned()
}
