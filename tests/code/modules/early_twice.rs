//! The same, with two exports of one name: it is refused when its thread runs already.
#![cfg(target_os = "linux")]

#[path = "early.rs"]
mod early;

#[dyntrace::export]
fn song() -> u32 {
    7
}
