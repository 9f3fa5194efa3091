//! Allowing modules.

use super::load::policy::{Policy, put_in_force};
use super::load_error::LoadError;
use super::remote;
use crate::breakpoint::remote as traces;

/// Allows modules to be loaded as the policy says, in place of the previous policy. Loaded versions stay.
///
/// # Errors
///
/// A directory does not exist, belongs to neither root nor this process's user, or other users may write to it. A SHA-256 is not 64
/// hexadecimal digits. Then the previous policy stays in force.
pub fn allow(policy: Policy) -> Result<(), LoadError> {
    put_in_force(policy)?;
    remote::enrol();
    // Also in a program without traced functions, since its modules may have some.
    traces::enrol();
    Ok(())
}
