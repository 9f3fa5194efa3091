//! A module that panics when it is loaded.
#![cfg(target_os = "linux")]

fn on_load() -> Result<(), String> {
    panic!("no flour")
}

dyntrace::module!("panicking", version = "1.0.0", on_load = on_load);
