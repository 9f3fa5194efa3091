//! Conditions of `--fail-if`: `p99(queue_wait) > 1.2x of command READ`.
//!
//! ```text
//! condition  = figure comparison value [ "of" group ]
//! figure     = ("p50" | "p90" | "p99" | "p99.9" | "max" | "mean") "(" time ")" | "count" | "errors" | "rate"
//! time       = "total" | "queue_wait" | "service" | "delivery"
//! comparison = ">" | ">=" | "<" | "<=" | "==" | "!="
//! value      = number "x" | number unit | number
//! unit       = "ns" | "us" | "ms" | "s"
//! group      = ("command" | "tag" | "function" | "resource") [ name ]
//! ```
//!
//! A name is that of a row, exactly as the table prints it, or else a glob.

mod check;
mod parse;

use dyntrace_metadata::Glob;

use super::figure::{Percentile, Time};
use super::groups::By;

pub use check::{Checked, Verdict, check};
pub use parse::parse;

#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// As the user wrote it.
    pub text: String,
    figure: Figure,
    comparison: Comparison,
    value: Value,
    /// `None` means all operations together.
    group: Option<Group>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Figure {
    Percentile(Percentile, Time),
    Max(Time),
    Mean(Time),
    Count,
    Errors,
    /// In a second.
    Rate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    More,
    AtLeast,
    Less,
    AtMost,
    Equal,
    Different,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    /// Of the figure in A.
    Times(f64),
    /// A number, or nanoseconds.
    Absolute(f64),
}

#[derive(Clone, Debug, PartialEq)]
struct Group {
    by: By,
    /// `None` means each group of the kind.
    name: Option<Name>,
}

#[derive(Clone, Debug, PartialEq)]
struct Name {
    /// As the user wrote it. A group of exactly this name is meant alone.
    text: String,
    pattern: Glob,
}

impl Figure {
    fn is_time(self) -> bool {
        !matches!(self, Figure::Count | Figure::Errors | Figure::Rate)
    }
}

impl Comparison {
    fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Comparison::More => left > right,
            Comparison::AtLeast => left >= right,
            Comparison::Less => left < right,
            Comparison::AtMost => left <= right,
            Comparison::Equal => left == right,
            Comparison::Different => left != right,
        }
    }
}
