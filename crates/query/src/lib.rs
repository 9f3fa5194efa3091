//! The programs that `dyntrace query` and `dyntrace upload` run: questions in SQL about a data set of traces, and its way to an object
//! store.
//!
//! They are a package of their own because of the engine, DataFusion, with its hundreds of crates. The library is for the two programs: it
//! has no other interface.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod answer;
mod clocks;
mod columns;
mod counted;
mod data_set;
mod engine;
mod exit;
mod memory;
mod print;
mod query;
mod regexp_extract;
mod report;
mod store;
mod tables;
mod standard_error;
mod upload;

pub use query::query;
pub use upload::upload;
