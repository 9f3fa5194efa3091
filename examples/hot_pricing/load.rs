//! What one version of the module hands to the next: how often it was loaded.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use dyntrace::code::State;

/// Of this version. Relaxed: it is set before anybody calls.
static LOAD: AtomicU64 = AtomicU64::new(1);

pub fn load() -> u64 {
    LOAD.load(Relaxed)
}

pub fn state() -> State {
    State { form: 1, bytes: load().to_le_bytes().to_vec() }
}

pub fn on_upgrade(old: State) -> Result<(), String> {
    let before = (old.form == 1).then(|| old.bytes.try_into().ok()).flatten().map(u64::from_le_bytes);
    LOAD.store(before.ok_or("the old version says nothing that this one understands")? + 1, Relaxed);
    Ok(())
}
