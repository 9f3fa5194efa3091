//! The recorder: writes the events of probes into per-thread files, without a tracer and without root.
//!
//! [`Session`] and `DYNTRACE=record:DIRECTORY` exist on Linux, FreeBSD, macOS, illumos, Solaris and NetBSD, `control` on Linux only.
//! `docs/platforms.md` lists the systems that it has run on.

mod channel;
mod children;
#[cfg(target_os = "linux")]
pub mod control;
#[cfg(not(target_os = "linux"))]
#[path = "no_control.rs"]
mod control;
#[cfg(all(recorded, target_os = "linux"))]
mod enabled_probes;
mod environment;
mod error;
mod filter;
mod flight;
mod folder;
mod guests;
pub(crate) mod loaded;
mod maintenance;
mod metadata;
pub(crate) mod modules;
mod options;
#[cfg(all(test, not(any(loom, miri))))]
#[path = "../../crates/probes/src/rings/synthetic.rs"]
mod packets;
mod panic;
mod probes;
mod rate;
mod recording;
mod ring_checksums;
mod session;
mod sessions;
mod snapshot;
mod status;
#[cfg(all(test, not(any(loom, miri))))]
pub(crate) mod synthetic;
mod trigger;

#[cfg(feature = "trace")]
pub(crate) use control::open_if_asked;
#[cfg(target_os = "linux")]
pub use control::{control, tasks};
pub use dyntrace_metadata::Format;
#[cfg(all(recorded, target_os = "linux"))]
pub(crate) use enabled_probes::keep;
#[cfg(recorded)]
#[cfg_attr(not(all(recorded, target_os = "linux")), allow(unused_imports, reason = "there is no monitor"))]
pub(crate) use environment::monitored;
pub use error::Error;
pub use filter::Filter;
pub(crate) use guests::HOST_RECORDER;
pub use options::Options;
pub use options::text::OptionsError;
#[cfg_attr(not(target_os = "linux"), allow(unused_imports, reason = "there is no monitor"))]
pub(crate) use options::text::{time, write_time};
pub use options::triggers::Triggers;
pub use session::Session;
pub use status::{Snapshot, Status, Summary};
pub use trigger::trigger;

pub use crate::glob::Glob;
#[doc(hidden)]
pub use dyntrace_probes::rings::descriptor::CONTROL_REQUESTED;
pub use dyntrace_probes::rings::descriptor::{Argument, Descriptor, RecordedKind};
pub use dyntrace_probes::rings::field::Field;
pub use dyntrace_probes::rings::mode::Mode;
