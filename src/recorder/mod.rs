//! The recorder: probes into per-thread files at memory speed, without a tracer and without root.
//!
//! Sessions in code are there on Linux, FreeBSD, macOS, illumos, Solaris and NetBSD, as is `DYNTRACE=record:DIRECTORY`; `control` is Linux's.
//! README says under *Platforms* what has run.

mod cause;
mod channel;
mod checksum;
mod children;
mod closed_in_children;
#[cfg(target_os = "linux")]
pub mod control;
#[cfg(not(target_os = "linux"))]
#[path = "no_control.rs"]
mod control;
mod decision;
mod descriptor;
mod environment;
mod error;
mod field;
mod filter;
mod flight;
mod folder;
mod guests;
mod host;
mod layout;
mod limits;
pub(crate) mod loaded;
mod lost;
mod maintenance;
mod metadata;
pub(crate) mod modules;
mod options;
mod os;
mod packet;
mod panic;
mod payload;
mod probes;
mod rate;
mod recording;
mod ring;
mod ring_checksums;
mod ring_file;
mod session;
mod sessions;
mod slot;
#[cfg(recorded)]
mod slow;
mod snapshot;
mod status;
mod stream_file;
#[cfg(test)]
mod synthetic;
mod trigger;
mod wake;
#[cfg(recorded)]
mod written;

#[cfg(target_os = "linux")]
pub use control::control;
#[doc(hidden)]
pub use decision::Decision;
pub use descriptor::{Argument, Descriptor, Kind};
#[doc(hidden)]
pub use descriptor::{ProbeEntry, probe_entries};
pub use dyntrace_metadata::Format;
pub use error::Error;
pub use field::Field;
pub use filter::Filter;
pub(crate) use guests::HOST_RECORDER;
pub(crate) use host::{HostRecorder, enter};
pub use options::text::OptionsError;
pub use options::triggers::Triggers;
pub use options::{Mode, Options};
pub use session::Session;
#[cfg(recorded)]
pub(crate) use slow::Began;
pub use status::{Snapshot, Status, Summary};
pub use trigger::trigger;
#[cfg(recorded)]
pub(crate) use written::Written;

pub use crate::glob::Glob;
