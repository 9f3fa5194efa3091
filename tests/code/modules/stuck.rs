//! A module that is never done with loading.
#![cfg(target_os = "linux")]

fn on_load() -> Result<(), String> {
    loop {
        std::thread::park();
    }
}

dyntrace::module!("stuck", version = "1.0.0", unloadable, on_load = on_load);
