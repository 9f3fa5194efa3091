//! The state that one version hands to the next: the number of loads.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use dyntrace::code::ModuleState;

/// The number of this version's load. Relaxed: it is set before the first call.
static LOAD: AtomicU64 = AtomicU64::new(1);

pub fn load() -> u64 {
    LOAD.load(Relaxed)
}

pub fn state() -> ModuleState {
    ModuleState { form: 1, bytes: load().to_le_bytes().to_vec() }
}

pub fn on_upgrade(old: ModuleState) -> Result<(), String> {
    let before = (old.form == 1).then(|| old.bytes.try_into().ok()).flatten().map(u64::from_le_bytes);
    LOAD.store(before.ok_or("the old version's state has an unknown form")? + 1, Relaxed);
    Ok(())
}
