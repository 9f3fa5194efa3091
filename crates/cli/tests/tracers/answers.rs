//! What the scripts that answer questions print of a `file_storm`, read back and held against what the program did.

use std::collections::BTreeMap;

use dyntrace::efile;
use nix::errno::Errno;

use crate::programs::Done;

/// The line of the script `efile_errors` on `rename_tagged`.
pub const FAILED_RENAME: &str = "\
efile_drv error tag={1,1} user tag some-user-tag | RENAME (12) | ENOENT (2) | args: old-name new-name , 0 0
";

/// `efile_errors`: a line for each operation that failed, with its error by name and, if it was about a path, that path.
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
        // What file_storm does to open files goes well for the commands that also take a path.
        let has_path = args.strip_prefix("args: ").expect("its arguments").starts_with('/');
        let takes_path = command.arguments().iter().any(|argument| argument.position == efile::Position::S1);
        assert_eq!(has_path, takes_path, "{line:?}");
    }
    let failed = done.iter().map(|(name, (_ok, failed))| (name.as_str(), *failed)).filter(|(_, failed)| *failed > 0);
    assert_eq!(seen, failed.collect(), "operations that failed, by command: traced, and as file_storm counted");
}
