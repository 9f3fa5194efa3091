//! The recorder: writes the events of probes into per-thread files, without a tracer and without root.
//!
//! [`Session`] and `DYNTRACE=record:DIRECTORY` exist on Linux, FreeBSD, macOS, illumos, Solaris and NetBSD, `control` on Linux only.
//! `docs/platforms.md` lists the systems that it has run on.

mod cause;
mod channel;
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
mod form;
mod guests;
mod header;
mod host;
#[cfg(all(recorded, target_os = "linux"))]
mod kept;
mod limits;
pub(crate) mod loaded;
mod lost;
mod maintenance;
mod metadata;
pub(crate) mod modules;
mod once;
mod options;
mod os;
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

#[cfg(feature = "trace")]
pub(crate) use control::open_if_asked;
#[cfg(recorded)]
pub(crate) use control::open_if_requested;
#[cfg(target_os = "linux")]
pub use control::{control, tasks};
#[doc(hidden)]
pub use decision::Decision;
pub use descriptor::{Argument, Descriptor, Kind};
#[doc(hidden)]
pub use descriptor::{CONTROL_REQUESTED, ProbeEntry, probe_entries};
pub use dyntrace_metadata::Format;
#[cfg_attr(not(all(recorded, target_os = "linux")), allow(unused_imports, reason = "there is no monitor"))]
pub(crate) use environment::monitored;
pub use error::Error;
pub use field::Field;
pub use filter::Filter;
pub(crate) use guests::HOST_RECORDER;
pub(crate) use host::{HostRecorder, enter};
#[cfg(all(recorded, target_os = "linux"))]
pub(crate) use kept::keep;
pub use options::text::OptionsError;
#[cfg_attr(not(target_os = "linux"), allow(unused_imports, reason = "there is no monitor"))]
pub(crate) use options::text::{time, write_time};
pub use options::triggers::Triggers;
pub use options::{Mode, Options};
#[doc(hidden)]
pub use payload::{Count, Small};
#[doc(hidden)]
pub use ring_file::is_a_ring_at_end;
pub use session::Session;
#[cfg(recorded)]
pub(crate) use slow::Began;
pub use status::{Snapshot, Status, Summary};
pub use trigger::trigger;

pub use crate::glob::Glob;
