//! The parameters that shipped scripts declare, in each language's own way.

use std::ffi::OsString;

use dyntrace_analysis::render::Settings;

use crate::tracer::TracerKind;

/// A value for a parameter. A script has at most one.
#[derive(Clone, Copy)]
pub struct Parameter {
    /// The name for `getopt` in bpftrace, and of a global variable in SystemTap. In DTrace it is `$1`.
    pub name: &'static str,
    pub value: i64,
}

impl Parameter {
    /// That for these settings. `None` for those that a script has without. DTrace reads an absent parameter as 0.
    pub fn of(settings: &Settings) -> Option<Parameter> {
        let Settings { slow } = *settings;
        (slow != Settings::default().slow).then_some(Parameter { name: "slow_ns", value: slow.max(1) })
    }

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

#[cfg(test)]
mod tests {
    use dyntrace::scripts;
    use dyntrace_analysis::render::slow::TAKER;

    use super::*;

    #[test]
    fn every_language_declares_the_time() {
        let script = scripts::find(TAKER).unwrap();
        let (Parameter { name, value }, own) =
            (Parameter::of(&Settings { slow: 0 }).unwrap(), Settings::default().slow);
        for (text, declares) in [
            (script.d, format!("inline int64_t {name} = $1 == 0 ? {own} : $1;\n")),
            (script.stap, format!("global {name} = {own}\n")),
            (script.bt, format!("\tgetopt(\"{name}\", {own})\n")),
        ] {
            assert_eq!(text.matches(&declares).count(), 1, "{declares}");
        }
        assert_eq!(value, 1);
        assert!(Parameter::of(&Settings::default()).is_none());
    }
}
