//! `--slow` for the script.

use dyntrace_analysis::render::Settings;
use dyntrace_analysis::render::slow::{TAKER, refusal};
use dyntrace_terminal::exit::Failure;

use crate::script::Script;

use super::parameter::Parameter;

/// The settings of a script. Fails for a script without slow polls, and for one that dyntrace does not know.
pub fn settings(slow: Option<i64>, script: &Script) -> Result<Settings, Failure> {
    let Some(slow) = slow else { return Ok(Settings::default()) };
    match script {
        Script::Shipped(shipped) if shipped.name == TAKER => Ok(Settings { slow }),
        _ => Err(refusal(script.name())),
    }
}

/// The script's parameter for these settings. `None` for those that it has without. DTrace reads an absent parameter as 0.
pub fn parameter(settings: &Settings) -> Option<Parameter> {
    let Settings { slow } = *settings;
    (slow != Settings::default().slow).then_some(Parameter { name: "slow_ns", value: slow.max(1) })
}

#[cfg(test)]
mod tests {
    use dyntrace::scripts;

    use super::*;

    #[test]
    fn every_language_declares_the_time() {
        let script = scripts::find(TAKER).unwrap();
        let (Parameter { name, value }, own) = (parameter(&Settings { slow: 0 }).unwrap(), Settings::default().slow);
        for (text, declares) in [
            (script.d, format!("inline int64_t {name} = $1 == 0 ? {own} : $1;\n")),
            (script.stap, format!("global {name} = {own}\n")),
            (script.bt, format!("\tgetopt(\"{name}\", {own})\n")),
        ] {
            assert_eq!(text.matches(&declares).count(), 1, "{declares}");
        }
        assert_eq!(value, 1);
        assert!(parameter(&Settings::default()).is_none());
    }

    #[test]
    fn other_scripts_have_no_slow_polls() {
        let other = Script::Shipped(scripts::find("messages").unwrap());
        let said = settings(Some(1), &other).err().unwrap().error.to_string();
        assert_eq!(said, "messages takes no --slow: only task_latency shows slow polls");
        assert_eq!(settings(None, &other).ok().unwrap().slow, Settings::default().slow);
    }
}
