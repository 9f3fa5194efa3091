//! docs/metrics.md: its commands run, and its names are those of the metrics.

use std::collections::BTreeSet;

use dyntrace_metrics::FAMILIES;

use crate::serving;

const CHAPTER: &str = include_str!("../../../../docs/metrics.md");

#[test]
fn its_commands_run() {
    let (place, mut firing) = serving();
    firing.fire();
    let own = std::env::current_exe().unwrap();
    // It has one round of operations.
    std::fs::write(place.path("input"), "1").unwrap();
    let server = format!("{} --exact role --nocapture", own.display());
    let mut ran = 0;
    for command in CHAPTER.lines().filter_map(|line| line.strip_prefix("$ dyntrace ")) {
        // These need a scraper and a collector: `scrapes_until_an_interrupt`, and the tests of `convert` and `export`.
        if command.contains("--listen") || command.contains("http://") {
            continue;
        }
        let command = command.replace("PID", &firing.pid()).replace("target/release/server", &server).replace('\'', "");
        let arguments: Vec<&str> = command.split(' ').collect();
        let input = std::fs::File::open(place.path("input")).unwrap();
        let output = place.dyntrace(&arguments).env("ROLE", "once").stdin(input).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{command}: {output:?}");
        ran += 1;
    }
    assert_eq!(ran, 5);
    assert!(place.path("spans.jsonl").exists());
}

#[test]
fn its_names_are_those_of_the_metrics() {
    let names: BTreeSet<&str> = FAMILIES.iter().map(|family| family.name).collect();
    let listed = CHAPTER.lines().filter_map(|line| line.strip_prefix("| `dyntrace_")?.split_once('`'));
    let listed: Vec<String> = listed.map(|(name, _)| format!("dyntrace_{name}")).collect();
    assert_eq!(listed, FAMILIES.iter().map(|family| family.name).collect::<Vec<_>>());
    let is_name = |c: char| c.is_ascii_lowercase() || c == '_';
    for word in CHAPTER.split(|c| !is_name(c)).filter(|word| word.starts_with("dyntrace_")) {
        let family = word.trim_end_matches("_bucket");
        // The crate's own name in Rust.
        assert!(names.contains(family) || word == "dyntrace_metrics", "{word}");
    }
}
