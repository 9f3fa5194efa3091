//! The part of the recorder that firings use: descriptors of probes, and each thread's ring of packets in a mapped file.
//!
//! The [recorder](crate::recorder) starts and ends sessions, which fill the slots of `slot`; nothing here does.

pub(crate) mod cause;
pub(crate) mod closed_in_children;
pub(crate) mod decision;
pub(crate) mod descriptor;
pub(crate) mod field;
pub(crate) mod form;
pub(crate) mod header;
pub(crate) mod host;
pub(crate) mod limits;
pub(crate) mod lost;
pub(crate) mod mode;
pub(crate) mod once;
pub(crate) mod os;
pub(crate) mod packet;
pub(crate) mod payload;
pub(crate) mod ring;
pub(crate) mod ring_file;
pub(crate) mod slot;
pub(crate) mod stream_file;
pub(crate) mod wake;

pub use decision::Decision;
pub use descriptor::{Argument, Descriptor, Kind, ProbeEntry, probe_entries};
pub use payload::{Count, Small};
pub use ring_file::is_a_ring_at_end;
