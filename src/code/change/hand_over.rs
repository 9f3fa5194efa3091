//! From an old version to a new one: the module's state.

use std::sync::Arc;

use crate::code::error::Error;
use crate::code::load::job::run_job;
use crate::code::load::policy::allowed;
use crate::code::version::Version;
use crate::code::version::descriptor::ModuleState;

/// Step 2 of a finish: has the new version take over what the old one hands to it.
///
/// # Errors
///
/// One of their hooks fails, panics or does not return in time.
pub(crate) async fn hand_over(old: Arc<Version>, new: Arc<Version>) -> Result<(), Error> {
    let Some(on_upgrade) = new.descriptor.on_upgrade else { return Ok(()) };
    run_job("code-upgrade", allowed()?.patience, move |job| {
        let state = match old.descriptor.state {
            Some(state) => job.hook("state", &old, state)?,
            None => ModuleState::default(),
        };
        Ok(job.hook("on_upgrade", &new, move || on_upgrade(state))?)
    })
    .await
}
