//! The recorder: probes into per-thread files at memory speed, without a tracer and without root.
//!
//! Sessions in code are there on Linux, FreeBSD, macOS, illumos, Solaris and NetBSD, as is `DYNTRACE=record:DIRECTORY`; `control` is Linux's.
//! README says under *Platforms* what has run.

mod channel;
mod checksum;
mod children;
#[cfg(target_os = "linux")]
pub mod control;
#[cfg(not(target_os = "linux"))]
#[path = "no_control.rs"]
mod control;
mod counted;
mod descriptor;
mod door;
mod environment;
mod error;
mod filter;
mod flight;
mod folder;
mod limits;
mod maintenance;
mod metadata;
pub(crate) mod modules;
mod options;
mod os;
mod packet;
mod panic;
mod payload;
mod place;
pub(crate) mod probes;
mod rate;
mod recording;
mod ring;
mod session;
mod slot;
#[cfg(recorded)]
mod slow;
mod snapshot;
mod stream_file;
#[cfg(test)]
mod synthetic;
mod taken;
mod trigger;
#[cfg(recorded)]
mod written;

use crate::glob;

#[cfg(target_os = "linux")]
pub use control::control;
#[doc(hidden)]
pub use descriptor::entries;
pub use descriptor::{Argument, Descriptor, Entry, Kind};
pub(crate) use door::{DOOR, Door, enter};
pub use dyntrace_metadata::Format;
pub use error::Error;
pub use filter::{Field, Filter};
pub use glob::Glob;
pub use options::{Mode, Options, OptionsError, Triggers};
pub use session::{Session, Snapshot, Status, Summary};
#[cfg(recorded)]
pub(crate) use slow::Began;
#[doc(hidden)]
pub use taken::Taken;
pub use trigger::trigger;
#[cfg(recorded)]
pub(crate) use written::Written;
