//! The target of a trace: a command to start or a process that runs. Checks whether it has the probes that the script names.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use dyntrace_programs::elf::{self, Note, Object};
use dyntrace_programs::{process, regular};
use dyntrace_terminal::escape;
use dyntrace_terminal::exit::{self, Failure};

use crate::command;
use crate::script::Named;

/// The command or process that the user wants to trace.
#[derive(Clone, Debug)]
pub enum Asked {
    /// A command with its arguments.
    Command(Vec<OsString>),
    /// A process.
    Process(u32),
}

impl Asked {
    pub fn of(pid: Option<u32>, command: &[OsString]) -> Asked {
        pid.map_or_else(|| Asked::Command(command.to_owned()), Asked::Process)
    }
}

/// The program to trace.
#[derive(Debug)]
pub struct Target {
    pub asked: Asked,
    /// The file of the program.
    pub program: PathBuf,
    /// The probes in the file's notes. Empty on systems where probes are not in notes.
    pub object: Object,
}

impl Target {
    /// Finds the program of the command or process in `asked`.
    pub fn find(asked: Asked) -> Result<Target, Failure> {
        let (program, object) = match &asked {
            Asked::Command(command) => {
                let program = command::locate(command.first().map_or(OsStr::new(""), OsString::as_os_str))?;
                let object = if cfg!(target_os = "linux") { read(&program)? } else { Object::default() };
                (program, object)
            }
            Asked::Process(_) if !cfg!(target_os = "linux") => (PathBuf::new(), Object::default()),
            Asked::Process(pid) => {
                let loaded = process::program(*pid).map_err(|error| Failure::new(exit::NO_PROBES, error))?;
                let object = Object::read_mapped(&loaded.readable);
                (loaded.path, object.map_err(|error| Failure::new(exit::NO_PROBES, error))?)
            }
        };
        Ok(Target { asked, program, object })
    }

    /// Returns the load bias: the difference between addresses in process `pid` and in the file.
    pub fn moved_by(&self, pid: u32) -> anyhow::Result<u64> {
        process::program(pid)?
            .moved_by(&self.object)
            .with_context(|| format!("process {pid} does not have its program in memory as the file says"))
    }

    /// The address of the first instruction of the program in process `pid`.
    pub fn entry(&self, pid: u32) -> io::Result<u64> {
        self.moved_by(pid).map(|moved_by| self.object.entry.wrapping_add(moved_by)).map_err(io::Error::other)
    }

    /// The sites of the probes that the script names; an error if there are none.
    pub fn sites(&self, named: &Named) -> Result<Vec<Note>, Failure> {
        if !cfg!(target_os = "linux") {
            return Ok(Vec::new());
        }
        let shown = escape::path(&self.program);
        if self.object.notes.is_empty() {
            return Err(Failure::new(
                exit::NO_PROBES,
                anyhow!(
                    "{shown} has no probes: make it call a probe of dyntrace's, build it without \
                     --cfg dyntrace_without_probes, and do not strip the section .note.stapsdt"
                ),
            ));
        }
        let sites: Vec<Note> = self.object.notes.iter().filter(|note| named.includes(note)).cloned().collect();
        if sites.is_empty() {
            return Err(Failure::new(
                exit::NO_PROBES,
                anyhow!("{shown} has none of the probes that the script names; see: dyntrace list {shown}"),
            ));
        }
        Ok(sites)
    }
}

fn read(program: &Path) -> Result<Object, Failure> {
    Object::read(program).map_err(|error| {
        let is_script = matches!(error, elf::Error::NotElf(_)) && begins_like_a_script(program);
        let error = if is_script {
            anyhow!(
                "{} is a script for an interpreter: give the program with the probes itself, \
                 or start the script and trace that program's process with -p",
                escape::path(program)
            )
        } else {
            anyhow::Error::new(error)
        };
        Failure::new(exit::NO_PROBES, error)
    })
}

fn begins_like_a_script(path: &Path) -> bool {
    let mut start = [0; 2];
    regular::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == *b"#!"
}
