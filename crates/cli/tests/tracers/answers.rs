//! The output of the summarizing scripts for a `file_storm`, compared with the program's operations.

use std::collections::{BTreeMap, BTreeSet};

use dyntrace::efile;
use nix::errno::Errno;

use crate::programs::Done;

/// The line of the script `efile_errors` on `rename_tagged`.
pub const FAILED_RENAME: &str = "\
efile_drv error tag={1,1} user tag some-user-tag | RENAME (12) | ENOENT (2) | args: old-name new-name , 0 0
";

/// `efile_errors`: a line for each failed operation, with the name of its error and its path, if any.
pub fn errors(trace: &str, done: &Done) {
    let mut seen = BTreeMap::<&str, u64>::new();
    for line in trace.lines() {
        let [head, command, error, args] = line.split(" | ").collect::<Vec<_>>()[..] else { panic!("{line:?}") };
        assert!(head.starts_with("efile_drv error tag={") && head.contains("} user tag req-"), "{line:?}");
        let command = efile::Command::ALL.iter().find(|known| known.to_string() == command);
        let command = command.unwrap_or_else(|| panic!("no command of the table: {line:?}"));
        *seen.entry(command.name()).or_default() += 1;

        let (name, number) = error.strip_suffix(')').and_then(|error| error.split_once(" (")).expect("NAME (number)");
        assert_eq!(name, format!("{:?}", Errno::from_raw(number.parse().expect("a number"))), "{line:?}");
        // Commands that also take a path succeed on open files of file_storm.
        let has_path = args.strip_prefix("args: ").expect("its arguments").starts_with('/');
        let takes_path = command.arguments().iter().any(|argument| argument.position == efile::Position::S1);
        assert_eq!(has_path, takes_path, "{line:?}");
    }
    let failed = done.iter().map(|(name, (_ok, failed))| (name.as_str(), *failed)).filter(|(_, failed)| *failed > 0);
    assert_eq!(seen, failed.collect(), "operations that failed, by command: traced, and as file_storm counted");
}

/// `efile_latency`: three lines for each command, each with every operation in one column of its histogram.
pub fn latency(trace: &str, done: &Done) {
    let mut lines = trace.lines();
    let titles = "command phase count mean_us <1us <4us <16us <64us <256us <1ms <4ms <16ms <64ms <256ms <1s more";
    assert_eq!(words(lines.next().unwrap_or_default()).join(" "), titles);
    let mut seen = BTreeMap::<&str, Vec<(&str, u64)>>::new();
    for line in lines {
        let (command, rest) = line.split_once(' ').unwrap_or_else(|| panic!("{line:?}"));
        let phase = ["in queue", "service", "to answer"].into_iter().find(|phase| rest.trim().starts_with(phase));
        let phase = phase.unwrap_or_else(|| panic!("{line:?}"));
        let numbers = words(rest.trim().trim_start_matches(phase));
        let numbers: Vec<u64> = numbers.iter().map(|number| number.parse().expect("a number")).collect();
        let [count, _mean, histogram @ ..] = numbers.as_slice() else { panic!("{line:?}") };
        assert_eq!((histogram.len(), histogram.iter().sum()), (12, *count), "{line:?}");
        seen.entry(command).or_default().push((phase, *count));
    }
    let phases = |(name, (ok, failed)): (_, &(u64, u64))| {
        (name, ["in queue", "service", "to answer"].map(|phase| (phase, ok + failed)).to_vec())
    };
    let expected = done.iter().map(|(name, counts)| phases((name.as_str(), counts)));
    assert_eq!(seen, expected.collect(), "operations by command: traced, and as file_storm counted");
}

/// The bytes that each successful operation moves, in the runs of [`STORMS`](crate::programs::STORMS).
pub const SIZES: [&[(&str, u64)]; 2] = [
    &[
        ("COPY", 4),
        ("IPREAD", 4),
        ("PREADV", 4),
        ("PWRITEV", 4),
        ("READ", 2),
        ("READ_FILE", 4),
        ("READ_LINE", 8),
        ("WRITE", 18),
        ("WRITE_FILE", 4),
    ],
    &[
        ("COPY", 19),
        ("PREADV", 19),
        ("PWRITEV", 19),
        ("READ", 8),
        ("READ_FILE", 19),
        ("READ_LINE", 19),
        ("WRITE", 19),
        ("WRITE_FILE", 19),
    ],
];

/// `efile_by_tag`: a line for each command and task; the tasks of a `file_storm` all do the same.
pub fn by_tag(trace: &str, done: &Done, sizes: &[(&str, u64)]) {
    let mut lines = trace.lines();
    let titles = "command operations errors bytes time_us user tag";
    assert_eq!(words(lines.next().unwrap_or_default()).join(" "), titles);
    let mut seen = BTreeMap::<&str, Vec<(&str, [u64; 3])>>::new();
    for line in lines {
        let [command, operations, errors, bytes, _time, tag] = words(line)[..] else { panic!("{line:?}") };
        let numbers = [operations, errors, bytes].map(|number| number.parse().expect("a number"));
        seen.entry(command).or_default().push((tag, numbers));
    }
    assert!(
        seen.keys().eq(done.keys()),
        "commands: traced {:?}, and as file_storm counted {:?}",
        seen.keys(),
        done.keys()
    );
    for (command, mut tasks) in seen {
        tasks.sort_unstable();
        let (ok, failed) = done[command];
        let count = tasks.len() as u64;
        let mut tags: Vec<String> = (1..=count).map(|task| format!("req-{task}")).collect();
        tags.sort_unstable();
        assert_eq!(tasks.iter().map(|(tag, _)| *tag).collect::<Vec<_>>(), tags, "{command}");
        for (tag, [operations, errors, bytes]) in tasks {
            assert_eq!((operations * count, errors * count), (ok + failed, failed), "{command} for {tag}");
            let size = sizes.iter().find(|(name, _)| *name == command).map_or(0, |(_, size)| *size);
            assert_eq!(bytes, size * (operations - errors), "{command} for {tag}");
        }
    }
}

/// The number of requests to `pipeline` in tests of [`message_latency`].
pub const REQUESTS: [&str; 40] = ["/etc/passwd"; 40];

/// `message_latency`: each stage of a `pipeline` received each request once, like in its report, and each was timed.
pub fn message_latency(trace: &str, report: &str) {
    let mut lines = trace.lines();
    let titles = "process receiver messages timed mean_us max_us queue_max \
                  <1us <4us <16us <64us <256us <1ms <4ms <16ms <64ms <256ms <1s more";
    assert_eq!(words(lines.next().unwrap_or_default()).join(" "), titles);
    let requests = report.lines().count() as u64;
    assert_eq!(requests, REQUESTS.len() as u64, "{report}");
    let mut receivers = BTreeSet::new();
    for line in lines {
        let [process, receiver, ref numbers @ ..] = words(line)[..] else { panic!("{line:?}") };
        assert!(process.parse::<u32>().is_ok_and(|process| process > 0), "{line:?}");
        assert!(receiver.starts_with("<0.") && receiver.ends_with(".0>"), "{line:?}");
        receivers.insert(receiver);
        let numbers: Vec<u64> = numbers.iter().map(|number| number.parse().expect("a number")).collect();
        let [messages, timed, mean_us, max_us, queue_max, histogram @ ..] = numbers.as_slice() else {
            panic!("{line:?}")
        };
        assert_eq!((*messages, *timed), (requests, requests), "{line:?}");
        assert_eq!((histogram.len(), histogram.iter().sum()), (12, requests), "{line:?}");
        // Its mailboxes have 16 places.
        assert!(mean_us <= max_us && (1..=16).contains(queue_max), "{line:?}");
    }
    assert_eq!(receivers.len(), 3, "the stages:\n{trace}");
}

pub fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}
