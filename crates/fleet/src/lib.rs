//! The data set of a fleet's traces, and the clocks of its machines.
//!
//! # The data set
//!
//! A folder has a folder for each table, and in it one for each host, date and hour:
//!
//! ```text
//! operations/host=web-1/date=2026-11-26/hour=02/UUID-RANGE-PART.parquet
//! _sources/UUID/RANGE.plan
//! _sources/UUID/RANGE.done
//! ```
//!
//! A *source* is the recording of one process, named by the uuid that its metadata and its packets have. A *range* is a piece of it: for
//! each of its files the bytes from the end of the range before. A row belongs to the range with the event that completes it.
//!
//! # Each row once
//!
//! 1. A converter reads the source to its present end, and proposes a [`Plan`] for the next range: where it ends in each file, and the
//!    losses known there. The plan appears under its name whole, and only if no other converter has proposed one ([`Ledger::propose`]).
//! 2. From then on everything is determined: the range has the same rows in the same order in each run, so it has the same files with the
//!    same names and the same content. [`Tables`] writes each under a temporary name and renames it when it is whole. A file that is there
//!    is not written again.
//! 3. The range is done when all its files are there: then a list of them appears beside the plan ([`Ledger::settle`]).
//!
//! A converter that is killed leaves a plan without a list, and perhaps temporary files. The next one finishes that range before it
//! proposes another. Two converters at once write the same files; each rename replaces a file by an equal one.
//!
//! # Clocks
//!
//! [`clocks::align`] bounds the differences between the clocks of hosts by the messages between them. A [`SingleTable`] keeps them beside the
//! other tables, of which [`read_rows`] reads the columns that this needs.

pub mod clocks;
mod error;
mod files;
mod ledger;
mod loss;
mod place;
mod plan;
mod read;
mod schema;
mod single;
mod table;
mod tables;
mod values;

pub use error::Error;
pub use ledger::{Ledger, Range};
pub use loss::Loss;
pub use place::{RowPlace, hostname};
pub use plan::{LAYOUT, Plan};
pub use read::read_rows;
pub use schema::{ColumnKind, Schema};
pub use single::SingleTable;
pub use table::Table;
pub use tables::Tables;
pub use values::{Cell, Entries};
