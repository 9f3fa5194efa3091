//! Fingerprints: two copies of this crate can share data only if they were built from the same sources in the same way.

/// How this copy was built: the crate's version, features and a hash of its sources, the compiler, the target.
const BUILD: &str = concat!(env!("DYNTRACE_FINGERPRINT"), "; probes ");

/// The hashes of the sources of the probes and the processes below.
const PROBES: &str = dyntrace_probes::SOURCES;
const PROCESSES: &str = dyntrace_processes::SOURCES;

/// A fingerprint as stored in a module's file. The host reads it before any code of the module runs.
pub type Fingerprint = [u8; BUILD.len() + PROBES.len() + PROCESSES.len() + 1];

/// The fingerprint of this copy, with a NUL at its end.
pub const OWN_FINGERPRINT: Fingerprint = {
    let mut text = [0; size_of::<Fingerprint>()];
    let (build, below) = text.split_at_mut(BUILD.len());
    build.copy_from_slice(BUILD.as_bytes());
    let (probes, processes) = below.split_at_mut(PROBES.len());
    probes.copy_from_slice(PROBES.as_bytes());
    processes.split_at_mut(PROCESSES.len()).0.copy_from_slice(PROCESSES.as_bytes());
    text
};
