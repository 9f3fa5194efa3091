//! Reads the traces that dyntrace's recorder writes.
//!
//! A trace is a folder of files in the Common Trace Format, 1.8 or 2: for each process its metadata, which names the event
//! classes, and a file of events for each ring. [`Trace`] opens one, [`Trace::events`] gives the events of all files in
//! the order of time, [`Trace::losses`] says what is missing.
//!
//! ```
//! use dyntrace_reader::{Trace, Value};
//!
//! let trace = Trace::open("tests/golden")?;
//! let failed = trace.events().filter(|event| event.field("success") == Some(Value::Signed(0)));
//! assert_eq!(failed.count(), 1);
//! # Ok::<(), dyntrace_reader::Error>(())
//! ```
//!
//! Files are mapped, never copied; an event points into its file. Whatever stands in the files, reading ends, takes
//! bounded memory and does not panic.
//!
//! # Damage
//!
//! Each packet that its writer has left has a CRC-32 of its header and content, its ring's number and a sequence number. The
//! recorder's maintenance thread makes the checksum in its next round, or the session when it ends. So the reader
//! finds with certainty (but for one damage in 2^32) any change of such a packet's bytes, packets that were exchanged,
//! repeated or are missing between others, packets of another run or another ring, a damaged metadata file, and a file of an
//! ended recording that was cut. It reports the place and the bytes that it passed over, and goes on at the next page where a
//! whole packet begins: every event that it shows of such packets was recorded.
//!
//! Packets without a checksum are those that were open when a program was killed. For them the reader has limits only: known
//! classes, strings of 511 bytes at most, times that go back by less than a second, sizes that agree with the last event.
//! What stays within these limits, such as another number in a field, is not found. Nor is a whole file that was removed, or
//! a file of a killed program that was cut between two packets: that looks like an earlier kill. The count of discarded
//! events has no checksum. Traces of the recorder's first version have no checksums at all, and are read by these limits.
//!
//! The way of an event: `map` (the file in memory) → `packet` (its heads) → `stream` (events of one file) → `merge`
//! (all files). `walk` judges packets and passes over damaged ones. `metadata` makes the [`EventClass`]es that say where fields lie.

mod class;
mod clock;
mod error;
mod event;
mod filter;
mod follow;
mod losses;
mod map;
mod merge;
mod metadata;
mod operations;
mod packet;
mod process;
mod recover;
mod source;
mod stage;
mod stream;
mod trace;
mod walk;

pub use class::{EventClass, FieldClass};
pub use clock::Clock;
pub use dyntrace_metadata::{FieldKind, Format};
pub use error::Error;
pub use event::{Event, Value};
pub use filter::Selection;
pub use follow::Follow;
pub use losses::{Damage, Discarded, Losses, Lost};
pub use merge::Events;
pub use operations::{Answer, IN_FLIGHT, Operation, Operations, Queued};
pub use process::Process;
pub use recover::{Recovered, convert, finish, recover};
pub use source::Source;
pub use stage::{Asked, Asker, OperationId};
pub use trace::Trace;
