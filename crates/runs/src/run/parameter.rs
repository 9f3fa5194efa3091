//! The parameters that shipped scripts declare, in each language's own way.

use std::ffi::OsString;

use crate::tracer::TracerKind;

/// A value for a parameter. A script has at most one.
#[derive(Clone, Copy)]
pub struct Parameter {
    /// The name for `getopt` in bpftrace, and of a global variable in SystemTap. In DTrace it is `$1`.
    pub name: &'static str,
    pub value: i64,
}

impl Parameter {
    /// The tracer's arguments before the script, and behind all others.
    pub fn arguments(self, kind: TracerKind) -> [Vec<OsString>; 2] {
        let Parameter { name, value } = self;
        match kind {
            TracerKind::Bpftrace => [vec![], vec!["--".into(), format!("--{name}={value}").into()]],
            TracerKind::Stap => [vec!["-G".into(), format!("{name}={value}").into()], vec![]],
            TracerKind::Dtrace => [vec![], vec![value.to_string().into()]],
        }
    }
}
