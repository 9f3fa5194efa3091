//! Checks how much `dyntrace ps` can show of a program's tasks.

use std::path::Path;

use dyntrace_tasks::error::Error;
use dyntrace_tasks::layout::Other;
use dyntrace_tasks::preview::Preview;
use dyntrace_tasks::program::{Options, Program};

use super::finding::Finding;
use super::polls;

const TOPIC: &str = "tasks";

/// Gives the debug information that chains need.
const DEBUG: &str = "build it with debug = 2 in its profile (CARGO_PROFILE_RELEASE_DEBUG=2); to run it stripped, keep the file that \
                     objcopy --only-keep-debug makes, and give it with --debug";

/// Looks at the file of a process, and asks the process for its layout as `dyntrace polls` does. A process that may not be read tells none.
pub fn of_process(pid: u32, file: &Path) -> Result<Preview, Error> {
    let mut preview = Preview::of_mapped(file)?;
    match Program::attach(pid, Options::default()).and_then(|program| program.other_layout()) {
        Ok(other) => preview.other = other,
        Err(Error::OtherLayout { gaps, .. }) => preview.other.gaps = gaps,
        Err(_) => {}
    }
    Ok(preview)
}

/// Returns the findings, and whether the program has tasks.
pub fn check(preview: &Result<Preview, Error>) -> (Vec<Finding>, bool) {
    let finding = match preview {
        Ok(preview) => {
            let findings = std::iter::once(finding(preview)).chain(polls::check(preview)).collect();
            return (findings, preview.total() > 0 || preview.other != Other::default());
        }
        Err(Error::NotElf { .. }) => {
            Finding::ok(TOPIC, "not looked at: dyntrace ps reads 64-bit little-endian programs of Linux")
        }
        Err(error) => {
            Finding::unknown(TOPIC, error.to_string(), "make the file readable, or run dyntrace doctor as its owner")
        }
    };
    (vec![finding], false)
}

/// Judges by what can be shown of most types of tasks: the linker may have merged the functions of a few.
fn finding(preview: &Preview) -> Finding {
    let total = preview.total();
    if let Some(gap) = preview.other.gaps.first() {
        let (gap, remedy) = gap.rsplit_once("; ").unwrap_or((gap, DEBUG));
        return Finding::unknown(
            TOPIC,
            format!("a tokio program: which tasks dyntrace ps shows is not known: {gap}"),
            remedy,
        );
    }
    if let Some(note) = preview.notes.first() {
        // as in every message, the way out comes last
        let (missing, remedy) = note.rsplit_once("; ").unwrap_or((note, DEBUG));
        let text = format!(
            "a tokio program: dyntrace ps shows futures, lines and waits of {} of its {total} types of tasks; {missing}",
            preview.chains
        );
        return Finding::warn(TOPIC, text, remedy);
    }
    let (shown, text) = match () {
        () if total == 0 => {
            let text = "the file has no task vtables of tokio 1.38 or later: dyntrace ps shows nothing, unless a library has them";
            return Finding::ok(TOPIC, text);
        }
        () if preview.chains * 2 > total => {
            let text = format!(
                "a tokio program: dyntrace ps shows futures, lines and waits of {} of its {total} types of tasks",
                preview.chains
            );
            return Finding::ok(TOPIC, text);
        }
        () if preview.types > 0 => ("the types of futures, states and counts", "no lines and no waits"),
        () if preview.names > 0 => ("futures by their symbols, states and counts", "no lines and no waits"),
        () => ("ids, states and counts", "neither futures nor waits"),
    };
    Finding::warn(
        TOPIC,
        format!("a tokio program: dyntrace ps shows {shown} of {total} types of tasks, but {text}"),
        DEBUG,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Status;

    fn told(chains: usize, types: usize, names: usize, states: usize) -> (Status, String) {
        let finding = finding(&Preview { chains, types, names, states, ..Preview::default() });
        assert_eq!(finding.remedy.is_none(), finding.status == Status::Ok);
        (finding.status, finding.text)
    }

    #[test]
    fn less_debug_information_shows_less() {
        let (status, text) = told(20, 1, 0, 0);
        assert_eq!(status, Status::Ok);
        assert!(text.contains("lines and waits of 20 of its 21 types"), "{text}");
        for (preview, shown) in [
            ((0, 21, 0, 0), "the types of futures, states and counts of 21"),
            ((0, 0, 20, 1), "futures by their symbols, states and counts of 21"),
            ((0, 0, 0, 21), "ids, states and counts of 21"),
        ] {
            let (status, text) = told(preview.0, preview.1, preview.2, preview.3);
            assert!(status == Status::Warn && text.contains(shown), "{text}");
        }
    }

    #[test]
    fn another_layout_makes_it_unknown() {
        let gaps = vec!["another layout of tokio: no `Vtable` in app; build with `debug = 2`".to_owned()];
        let preview = Preview { other: Other { by_types: false, gaps }, ..Preview::default() };
        let (findings, has_tasks) = check(&Ok(preview));
        assert!(has_tasks);
        let told: Vec<_> = findings.iter().map(|finding| (finding.status, finding.remedy.as_deref())).collect();
        let remedy = Some("build with `debug = 2`");
        assert_eq!(told, [(Status::Unknown, remedy), (Status::Unknown, remedy)]);
        assert!(findings.iter().all(|finding| finding.text.contains("no `Vtable` in app")), "{findings:?}");
        let by_types = Preview { chains: 3, other: Other { by_types: true, gaps: Vec::new() }, ..Preview::default() };
        let [tasks, polls] = &check(&Ok(by_types)).0[..] else { panic!() };
        assert!(
            tasks.status == Status::Ok && polls.text.contains("types of its tokio have another layout"),
            "{polls:?}"
        );
    }

    #[test]
    fn missing_debug_information_is_told() {
        let notes = vec![
            "app: 3 of 4 units are in other files; there is no app.dwp; keep app.dwp beside the program".to_owned(),
        ];
        let finding = finding(&Preview { chains: 1, types: 20, notes, ..Preview::default() });
        assert_eq!(finding.status, Status::Warn);
        assert!(finding.text.contains("1 of its 21 types") && finding.text.ends_with("no app.dwp"), "{}", finding.text);
        assert_eq!(finding.remedy.as_deref(), Some("keep app.dwp beside the program"));
    }

    #[test]
    fn other_programs_are_in_order() {
        assert_eq!(told(0, 0, 0, 0).0, Status::Ok);
        let checked =
            |path: &str| check(&Preview::of(path.as_ref())).0.iter().map(|finding| finding.status).collect::<Vec<_>>();
        assert_eq!(checked("/bin/true"), [Status::Ok]);
        assert_eq!(checked("/proc/self/absent"), [Status::Unknown]);
    }
}
