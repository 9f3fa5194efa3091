//! A module whose `on_load` never returns.
#![cfg(target_os = "linux")]

fn on_load() -> Result<(), String> {
    loop {
        std::thread::park();
    }
}

dyntrace::module!(
    "stuck",
    version = "1.0.0",
    // SAFETY: its hook never returns, so that it is never unmapped.
    unloadable = unsafe { dyntrace::code::Unloadable::new() },
    on_load = on_load
);
