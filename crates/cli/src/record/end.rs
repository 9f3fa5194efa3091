//! The end of a trace, where the programs that wrote it could not make one: they were killed, or have just ended.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use dyntrace_trace::Trace;

use crate::escape;
use crate::exit::{self, Failure};

/// Where a process that overwrites has its circles.
const CIRCLES: &str = ".rings";

/// Makes a plain, short trace of what is in `directory`, but for processes that still record.
pub fn end(directory: &Path) -> Result<(), Failure> {
    let unreadable = |error| Failure::new(exit::NO_TRACE, anyhow::Error::new(error));
    let folders: Vec<(PathBuf, u64)> = match Trace::open(directory) {
        Err(dyntrace_trace::Error::NoTrace { .. } | dyntrace_trace::Error::Io { .. }) => {
            return Err(nothing(directory));
        }
        other => {
            other.map_err(unreadable)?.processes().iter().map(|process| (process.path.clone(), process.pid)).collect()
        }
    };
    for (folder, pid) in folders {
        if is_recording(pid, &folder) {
            let shown = escape::path(&folder);
            anstream::eprintln!(
                "dyntrace: process {pid} goes on, and so does its trace {shown}: dyntrace view shows what is there"
            );
            continue;
        }
        if folder.join(CIRCLES).exists() {
            unroll(&folder)?;
        } else {
            dyntrace_trace::finish(&folder).map_err(unreadable)?;
        }
        remove_empty(&folder).with_context(|| format!("cannot clear up {}", escape::path(&folder)))?;
    }
    Ok(())
}

/// Removes the files of rings that waited for a thread and got none.
fn remove_empty(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.metadata()?.len() == 0 {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn nothing(directory: &Path) -> Failure {
    // It may have been made for the trace; if it was not empty, it stays.
    let _ = fs::remove_dir(directory);
    Failure::new(
        exit::NO_PROBES,
        anyhow!(
            "nothing was recorded: no program that was run has dyntrace's recorder. It comes with the crate's feature probes, on Linux; \
             programs with raised privileges do not record themselves"
        ),
    )
}

/// Whether the process has files of the folder in memory; also if that cannot be known.
fn is_recording(pid: u64, folder: &Path) -> bool {
    match fs::read(format!("/proc/{pid}/maps")) {
        Ok(maps) => {
            let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
            let folder = folder.as_os_str().as_encoded_bytes();
            maps.windows(folder.len().max(1)).any(|window| window == folder)
        }
        Err(_) => Path::new(&format!("/proc/{pid}")).exists(),
    }
}

/// Puts a plain trace in the place of one that has circles.
fn unroll(folder: &Path) -> Result<(), Failure> {
    let beside = |ending: &str| {
        let mut name = folder.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    let (plain, circles) = (beside(".plain"), beside(".circles"));
    let failure = |error| Failure::new(exit::NO_TRACE, anyhow::Error::new(error));
    dyntrace_trace::recover(folder, &plain).map_err(failure)?;
    let put = fs::rename(folder, &circles).and_then(|()| fs::rename(&plain, folder));
    put.and_then(|()| fs::remove_dir_all(&circles))
        .with_context(|| format!("cannot put the plain trace {} in its place", escape::path(&plain)))?;
    Ok(())
}
