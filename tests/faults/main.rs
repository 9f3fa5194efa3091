//! Ring 4: stress tests of the recorder and traced functions. Short with the other tests, at full length by `ci/faults`.
#![cfg(target_os = "linux")]

mod damage;
mod disk;
mod ends;
#[path = "../common/forked.rs"]
mod forked;
mod forks;
mod kill;
mod load;
#[path = "../common/missing.rs"]
mod missing;
mod privileges;
mod sessions;
mod signals;
mod small;
mod support;
mod traced;
