//! The part of the recorder that firings use: descriptors of probes, and each thread's ring of packets in a mapped file.
//!
//! The recorder, in the crate `dyntrace`, starts and ends sessions, which fill the slots of `slot`; nothing here does.

pub mod cause;
pub mod closed_in_children;
pub mod decision;
pub mod descriptor;
pub mod field;
pub mod form;
pub mod header;
pub mod host;
pub mod limits;
pub mod lost;
pub mod mode;
pub mod once;
pub mod os;
pub mod packet;
pub mod payload;
#[cfg(recorded)]
pub mod request;
pub mod ring;
pub mod ring_file;
pub mod slot;
#[cfg(recorded)]
pub mod slow;
pub mod stream_file;
#[cfg(test)]
pub mod synthetic;
pub mod wake;

pub use decision::Decision;
pub use descriptor::{Argument, Descriptor, ProbeEntry, RecordedKind, probe_entries};
pub use payload::{Count, Small};
pub use ring_file::is_a_ring_at_end;
