//! The raw probes in perf.

use std::path::Path;

use crate::machine::{command, run, stdout, turn};
use crate::programs::{Done, STORMS, done, example};

/// Adds the probes of a program to perf's list. Dropping this removes them.
struct Listed<'a>(&'a Path);

impl<'a> Listed<'a> {
    fn new(program: &'a Path) -> Listed<'a> {
        run(command("perf").args(["buildid-cache", "--add"]).arg(program));
        let listed = Listed(program);
        run(command("perf").args(["probe", "-q", "sdt_dyntrace:efile_drv__*"]));
        listed
    }
}

impl Drop for Listed<'_> {
    fn drop(&mut self) {
        // An error here would hide the test's own failure; a probe that is left fails the test later.
        let _ = command("perf").args(["probe", "-q", "-d", "sdt_dyntrace:*"]).output();
        let _ = command("perf").args(["buildid-cache", "--remove"]).arg(self.0).output();
    }
}

/// The arguments of a line such as `... sdt_dyntrace:NAME: (55e3) arg1=0 arg2=2`.
fn arguments(line: &str) -> Vec<i64> {
    line.split_whitespace().filter_map(|word| word.strip_prefix("arg")?.split_once('=')?.1.parse().ok()).collect()
}

#[test]
fn every_operation_with_all_arguments() {
    let Some(_turn) = turn("perf", true) else { return };
    let program = example("file_storm");
    let folder = tempfile::tempdir().expect("a directory for perf's data");
    let data = folder.path().join("perf.data");
    let _listed = Listed::new(&program);
    for storm in STORMS {
        let mut record = command("perf");
        record.args(["record", "-q", "-e", "sdt_dyntrace:efile_drv__*", "-o"]).arg(&data).arg(&program).args(storm);
        let done = done(&stdout(&mut record));
        let lines = stdout(command("perf").args(["script", "-i"]).arg(&data));
        assert!(!lines.contains("LOST"), "perf lost events");

        let of = |probe: &str| -> Vec<Vec<i64>> {
            let name = format!("sdt_dyntrace:efile_drv__{probe}: ");
            lines.lines().filter(|line| line.contains(&name)).map(arguments).collect()
        };
        let (entries, returns) = (of("entry"), of("return"));
        assert!(entries.iter().all(|arguments| arguments.len() == 11 && arguments[10] != 0), "{entries:?}");
        assert_eq!((of("int_entry").len(), of("int_return").len()), (entries.len(), entries.len()));
        assert_eq!(operations(&entries), operations(&returns));
        assert_eq!(counted(&returns), done);
    }
}

/// Thread, number and command of each operation.
fn operations(events: &[Vec<i64>]) -> Vec<[i64; 3]> {
    let mut operations: Vec<_> = events.iter().map(|arguments| [arguments[0], arguments[1], arguments[3]]).collect();
    operations.sort_unstable();
    operations
}

/// By success; errno must agree.
fn counted(returns: &[Vec<i64>]) -> Done {
    let mut done = Done::new();
    for arguments in returns {
        let [_, _, _, command, success, errno, _] = arguments[..] else { panic!("not seven arguments: {arguments:?}") };
        assert_eq!(success == 1, errno == 0, "{arguments:?}");
        let name = dyntrace::efile::Command::ALL.iter().find(|known| i64::from(known.number()) == command);
        let count = done.entry(name.expect("a command of the table").name().to_owned()).or_default();
        if success == 1 { count.0 += 1 } else { count.1 += 1 }
    }
    done
}
