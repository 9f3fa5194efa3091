//! The commands of the book's chapters run, and print each line that a chapter shows. Digits and the names of temporary folders differ from
//! run to run, and are not compared.
//!
//! `dyntrace run` has the option `--tracer recorder` here, so that the machine's tracers do not matter: its scripts print the same lines under
//! each, which the tests of tracers compare. Chapters with a test of their own are not here.
#![cfg(target_os = "linux")]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use tempfile::TempDir;

/// Examples that the chapters name, and their packages.
const EXAMPLES: [(&str, &str); 5] = [
    ("dyntrace", "checkout"),
    ("dyntrace", "file_storm"),
    ("dyntrace", "pipeline"),
    ("dyntrace", "rename_tagged"),
    ("dyntrace-tasks", "deadlock"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folder of the build; examples are in `examples` below it.
fn build() -> PathBuf {
    env::current_exe().unwrap().ancestors().nth(2).unwrap().to_owned()
}

fn chapter(name: &str) -> String {
    fs::read_to_string(root().join("docs").join(name)).unwrap()
}

fn blocks<'c>(chapter: &'c str, language: &str) -> Vec<&'c str> {
    let code = chapter.split("```").skip(1).step_by(2);
    code.filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n')).collect()
}

/// A folder in which the commands of a chapter run, one after the other.
struct Place {
    folder: TempDir,
    /// Programs started by `&`; the last one is `PID`.
    started: Vec<(String, Child)>,
}

impl Drop for Place {
    fn drop(&mut self) {
        for (command, program) in &mut self.started {
            // A recording ends with its program.
            if !command.contains("dyntrace record") {
                let _ = program.kill();
            }
            let _ = program.wait();
        }
    }
}

impl Place {
    fn new() -> Place {
        for (package, name) in EXAMPLES {
            if !build().join("examples").join(name).exists() {
                let release = if build().ends_with("release") { &["--release"][..] } else { &[] };
                let arguments = ["build", "-p", package, "--example", name];
                assert!(Command::new(env!("CARGO")).args(arguments).args(release).status().unwrap().success());
            }
        }
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("run")).unwrap();
        Place { folder, started: Vec::new() }
    }

    /// The command in a shell that becomes it.
    fn shell(&self, command: &str) -> Command {
        let pid = self.started.last().map_or(0, |(_, program)| program.id()).to_string();
        let command = command.replace("PID", &pid).replace("target/release/examples/", "");
        let (variables, command) = match command.split_once(' ') {
            Some((first, rest)) if first.contains('=') => (format!("export {first}; "), rest.to_owned()),
            _ => (String::new(), command),
        };
        let command = match command.strip_prefix("dyntrace run ") {
            Some(rest) => format!("dyntrace run --tracer recorder {rest}"),
            None => command,
        };
        let own = Path::new(env!("CARGO_BIN_EXE_dyntrace")).parent().unwrap();
        let path = format!("{}:{}:/usr/bin:/bin", own.display(), build().join("examples").display());
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{variables}exec {command}")]).current_dir(self.folder.path()).stdin(Stdio::null());
        shell.env("PATH", path).env("XDG_RUNTIME_DIR", self.folder.path().join("run")).env_remove("DYNTRACE");
        shell
    }

    fn start(&mut self, command: &str) {
        let program = self.shell(command).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        self.started.push((command.to_owned(), program));
    }

    /// Runs a command until it prints the lines. Returns whether this user may.
    fn run(&self, command: &str, shown: &str) -> bool {
        let shown: Vec<String> = shown.lines().filter(|line| !matches!(line.trim(), "" | "...")).map(general).collect();
        let mut tries = 0;
        loop {
            let Output { status, stdout, stderr } = self.shell(command).output().unwrap();
            let printed = String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr);
            if printed.contains("ptrace_scope") {
                eprintln!("SKIPPED: {printed}");
                return false;
            }
            // A limit of the rate may have left out events, which is status 3. Of programs without debug information part is unknown: 5.
            let is_fine =
                matches!(status.code(), Some(0 | 5)) || (command.contains("--rate") && status.code() == Some(3));
            let lines: Vec<String> = printed.lines().map(general).collect();
            let missing: Vec<&String> = shown.iter().filter(|line| !lines.contains(line)).collect();
            if is_fine && missing.is_empty() {
                return true;
            }
            // A program that was started must reach the state that the chapter shows.
            tries += 1;
            let can_change = command.contains("PID") && tries < 50;
            assert!(can_change, "{command} ended with {status} and printed no {missing:#?}, but\n{printed}");
            sleep(Duration::from_millis(200));
        }
    }
}

/// A line without what differs from run to run.
fn general(line: &str) -> String {
    let word = |word: &str| match word {
        _ if word.starts_with('/') => "path".to_owned(),
        _ => word.replace(|character: char| character.is_ascii_digit(), ""),
    };
    line.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

/// Runs the chapter. Returns how many commands ran.
fn run(name: &str) -> usize {
    let chapter = chapter(name);
    let mut place = Place::new();
    let mut commands = 0;
    for block in blocks(&chapter, "console") {
        for shown in format!("\n{block}").split("\n$ ").skip(1) {
            let (command, shown) = shown.split_once('\n').unwrap_or((shown, ""));
            let command = command.split("  #").next().unwrap().trim_end();
            match command.strip_suffix(" &") {
                Some(command) => place.start(command),
                None if !place.run(command, shown) => return commands,
                None => {}
            }
            commands += 1;
        }
    }
    commands
}

#[test]
fn see_your_first_operation() {
    assert_eq!(run("first_operation.md"), 5);
    let example = fs::read_to_string(root().join("examples/rename_tagged.rs")).unwrap();
    let chapter = chapter("first_operation.md");
    let [shown] = blocks(&chapter, "rust")[..] else { panic!("one program") };
    assert!(example.contains(shown), "{shown}");
}

#[test]
fn trace_a_program_you_did_not_build() {
    run("unprepared.md");
}

#[test]
fn axum_in_five_lines() {
    let chapter = chapter("servers_in_five_lines.md");
    let tonic = blocks(&chapter, "rust")[2];
    let example = fs::read_to_string(root().join("crates/tower/examples/grpc_files.rs")).unwrap();
    assert!(example.contains(tonic), "{tonic}");
}

#[test]
fn files() {
    assert_eq!(run("files.md"), 3);
}

#[test]
fn tags() {
    assert_eq!(run("tags.md"), 2);
}

#[test]
fn messages() {
    assert_eq!(run("messages.md"), 3);
}

#[test]
fn your_own_probes() {
    assert_eq!(run("own_probes.md"), 1);
    let example = fs::read_to_string(root().join("examples/checkout.rs")).unwrap();
    assert!(example.contains(blocks(&chapter("own_probes.md"), "rust")[0]));
}

#[test]
fn recording() {
    assert!(run("recording.md") >= 2);
}

#[test]
fn snapshots() {
    assert_eq!(run("snapshots.md"), 2);
}

#[test]
fn a_thousand_machines() {
    assert_eq!(run("fleet.md"), 4);
    let chapter = chapter("fleet.md");
    for entry in fs::read_dir(root().join("fleet")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(chapter.contains(&format!("`{name}`")), "docs/fleet.md lacks {name}");
    }
}

#[test]
fn reading_traces() {
    assert_eq!(run("reading_traces.md"), 12);
}
