//! The program's word that modules may be loaded.

use super::load::policy::{Policy, put_in_force};
use super::load_error::LoadError;
use super::remote;
use crate::breakpoint::remote as traces;

/// Has modules be loaded from now on, as the policy says; whatever was allowed before is not any more. Versions that are loaded already
/// stay.
///
/// # Errors
///
/// A directory is not there, belongs to neither root nor this process's user, or others may write in it. A SHA-256 is not 64 hexadecimal
/// digits. Then what was allowed before still is.
pub fn allow(policy: Policy) -> Result<(), LoadError> {
    put_in_force(policy)?;
    remote::enrol();
    // Also where all functions that can be traced are yet to be loaded.
    traces::enrol();
    Ok(())
}
