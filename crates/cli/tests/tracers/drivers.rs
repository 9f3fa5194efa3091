//! The scripts of the example drivers, compared with the output of the examples.

use std::fs;

use crate::machine;
use crate::programs;

/// A file to hash: its name and length.
type File = (&'static str, usize);

const FILES: [File; 3] = [("empty", 0), ("large", 300_000), ("small", 5)];

/// Names for `resolver_driver`. The last one is invalid, so that no network is used.
pub fn names() -> [String; 3] {
    ["127.0.0.1".to_owned(), "::1".to_owned(), "x".repeat(64)]
}

/// The path of an example's script.
pub fn script(example: &str, script: &str) -> String {
    machine::workspace().join(format!("examples/{example}/scripts/{script}")).display().to_string()
}

/// Both examples under a tracer.
pub fn check(tracer: &str, extension: &str, port: impl Fn(&str) -> bool) {
    let folder = tempfile::tempdir().expect("a directory to hash");
    for (name, length) in FILES {
        fs::write(folder.path().join(name), vec![b'x'; length]).expect("a file to hash");
    }
    let folder = folder.path().to_str().expect("a temporary path is UTF-8");
    let scripts = script("digest_driver", &format!("digests.{extension}"));
    let (trace, said) = programs::traced(tracer, &scripts, "digest_driver", &[folder]);
    digests(&trace, &said, folder, &FILES, port);

    let scripts = script("resolver_driver", &format!("look_ups.{extension}"));
    let names = names();
    let (trace, said) =
        programs::traced_to_status(1, tracer, &scripts, "resolver_driver", &names.each_ref().map(String::as_str));
    look_ups(&trace, &said);
}

/// `digests`: four lines with one tag for each file, and as many bytes as the files have.
pub fn digests(trace: &str, said: &str, folder: &str, files: &[File], is_port: impl Fn(&str) -> bool) {
    let printed: Vec<&str> =
        said.lines().filter_map(|line| line.split_once("  ")).map(|(_digest, path)| path).collect();
    let paths: Vec<String> = files.iter().map(|(name, _)| format!("{folder}/{name}")).collect();
    assert_eq!(printed, paths, "the files that digest_driver says it hashed");

    let mut seen: Vec<&str> = trace.lines().collect();
    for ((_, length), path) in files.iter().zip(paths) {
        let mut line = |begin: &str, end: &str| {
            let at = seen.iter().position(|line| line.starts_with(begin) && line.contains(end));
            seen.swap_remove(at.unwrap_or_else(|| panic!("no {begin:?} ... {end:?} in:\n{trace}")))
        };
        let enter = line("digest_drv enter tag={", &format!("}} user tag {folder} | SHA256 (1) | {path} (port "));
        let (_, port) = enter.rsplit_once("(port ").expect("an enter line has a port");
        assert!(is_port(port.trim_end_matches(')')), "{enter}");
        let tag = &enter[enter.find("tag=").expect("a tag")..=enter.find('}').expect("its end")];
        for step in ["int_entry", "int_return"] {
            line(&format!("async I/O worker {tag} | SHA256 (1) | digest_drv-{step}"), "");
        }
        line(&format!("digest_drv return {tag} user tag {folder} | SHA256 (1) | {length} bytes, ok"), "");
    }
    assert_eq!(seen, [""; 0], "lines of no file");
}

/// `look_ups`: a line for each name, with the number of printed addresses and the durations.
pub fn look_ups(trace: &str, said: &str) {
    let mut seen: Vec<Vec<&str>> = trace.lines().map(|line| line.split(" | ").collect()).collect();
    seen.sort_unstable();
    assert_eq!(seen.len(), names().len(), "{trace}");
    for ((number, name), line) in (1..).zip(names()).zip(seen) {
        let [tag, command, addresses, times, end] = line[..] else { panic!("{line:?}") };
        let printed = said.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
        let found = printed.map_or(0, |addresses| addresses.split(' ').count());
        let expected = [format!("req-{number}"), format!("ANY (1) {name}"), format!("{found} addresses")];
        assert_eq!([tag, command, addresses], expected.each_ref().map(String::as_str));
        let words: Vec<&str> = times.split(' ').collect();
        let [queue, work, answer] = [1, 4, 7].map(|at| words[at].parse::<u64>().expect("a time"));
        assert_eq!(times, format!("queue {queue} us, work {work} us, answer {answer} us"));
        assert_eq!(end == "ok", printed.is_some(), "{line:?}");
        assert!(!end.is_empty(), "{line:?}");
    }
}
