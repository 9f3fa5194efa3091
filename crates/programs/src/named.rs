//! Processes by their numbers or names, as `-p` takes them.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use dyntrace_terminal::{escape, near};

/// The most candidates in an error.
const SHOWN: usize = 20;
/// The most characters of a candidate's command line.
const LINE: usize = 100;

/// Parses `PID|NAME`: the number of a process, or the name of the only process that has it. A process has the file name of its program,
/// and the name that `ps -o comm` prints. Linux's `/proc` tells both.
///
/// # Errors
///
/// Lists the processes if several have the name.
pub fn pid(text: &str) -> Result<u32, String> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().ok().filter(|pid| *pid > 0).ok_or_else(|| "it is no number of a process".to_owned());
    }
    chosen(text, &processes())
}

struct Process {
    pid: u32,
    names: [String; 2],
    command_line: String,
}

fn chosen(name: &str, processes: &[Process]) -> Result<u32, String> {
    let found: Vec<&Process> = processes.iter().filter(|process| process.names.iter().any(|own| own == name)).collect();
    match &found[..] {
        [] => {
            let names = processes.iter().flat_map(|process| &process.names).map(|name| &**name);
            Err(format!("no process has this name; {}", near::did_you_mean(name, names))
                .trim_end_matches([';', ' '])
                .to_owned())
        }
        [only] => Ok(only.pid),
        several => {
            let line = |process: &&Process| format!("\n  {:>7}  {}", process.pid, process.command_line);
            let mut lines: String = several.iter().take(SHOWN).map(line).collect();
            if several.len() > SHOWN {
                lines += &format!("\n  and {} more", several.len() - SHOWN);
            }
            Err(format!("{} processes have this name; give the number of one:{lines}", several.len()))
        }
    }
}

/// All processes but this one that have a program and have not ended.
fn processes() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut found: Vec<Process> = pids.filter(|pid| *pid != std::process::id()).filter_map(read).collect();
    found.sort_by_key(|process| process.pid);
    found
}

/// `None` for threads of the kernel and zombies, which have no program. An empty command line is no sign of them: each process has one
/// while it starts its program.
fn read(pid: u32) -> Option<Process> {
    let folder = Path::new("/proc").join(pid.to_string());
    let program = match fs::read_link(folder.join("exe")) {
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        // Another user's: its name remains.
        program => program.unwrap_or_default(),
    };
    let words = fs::read(folder.join("cmdline")).ok()?;
    let words = words.strip_suffix(b"\0").unwrap_or(&words).split(|byte| *byte == 0);
    let command_line = words.map(escape::name).collect::<Vec<_>>().join(" ").chars().take(LINE).collect();
    let short = fs::read_to_string(folder.join("comm")).unwrap_or_default().trim_end().to_owned();
    let program = program.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
    let program = program.strip_suffix(" (deleted)").unwrap_or(&program).to_owned();
    Some(Process { pid, names: [program, short], command_line })
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::process::{Command, Stdio};

    use super::*;

    fn process(pid: u32, names: [&str; 2], command_line: &str) -> Process {
        Process { pid, names: names.map(str::to_owned), command_line: command_line.to_owned() }
    }

    #[test]
    fn a_name_that_several_have_lists_them() {
        let both =
            [process(17, ["server", "server"], "./server --port 80"), process(4711, ["python3", "job"], "job.py")];
        assert_eq!(chosen("job", &both), Ok(4711));
        assert_eq!(chosen("server", &both), Ok(17));
        let error = chosen("serve", &both).unwrap_err();
        assert_eq!(error, "no process has this name; did you mean server?");
        let three = [process(1, ["init", "init"], "init"), process(2, ["a", "b"], "x y"), process(33, ["b", "a"], "z")];
        let error = chosen("a", &three).unwrap_err();
        assert_eq!(error, "2 processes have this name; give the number of one:\n        2  x y\n       33  z");
    }

    #[test]
    fn numbers_need_no_process() {
        assert_eq!(pid("4711"), Ok(4711));
        assert!(pid("0").is_err() && pid("4294967296").is_err() && pid("").is_err());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_running_program_is_found_by_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("a program of this test");
        // By another process: a child of another test that inherits a file open for writing would have this program busy.
        let copied = Command::new("cp").arg("/bin/cat").arg(&program).status().unwrap();
        assert!(copied.success());
        let mut child = Command::new(&program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        // `spawn` returns before the child is wholly its new program.
        child.stdin.as_mut().unwrap().write_all(b"!").unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        assert_eq!(pid("a program of this test"), Ok(child.id()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(pid("a program of this test").is_err());
    }
}
