//! Reads the traces that dyntrace's recorder writes.
//!
//! A trace is a folder of files in the Common Trace Format 1.8: for each process its metadata, which names the event
//! classes, and a file of events for each ring. [`Trace`] opens one, [`Trace::events`] gives the events of all files in
//! the order of time, [`Trace::losses`] says what is missing.
//!
//! ```
//! use dyntrace_trace::{Trace, Value};
//!
//! let trace = Trace::open("tests/golden")?;
//! let failed = trace.events().filter(|event| event.field("success") == Some(Value::Signed(0)));
//! assert_eq!(failed.count(), 1);
//! # Ok::<(), dyntrace_trace::Error>(())
//! ```
//!
//! Files are mapped, never copied; an event points into its file. Whatever stands in the files, reading ends, takes
//! bounded memory and does not panic: a damaged place costs the events of its file from there on.
//!
//! The way of an event: `map` (the file in memory) → `packet` (its heads) → `stream` (events of one file) → `merge`
//! (all files). `metadata` makes the [`EventClass`]es that say where fields lie.

mod byte_order;
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
mod stage;
mod stream;
mod trace;

pub use class::{EventClass, FieldClass, FieldKind};
pub use clock::Clock;
pub use error::Error;
pub use event::{Event, Value};
pub use filter::Selection;
pub use follow::Follow;
pub use losses::{Damage, Discarded, Losses, Lost};
pub use merge::Events;
pub use operations::{Answer, IN_FLIGHT, Operation, Operations, Queued};
pub use process::Process;
pub use recover::{Recovered, finish, recover};
pub use stage::{Asked, Asker, OperationId};
pub use trace::Trace;
