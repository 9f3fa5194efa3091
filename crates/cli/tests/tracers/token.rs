//! `dyntrace view --token` on a recorded run of the example `pipeline`, whose requests have the labels from 42 on.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::machine;
use crate::programs::example;

fn dyntrace(folder: &Path, arguments: &[&str]) -> String {
    let mut command = machine::command(env!("CARGO_BIN_EXE_dyntrace"));
    machine::stdout(command.args(arguments).current_dir(folder))
}

#[test]
fn a_request_is_followed_over_all_stages() {
    let folder = tempfile::tempdir().expect("a directory for the trace");
    let pipeline = example("pipeline").display().to_string();
    dyntrace(folder.path(), &["record", "-o", "trace", "--", &pipeline]);
    for (label, file) in [("42", "poem"), ("43", "list"), ("44", "note")] {
        let events = dyntrace(folder.path(), &["view", "trace", "--token", label, "--json"]);
        let events: Vec<Value> = events.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
        let of = |probe: &str| -> Vec<&Value> {
            events.iter().filter(|event| event["probe"] == format!("dyntrace:{probe}")).collect()
        };
        // To the reader, from there to the counter, from there to the reporter.
        for probe in ["message-send", "message-queued", "message-receive"] {
            let counts: Vec<(i64, i64)> = of(probe)
                .iter()
                .map(|event| (event["token_previous"].as_i64().unwrap(), event["token_current"].as_i64().unwrap()))
                .collect();
            assert_eq!(counts.len(), 3, "{probe} of {label}");
            assert!(
                counts.windows(2).all(|pair| pair[0].1 == pair[1].0),
                "{counts:?}: each was led to by the one before"
            );
        }
        // One process reads its file, another writes a line for it, both with its token, and each is answered once.
        let entered = of("efile_drv-entry");
        let commands: Vec<i64> = entered.iter().map(|event| event["command"].as_i64().unwrap()).collect();
        // The last request's token stays until the end, when the report is closed and read.
        assert!(commands.starts_with(&[15, 4]) && (commands.len() == 2 || label == "44"), "{label}: {commands:?}");
        assert!(entered[0]["s1"].as_str().unwrap().ends_with(file), "{entered:?}");
        assert!(entered.iter().all(|event| event["user_tag"].as_str().unwrap().ends_with(file)), "{entered:?}");
        let id = |event: &&Value| (event["thread_id"].as_i64(), event["tag"].as_i64());
        let ids = |probe| of(probe).iter().map(id).collect::<BTreeSet<_>>();
        assert_eq!(ids("efile_drv-entry"), ids("efile_drv-return"));
        assert_eq!(ids("efile_drv-entry"), ids("seq_trace-operation"));

        let listing = dyntrace(folder.path(), &["view", "trace", "--token", label]);
        let line = |start: &str, depth: usize| {
            let start = "  ".repeat(depth) + start;
            assert!(listing.lines().any(|line| line.starts_with(&start)), "{start:?} in\n{listing}");
        };
        (0..3).for_each(|depth| line("send:    ", depth));
        (1..4).for_each(|depth| line("receive: ", depth));
        assert!(!listing.contains("seq_trace-operation"), "{listing}");
    }
}
