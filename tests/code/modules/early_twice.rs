//! The module `early` with two exports of one name: it is refused after its thread has started.
#![cfg(target_os = "linux")]

#[path = "early.rs"]
mod early;

#[dyntrace::export]
fn song() -> u32 {
    7
}
