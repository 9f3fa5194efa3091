//! Traced functions whose session sends its events to the probes.

use crate::machine::turn;
use crate::programs::traced;

/// Lines of calls, and of how they end: the last number says whether the function ran all the time.
const LINES: [(&str, &str); 2] = [
    (
        "bpftrace",
        r#"usdt:$1:dyntrace:function__entry
{
	printf("call %s (%s) %s from %s\n", str(arg1), str(arg2), str(arg3), str(arg4));
}

usdt:$1:dyntrace:function__return
{
	printf("%s %s %s %s %d\n", str(arg4), str(arg1), str(arg2), str(arg3), arg5 == arg6);
}
"#,
    ),
    (
        "dtrace",
        r#"#pragma D option quiet

dyntrace$target:::function-entry
{
	printf("call %s (%s) %s from %s\n", copyinstr(arg1), copyinstr(arg2), copyinstr(arg3),
	    arg4 == 0 ? "" : copyinstr(arg4));
}

dyntrace$target:::function-return
{
	printf("%s %s %s %s %d\n", copyinstr(arg4), copyinstr(arg1), arg2 == 0 ? "" : copyinstr(arg2), copyinstr(arg3),
	    arg5 == arg6);
}
"#,
    ),
];

/// How many there are. DTrace prints a line for each: what one processor has seen it counts twice now and then, when it is given a
/// process that ends at once.
const COUNTS: [(&str, &str); 2] = [
    (
        "bpftrace",
        r#"config = { print_maps_on_exit = 0 }
usdt:$1:dyntrace:function__entry { @entries = count(); }
usdt:$1:dyntrace:function__return { @returns = count(); }
END { printf("entries %lld\nreturns %lld\n", (int64)@entries, (int64)@returns); }
"#,
    ),
    (
        "dtrace",
        r#"#pragma D option quiet
dyntrace$target:::function-entry { printf("entries\n"); }
dyntrace$target:::function-return { printf("returns\n"); }
"#,
    ),
];

/// Holds what each tracer prints against what the program says.
fn check(scripts: [(&str, &str); 2], arguments: &[&str], read: fn(&str) -> Vec<String>) {
    for (tracer, text) in scripts {
        let Some(_turn) = turn(tracer, true) else { continue };
        let folder = tempfile::tempdir().expect("a directory for the script");
        let script = folder.path().join(if tracer == "dtrace" { "calls.d" } else { "calls.bt" });
        std::fs::write(&script, text).expect("a script to run");
        let (trace, said) = traced(tracer, &script.display().to_string(), "traced_calls", arguments);
        // DTrace writes one buffer for each processor.
        let [mut seen, mut done] = [read(&trace), lines(&said)];
        seen.sort_unstable();
        done.sort_unstable();
        assert_eq!(seen, done, "{tracer}");
    }
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

/// Each kind of line with a number: its own, or how many there are of those that have none.
fn counts(text: &str) -> Vec<String> {
    let mut lines = lines(text);
    lines.sort_unstable();
    let kinds = lines.chunk_by(|one, other| one == other);
    kinds
        .map(|kind| if kind[0].contains(' ') { kind[0].clone() } else { format!("{} {}", kind[0], kind.len()) })
        .collect()
}

#[test]
fn each_call_with_its_arguments_and_its_end() {
    check(LINES, &[], lines);
}

#[test]
fn every_call_of_a_storm() {
    check(COUNTS, &["storm"], counts);
}
