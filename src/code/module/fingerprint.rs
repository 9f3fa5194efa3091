//! Fingerprints: two copies of this crate can share data only if they were built from the same sources in the same way.

/// How this copy was built: the crate's version, features and a hash of its sources, the compiler, the target.
const TEXT: &str = concat!(env!("DYNTRACE_FINGERPRINT"), "\0");

/// A fingerprint as stored in a module's file. The host reads it before any code of the module runs.
pub type Fingerprint = [u8; TEXT.len()];

/// The fingerprint of this copy, with a NUL at its end.
pub const OWN_FINGERPRINT: Fingerprint = {
    let mut text = [0; TEXT.len()];
    text.copy_from_slice(TEXT.as_bytes());
    text
};
