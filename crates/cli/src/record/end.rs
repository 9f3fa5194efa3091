//! Finishes traces whose programs were killed or have just ended.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use dyntrace::recorder::Options;
use dyntrace_analysis::recording;
use dyntrace_folders::{Distrust, Folder, process_folder};
use dyntrace_metadata::UNFINISHED;
use dyntrace_reader::{RINGS, Trace};
use dyntrace_terminal::exit::{self, Failure};
use dyntrace_terminal::{escape, say};

/// The recorded program.
pub enum Subject {
    Program(PathBuf),
    Process(u32),
}

/// Makes plain traces of the recordings by `options`, except those of processes that still record. Those of other processes are made also
/// if one fails; the first error is returned.
pub fn end(options: &Options, subject: &Subject) -> Result<(), Failure> {
    let directory = &*options.directory;
    let unreadable = |error| Failure::from(anyhow::Error::new(error));
    let folders: Vec<(PathBuf, u64)> = match Trace::open(directory) {
        Err(dyntrace_reader::Error::NoTrace { .. }) => return Err(nothing(options, subject)),
        Err(_) if !directory.exists() => return Err(nothing(options, subject)),
        other => {
            other.map_err(unreadable)?.processes().iter().map(|process| (process.path.clone(), process.pid)).collect()
        }
    };
    let snapshots = options.snapshots_directory();
    let ended: Vec<_> = folders.iter().map(|(folder, pid)| end_process(folder, *pid, &snapshots)).collect();
    // A program that ends does not remove it, even if it is empty.
    let _ = dyntrace_folders::remove_empty(&snapshots);
    ended.into_iter().collect()
}

fn end_process(folder: &Path, pid: u64, snapshots: &Path) -> Result<(), Failure> {
    let shown = escape::path(folder);
    if is_recording(pid, folder) {
        say!("dyntrace: process {pid} goes on, and so does its trace {shown}: dyntrace view shows its events so far");
        return Ok(());
    }
    match Folder::open(folder) {
        Ok(_) => {}
        // Root recorded another user's process: root writes nothing to that user's folder by path.
        Err(error) if Distrust::of(&error).is_some() => {
            dyntrace_reader::finish(folder)
                .with_context(|| format!("cannot finish the trace {shown}, which is left as it is"))?;
            return Ok(());
        }
        Err(error) => return Err(error).with_context(|| format!("cannot open {shown}")).map_err(Failure::from),
    }
    if folder.join(RINGS).exists() {
        unroll(folder)?;
    } else {
        dyntrace_reader::finish(folder).map_err(anyhow::Error::new)?;
    }
    remove_rest(folder).with_context(|| format!("cannot remove unused files from {shown}"))?;
    // A snapshot that the program was taking when it ended has a hidden name. Its events are in the trace.
    if let (Ok(snapshots), Some(name)) = (Folder::open(snapshots), folder.file_name()) {
        let _ = snapshots.remove_all([OsStr::new("."), name].into_iter().collect::<OsString>());
    }
    Ok(())
}

/// Removes the files of rings that no thread used, and metadata that the program was writing when it ended.
fn remove_rest(folder: &Path) -> io::Result<()> {
    let folder = Folder::open(folder)?;
    for name in folder.names()? {
        let is_empty = || io::Result::Ok(folder.open_file(&name)?.metadata()?.len() == 0);
        if folder.reading()?.has_file(&name)? && (name == UNFINISHED || is_empty()?) {
            folder.remove_file(&name)?;
        }
    }
    Ok(())
}

fn nothing(options: &Options, subject: &Subject) -> Failure {
    let directory = &options.directory;
    let failure = match subject {
        Subject::Program(program) => recording::nothing(options, program),
        Subject::Process(pid) => {
            let shown = escape::path(directory);
            let error = anyhow!(
                "nothing was recorded in {shown}: for process {pid} this is another folder, as it runs in a container or has another root, \
                 or the folder was removed; run this command there, or name a folder that both see with -o"
            );
            Failure::new(exit::NO_PROBES, error)
        }
    };
    // It was created for the trace, unless it is not empty.
    let _ = dyntrace_folders::remove_empty(directory);
    failure
}

/// Whether the process maps files of the folder. If its maps cannot be read: whether it may be the one, by its user. The trace of a process
/// in a container has the number that it has there, which here is another process's.
fn is_recording(pid: u64, folder: &Path) -> bool {
    match u32::try_from(pid).map_err(io::Error::other).and_then(|pid| fs::read(process_folder(pid).join("maps"))) {
        Ok(maps) => {
            let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
            let folder = folder.as_os_str().as_encoded_bytes();
            maps.windows(folder.len().max(1)).any(|window| window == folder)
        }
        Err(_) => {
            let user = |path: &Path| fs::metadata(path).ok().map(|metadata| metadata.uid());
            let process = user(Path::new(&format!("/proc/{pid}")));
            process.is_some() && process == user(folder)
        }
    }
}

/// Replaces a trace of rings by a plain one.
fn unroll(folder: &Path) -> Result<(), Failure> {
    let beside = |ending: &str| {
        let mut name = folder.file_name().unwrap_or_default().to_owned();
        name.push(ending);
        name
    };
    // Hidden until it is whole: readers would take it for a process of its own.
    let mut plain = OsString::from(".");
    plain.push(beside(".plain"));
    let rings = beside(".circles");
    let path = folder.with_file_name(&plain);
    let put = || format!("cannot replace the trace by {}", escape::path(&path));
    let holder = Folder::open(folder.parent().unwrap_or(Path::new("/"))).with_context(put)?;
    // An earlier command may have been killed here.
    let _ = holder.remove_all(&plain);
    if let Err(error) = dyntrace_reader::recover(folder, &path) {
        // The rings stay, for `dyntrace recover`.
        let _ = holder.remove_all(&plain);
        return Err(anyhow::Error::new(error).into());
    }
    let name = folder.file_name().unwrap_or_default();
    holder
        .rename(name, &rings)
        .and_then(|()| holder.rename(&plain, name))
        .and_then(|()| holder.remove_all(&rings))
        .with_context(put)?;
    Ok(())
}
