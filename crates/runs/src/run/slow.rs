//! `--slow` in the texts of the script.

use std::borrow::Cow;

use dyntrace_analysis::render::Settings;
use dyntrace_analysis::render::slow::{TAKER, refusal};
use dyntrace_terminal::exit::Failure;

use crate::script::Script;

/// The time in the script's texts, in nanoseconds.
const DEFAULT: &str = "10000000";

/// The settings of a script. Fails for a script without slow polls, and for one that dyntrace does not know.
pub fn settings(slow: Option<i64>, script: &Script) -> Result<Settings, Failure> {
    let Some(slow) = slow else { return Ok(Settings::default()) };
    match script {
        Script::Shipped(shipped) if shipped.name == TAKER => Ok(Settings { slow }),
        _ => Err(refusal(script.name())),
    }
}

/// The shipped script `text` with this time instead of its own, which is the first number of this value in the text.
pub fn put_into<'t>(text: &'t str, settings: &Settings) -> Cow<'t, str> {
    if settings.slow == Settings::default().slow {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replacen(DEFAULT, &settings.slow.to_string(), 1))
}

#[cfg(test)]
mod tests {
    use dyntrace::scripts;

    use super::*;

    #[test]
    fn every_language_has_the_time_once() {
        assert_eq!(Settings::default().slow.to_string(), DEFAULT);
        let script = scripts::find(TAKER).unwrap();
        for text in [script.d, script.stap, script.bt] {
            let changed = put_into(text, &Settings { slow: 1234 });
            let lines: Vec<&str> = changed.lines().filter(|line| !text.lines().any(|own| own == *line)).collect();
            assert!(
                ["1234", "inline int64_t slow_ns = 1234;", "global slow_ns = 1234"].contains(&lines[0].trim()),
                "{lines:?}"
            );
            assert_eq!(lines.len(), 1, "{lines:?}");
            assert_eq!(put_into(text, &Settings::default()), text);
        }
    }

    #[test]
    fn other_scripts_have_no_slow_polls() {
        let other = Script::Shipped(scripts::find("messages").unwrap());
        let said = settings(Some(1), &other).err().unwrap().error.to_string();
        assert_eq!(said, "messages takes no --slow: only task_latency shows slow polls");
        assert_eq!(settings(None, &other).ok().unwrap().slow, Settings::default().slow);
    }
}
