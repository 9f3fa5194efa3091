//! Traced functions whose session sends its events to the probes.

use crate::machine::turn;
use crate::programs::traced;

/// Lines of calls and of their ends. The last number tells whether the function ran all the time.
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

/// Compares the output of each tracer with the program's.
fn check(scripts: [(&str, &str); 2], arguments: &[&str]) {
    for (tracer, text) in scripts {
        let Some(_turn) = turn(tracer, true) else { continue };
        let folder = tempfile::tempdir().expect("a directory for the script");
        let script = folder.path().join(if tracer == "dtrace" { "calls.d" } else { "calls.bt" });
        std::fs::write(&script, text).expect("a script to run");
        let (trace, said) = traced(tracer, &script.display().to_string(), "traced_calls", arguments);
        // DTrace writes a buffer for each processor.
        let [seen, done] = [&trace, &said].map(|text| {
            let mut lines: Vec<_> = text.lines().collect();
            lines.sort_unstable();
            lines
        });
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
