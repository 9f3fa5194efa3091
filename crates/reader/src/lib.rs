//! Reads the traces that dyntrace's recorder writes.
//!
//! A trace is a folder of files in the Common Trace Format, 1.8 or 2: for each process its metadata, which names the event
//! classes, and a file of events for each ring. [`Trace`] opens a trace, [`Trace::events`] iterates over the events of all
//! files in order of time, [`Trace::losses`] returns known losses and damage.
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
//! Files are mapped, and an event points into its file. Only the circular files of the overwrite mode are copied to memory, as their
//! recorder may go on. For any content of the files, reading ends, takes bounded memory and does not panic.
//!
//! # Damage
//!
//! A packet that its writer has left has a ring number, a sequence number and a CRC-32 of its header and content. The
//! recorder's maintenance thread adds the checksum in its next round, or the session when it ends. So the reader finds the
//! following damage, except for one case in 2^32:
//!
//! - changed bytes of such a packet;
//! - packets that were exchanged or repeated, or are missing between others;
//! - packets of another run or another ring;
//! - a damaged metadata file;
//! - a cut file of an ended recording.
//!
//! It reports the place and the number of skipped bytes, and goes on at the next page where a whole packet begins. Every
//! event that it returns from such packets was recorded.
//!
//! A packet has no checksum if it was open when the program was killed. The reader checks only limits in it: known classes,
//! strings of at most 511 bytes, times that go back by less than a second, sizes that agree with the last event. It does not
//! find:
//!
//! - damage within these limits, such as another number in a field;
//! - the removal of a whole file;
//! - a cut between two packets in a file of a killed program: that looks like an earlier kill;
//! - a wrong count of discarded events, which has no checksum.
//!
//! Traces of the recorder's first version have no checksums; the reader checks only the limits.
//!
//! An event passes through `map` (the file in memory) → `packet` (packet headers) → `stream` (events of one file) → `merge`
//! (all files). `walk` checks packets and skips damaged ones. `metadata` makes the [`EventClass`]es, which locate fields. `circular`
//! copies the packets of circular files, which then are read as those of other files.

mod circular;
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
mod parts;
mod process;
mod process_folder;
mod recover;
mod source;
mod stage;
mod stream;
mod text;
mod trace;
mod walk;

pub use class::{EventClass, FieldClass, OperationStep};
pub use clock::Clock;
pub use dyntrace_metadata::{FieldKind, Format};
pub use error::Error;
pub use event::{Event, Value};
pub use filter::Selection;
pub use follow::{Followed, Follower, OperationFollower};
pub use losses::{Damage, Discarded, Empty, Losses, Lost, Overwritten};
pub use merge::Events;
pub use operations::{Completion, FileOperation, FileOperations, MAX_IN_FLIGHT, QueueStep};
pub use parts::Parts;
pub use process::Process;
pub use recover::{Recovered, convert, finish, recover};
pub use source::Source;
pub use stage::{OperationId, Request, Requester};
pub use text::Text;
pub use trace::{RINGS, Trace};
