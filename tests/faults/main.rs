//! What the recorder and traced functions bear: ring 4. With every other test at short length, at full length by `ci/faults`.
#![cfg(target_os = "linux")]

mod disk;
#[path = "../common/forked.rs"]
mod forked;
mod kill;
mod load;
mod sessions;
mod signals;
mod support;
mod traced;
