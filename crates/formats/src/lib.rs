//! The formats that the commands of [dyntrace](https://docs.rs/dyntrace) write for other tools: tables, data sets of many hosts and their clocks,
//! Perfetto's timelines, spans of OpenTelemetry.
#![deny(clippy::print_stdout, clippy::print_stderr)]
#![allow(missing_docs, reason = "a part of the command, where names tell what items are")]

pub mod clocks;
pub mod convert;
pub mod otlp;
