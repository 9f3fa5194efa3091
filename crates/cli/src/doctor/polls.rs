//! Checks whether `dyntrace polls` can count the polls of a program's tasks.

use dyntrace_inspect::polls::{NO_WAKERS, script};
use dyntrace_runs::system;
use dyntrace_runs::tracer::{self, NAMES_OUTSIDE, Search, TracerKind};
use dyntrace_tasks::preview::Preview;

use super::finding::Finding;

const TOPIC: &str = "polls";

/// `None` for a file without tokio.
pub fn check(preview: &Preview) -> Option<Finding> {
    if let Some(gap) = preview.other.told() {
        let (gap, remedy) =
            gap.rsplit_once("; ").unwrap_or((&gap, "dyntrace ps and dyntrace why read it by its types"));
        return Some(Finding::unknown(
            TOPIC,
            format!("which polls dyntrace polls can count is not known: {gap}"),
            remedy,
        ));
    }
    let is_outside = system::is_in_first_pid_namespace();
    let tracer = || tracer::search(TracerKind::Bpftrace);
    (preview.total() > 0).then(|| finding(preview, &tracer(), is_outside, system::forbids(TracerKind::Bpftrace)))
}

/// `is_outside`: whether this is no container with its own numbers of processes. `forbids`: why this user may not trace.
fn finding(preview: &Preview, tracer: &Search, is_outside: bool, forbids: Option<String>) -> Finding {
    let functions = &preview.functions;
    let cannot = |why: &str, remedy: &str| {
        Finding::warn(TOPIC, format!("dyntrace polls cannot count the polls of this program: {why}"), remedy)
    };
    if functions.marks.is_none() {
        return cannot(script::NOT_IN_FILE, "check the program as the linker made it, without tools that pack it");
    }
    if functions.all().any(|function| !script::is_clear(function, preview.has_debug_file)) {
        return cannot(&format!("it {}", script::UNCLEAR), script::CLEAR);
    }
    let get = tracer::get_one(TracerKind::Bpftrace);
    let tracer = match tracer {
        Search::Found(tracer) if tracer.prints_events() => tracer,
        Search::Found(tracer) => {
            return cannot(&format!("bpftrace {} is too old, 0.17.0 or newer is needed", tracer.version), get);
        }
        Search::Missing | Search::Unfit { .. } => return cannot("bpftrace is not in PATH", get),
    };
    if tracer.mixes_processes() && !is_outside {
        return cannot(&format!("bpftrace {} {NAMES_OUTSIDE}", tracer.version), get);
    }
    if let Some(why) = forbids {
        let (missing, remedy) = why.split_once(": ").unwrap_or((&why, "use sudo"));
        return cannot(missing, remedy);
    }
    let count = functions.poll.len();
    let text = format!("dyntrace polls can count by bpftrace {}: {count} functions poll tasks", tracer.version);
    if functions.schedule.is_empty() {
        return Finding::ok(TOPIC, text);
    }
    Finding::warn(TOPIC, format!("{text}; {NO_WAKERS}"), "trace the program with its symbols: do not strip it")
}

#[cfg(test)]
mod tests {
    use dyntrace_runs::tracer::{Tracer, Version};
    use dyntrace_tasks::polls::{Function, Functions};

    use super::*;
    use crate::doctor::finding::Status;

    fn function(in_file: u64, has_symbol: bool) -> Function {
        Function { image: 0, path: "/app".into(), address: in_file, in_file, offset: in_file - 0x1000, has_symbol }
    }

    fn preview(has_symbols: bool) -> Preview {
        let of = |in_file| function(in_file, has_symbols);
        let functions = Functions {
            poll: vec![of(0x2000), of(0x3000)],
            wake: if has_symbols { vec![of(0x4000)] } else { Vec::new() },
            schedule: if has_symbols { Vec::new() } else { vec![of(0x4000)] },
            marks: Some([of(0x5000), of(0x6000)]),
        };
        Preview { chains: 3, functions, ..Preview::default() }
    }

    fn bpftrace(minor: u32) -> Search {
        Search::Found(Tracer {
            kind: TracerKind::Bpftrace,
            path: "/usr/bin/bpftrace".into(),
            version: Version(0, minor, 0),
        })
    }

    fn told(preview: &Preview, tracer: &Search, forbids: Option<&str>) -> (Status, String) {
        of(finding(preview, tracer, true, forbids.map(str::to_owned)))
    }

    fn of(finding: Finding) -> (Status, String) {
        assert_eq!(finding.remedy.is_none(), finding.status == Status::Ok);
        (finding.status, finding.text)
    }

    #[test]
    fn a_program_with_symbols_and_a_tracer_is_in_order() {
        let (status, text) = told(&preview(true), &bpftrace(24), None);
        assert!(status == Status::Ok && text.ends_with("by bpftrace 0.24.0: 2 functions poll tasks"), "{text}");
        let inside = finding(&preview(true), &bpftrace(24), false, None);
        assert_eq!(of(inside), (status, text));
        assert_eq!(told(&preview(true), &bpftrace(17), None).0, Status::Ok);
        assert!(check(&Preview::default()).is_none());
    }

    #[test]
    fn each_thing_that_is_missing_is_told() {
        let (sound, newest) = (preview(true), bpftrace(24));
        let packed = Preview { functions: Functions { marks: None, ..sound.functions.clone() }, ..sound.clone() };
        let split = Preview { has_debug_file: true, ..preview(false) };
        let why = Some("tracing needs root, or CAP_BPF and CAP_PERFMON: use sudo");
        for (told, part) in [
            (told(&packed, &newest, None), "are not in its file"),
            (told(&split, &newest, None), "this program: it has its symbols in another file"),
            (told(&sound, &Search::Missing, why), "bpftrace is not in PATH"),
            (told(&sound, &bpftrace(16), None), "bpftrace 0.16.0 is too old"),
            (
                of(finding(&sound, &bpftrace(17), false, None)),
                "bpftrace 0.17.0 names processes by their numbers outside",
            ),
            (told(&sound, &newest, why), "this program: tracing needs root, or CAP_BPF and CAP_PERFMON"),
            (told(&preview(false), &newest, None), "wakes of a task that is being polled are not counted"),
        ] {
            assert!(told.0 == Status::Warn && told.1.contains(part), "{told:?}");
        }
    }
}
