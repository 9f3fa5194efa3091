//! Asks a process that has no control socket to open one, see `recorder::control::request` in the library.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};
use dyntrace::recorder::CONTROL_REQUESTED;
use dyntrace::recorder::control::{Connection, ControlError};

use crate::elf::{Note, Object};
use crate::exit::{self, Failure};
use crate::process;

/// The probes by whose words a process takes the request.
const PROBES: [&str; 2] = ["efile_drv__int_entry", "message__send"];

/// How long the process may take until one of them fires.
const PATIENCE: Duration = Duration::from_secs(2);

const PAUSE: Duration = Duration::from_millis(20);

/// Asks process `pid` for its control socket, and connects to that.
pub fn attach(pid: u32) -> Result<Connection, Failure> {
    let door = Door::find(pid)?;
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        door.request().with_context(|| format!("cannot write the memory of process {pid}"))?;
        thread::sleep(PAUSE);
        match Connection::open(pid) {
            Err(ControlError::NoControl(_)) => {}
            other => return other.map_err(super::process::refusal),
        }
    }
    let error = anyhow!(
        "process {pid} has no control socket, and ran no file operation of dyntrace and sent no message within {} s, at which it \
         opens one: try again when it does, or start it with DYNTRACE=control in its environment",
        PATIENCE.as_secs()
    );
    Err(Failure::new(exit::NO_PROBES, error))
}

/// The place in a process where it can be asked.
pub struct Door {
    memory: File,
    halves: Vec<u64>,
}

impl Door {
    /// Finds the place. Fails if the process has none, or this user may not write there.
    pub fn find(pid: u32) -> Result<Door, Failure> {
        let halves = halves(pid)?;
        if halves.is_empty() {
            return Err(Failure::new(exit::NO_PROBES, ControlError::NoControl(pid)));
        }
        let memory =
            OpenOptions::new().write(true).open(format!("/proc/{pid}/mem")).map_err(|error| explain(pid, error))?;
        Ok(Door { memory, halves })
    }

    fn request(&self) -> io::Result<()> {
        self.halves.iter().try_for_each(|half| self.memory.write_all_at(&CONTROL_REQUESTED.to_le_bytes(), *half))
    }
}

/// Where the recorder's halves of the probes' words are in the process's memory.
fn halves(pid: u32) -> anyhow::Result<Vec<u64>> {
    let is_asked = |note: &&Note| note.provider == "dyntrace" && PROBES.contains(&&*note.name);
    let mut halves = Vec::new();
    for file in process::loaded(pid)? {
        // A file that is no ELF file, or is gone, has no probes.
        let Ok(object) = Object::read(&file.readable) else { continue };
        let Some(moved_by) = file.moved_by(&object) else { continue };
        for word in object.notes.iter().filter(is_asked).filter_map(|note| note.semaphore) {
            if object.segment(word).is_some_and(|segment| segment.writable) {
                // The half at the higher address, on the little-endian systems that have control sockets.
                halves.push(word.wrapping_add(moved_by).wrapping_add(2));
            }
        }
    }
    halves.sort_unstable();
    halves.dedup();
    Ok(halves)
}

fn explain(pid: u32, error: io::Error) -> Failure {
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    let why = match scope.trim() {
        "" | "0" => "run this as root or as the user of the process".to_owned(),
        scope => format!("kernel.yama.ptrace_scope is {scope}: run this as root"),
    };
    let error = anyhow::Error::new(error).context(format!(
        "process {pid} has no control socket, and this user may not ask it for one: {why}, or start the process with \
         DYNTRACE=control in its environment"
    ));
    Failure::new(exit::NO_PROBES, error)
}
