//! What a copy of this crate was made of: the descriptors of one copy mean the same to another if their fingerprints are equal.

use std::ffi::CStr;

/// What this copy of the crate was made of and by: version and features of the crate, a hash of its text, the compiler, the target.
pub const FINGERPRINT: &CStr = match CStr::from_bytes_with_nul(concat!(env!("DYNTRACE_FINGERPRINT"), "\0").as_bytes()) {
    Ok(fingerprint) => fingerprint,
    Err(_) => panic!("the fingerprint has a NUL in it"),
};

/// The [`FINGERPRINT`] as it lies in a module's file, where it is read before anything of the module runs.
pub type Fingerprint = [u8; FINGERPRINT.to_bytes_with_nul().len()];

/// This copy's.
pub const OWN_FINGERPRINT: Fingerprint = {
    let mut text = [0; FINGERPRINT.to_bytes_with_nul().len()];
    text.copy_from_slice(FINGERPRINT.to_bytes_with_nul());
    text
};
