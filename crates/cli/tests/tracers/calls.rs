//! Traced functions whose session sends its events to the probes.

use crate::machine::turn;
use crate::programs::traced_in_time;

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

/// How many there are.
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
dyntrace$target:::function-entry { @entries = count(); }
dyntrace$target:::function-return { @returns = count(); }
END { printa("entries %@d\n", @entries); printa("returns %@d\n", @returns); }
"#,
    ),
];

/// DTrace 2.0.7 now and then attaches to a probe a second time while the program runs, and has its events twice from then on; or does not
/// let the program go on. Such a run says nothing of the program, so there is another one.
const TRIES: usize = 10;

/// Holds what each tracer prints against what the program says.
fn check(scripts: [(&str, &str); 2], arguments: &[&str]) {
    for (tracer, text) in scripts {
        let Some(_turn) = turn(tracer, true) else { continue };
        let folder = tempfile::tempdir().expect("a directory for the script");
        let script = folder.path().join(if tracer == "dtrace" { "calls.d" } else { "calls.bt" });
        std::fs::write(&script, text).expect("a script to run");
        let run = || {
            let (trace, said) = traced_in_time(tracer, &script.display().to_string(), "traced_calls", arguments)?;
            // DTrace writes one buffer for each processor.
            Some([trace, said].map(|text| {
                let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
                lines.sort_unstable();
                lines
            }))
        };
        let mut lines = run();
        for _ in 1..if tracer == "dtrace" { TRIES } else { 1 } {
            if lines.as_ref().is_none_or(|[seen, done]| seen != done) {
                lines = run();
            }
        }
        let [seen, done] = lines.expect("the tracer lets the program go on");
        assert_eq!(seen, done, "{tracer}");
    }
}

#[test]
fn each_call_with_its_arguments_and_its_end() {
    check(LINES, &[]);
}

#[test]
fn every_call_of_a_storm() {
    check(COUNTS, &["storm"]);
}
