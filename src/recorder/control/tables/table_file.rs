//! The file of the table, and those of ended processes.

use std::fs::{File, TryLockError};
use std::io;
use std::mem;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::process;
use std::thread;
use std::time::{Duration, SystemTime};

use dyntrace_folders::{Folder, NewFile};
use dyntrace_probes::rings::closed_in_children::ClosedInChildren;
use dyntrace_probes::thread_progress::os::without_file_size_signal;

use super::super::directory::{Directory, is_alive};
use super::super::error::ControlError;
use crate::recorder::children;
use crate::recorder::sessions::sessions;
use dyntrace_processes::probes::efile_drv::{entry, r#return};
use dyntrace_processes::probes::process::{scheduled, spawn, wait};
use dyntrace_processes::task_table;

/// Tables of ended processes that are left.
const LEFT: usize = 8;

/// By how much another machine's clock may be ahead. A later change was made while the clock was wrong.
const AHEAD: Duration = Duration::from_secs(3600);

/// How often a file is made that another process takes away before it is locked.
const ATTEMPTS: usize = 8;

const TABLE: &str = ".tasks";

/// Creates the file, fills it, and has the probes keep it.
pub(super) fn keep() -> Result<(), ControlError> {
    children::begin_anew().map_err(ControlError::system("prepare for forks"))?;
    // The lock: another thread may start it, too.
    let _sessions = sessions();
    if task_table::is_started() {
        return Ok(());
    }
    let directory = Directory::own()?;
    directory.folder.mark_used();
    remove_old(&directory.folder);
    let name = name(process::id());
    let doing = |doing| {
        let path = directory.folder.path().join(&name);
        ControlError::system(format!("{doing} the table of tasks {path:?}"))
    };
    let created = create(&directory.folder, &name).map_err(doing("create"))?;
    let file = created.ok_or_else(|| ControlError::Taken(directory.folder.path().join(&name)))?;
    let descriptor = file.as_raw_fd();
    without_file_size_signal(|| task_table::start(file)).map_err(|error| {
        let _ = directory.folder.remove_file(&name);
        doing("fill")(error)
    })?;
    // It is open as long as the process.
    mem::forget((ClosedInChildren::new(&descriptor), ClosedInChildren::new(&directory.folder.as_fd()), directory));
    let of_tasks = [&spawn::__DESCRIPTOR, &scheduled::__DESCRIPTOR, &wait::__DESCRIPTOR];
    for probe in of_tasks.into_iter().chain([&entry::__DESCRIPTOR, &r#return::__DESCRIPTOR]) {
        probe.keep(true);
    }
    Ok(())
}

/// Creates the file and locks it as long as it is open. Returns `None` if a process keeps the table of that name.
fn create(folder: &Folder, name: &str) -> io::Result<Option<File>> {
    let mut refused = None;
    for _ in 0..ATTEMPTS {
        match hold(folder, name) {
            Held::InUse => return Ok(None),
            Held::File(ended) => set_aside(folder, name, &ended),
            Held::Nothing => {}
        }
        match folder.create_file(name, NewFile::Plain) {
            Ok(file) => {
                lock(&file, 1000);
                // A process of the same number in another container may have renamed it before it was locked.
                if folder.is_still(name, &file) {
                    return Ok(Some(file));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => refused = Some(error),
            Err(error) => return Err(error),
        }
    }
    refused.map_or(Ok(None), Err)
}

/// A table, by its name.
enum Held {
    /// A process keeps it: this one, by another copy of dyntrace, or one of another pid namespace.
    InUse,
    /// No process keeps it. While the file is open, no other process renames or removes it, and the name stays this file's.
    File(File),
    /// There is none, or it cannot be opened.
    Nothing,
}

fn hold(folder: &Folder, name: &str) -> Held {
    for _ in 0..ATTEMPTS {
        let Ok(file) = folder.open_file(name) else { return Held::Nothing };
        // A process that keeps it does not give the lock back.
        if !lock(&file, 10) {
            return Held::InUse;
        }
        if folder.is_still(name, &file) {
            return Held::File(file);
        }
    }
    Held::InUse
}

/// Locks the file as long as it is open. A process that looks whether it is in use holds the lock, too, for a moment. Returns false if
/// another process has it at each attempt.
fn lock(file: &File, attempts: u32) -> bool {
    for _ in 0..attempts {
        // A file system without locks has its tables removed too early.
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => thread::yield_now(),
            _ => return true,
        }
    }
    false
}

/// Renames the table of an ended process with this process's number, as of one that ran as process 1 of the same container before. Its
/// last change is in the name: a number of a process and its start time may repeat after a restart of the machine.
fn set_aside(folder: &Folder, name: &str, ended: &File) {
    let changed = ended.metadata().and_then(|metadata| metadata.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    let since_1970 = changed.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let aside = format!("{}-{}{TABLE}", process::id(), since_1970.as_nanos());
    // A table that cannot be renamed would be in the way of the new one.
    let _ = folder.rename(name, aside).or_else(|_| folder.remove_file(name));
}

/// Removes tables of ended processes, the oldest first. One that was changed in the future counts as old: the clock has been set back, and
/// such tables would have all later ones removed.
fn remove_old(folder: &Folder) {
    let latest = SystemTime::now() + AHEAD;
    let mut dead: Vec<(SystemTime, String)> = Vec::new();
    for name in folder.names().unwrap_or_default() {
        let Some(name) = name.to_str() else { continue };
        if is_of_ended(name)
            && let Held::File(file) = hold(folder, name)
        {
            let changed = file.metadata().and_then(|metadata| metadata.modified());
            let changed = changed.ok().filter(|changed| *changed <= latest);
            dead.push((changed.unwrap_or(SystemTime::UNIX_EPOCH), name.to_owned()));
        }
    }
    dead.sort_unstable();
    for (_, name) in &dead[..dead.len().saturating_sub(LEFT)] {
        // A process of another container may have begun to keep a table of this name.
        if let Held::File(_held) = hold(folder, name) {
            // A file that cannot be removed only takes space.
            let _ = folder.remove_file(name);
        }
    }
}

fn name(pid: u32) -> String {
    format!("{pid}{TABLE}")
}

/// Whether it is the name of a table of an ended process.
fn is_of_ended(name: &str) -> bool {
    let Some(name) = name.strip_suffix(TABLE) else { return false };
    let (pid, changed) = name.split_once('-').map_or((name, None), |(pid, changed)| (pid, Some(changed)));
    pid.parse().is_ok_and(|pid| changed.map_or_else(|| !is_alive(pid), |changed| changed.parse::<u128>().is_ok()))
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn the_newest_tables_of_ended_processes_stay() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::make_private(&place.path().join("dyntrace")).unwrap();
        // No process has these numbers: the kernel's largest is 4194304.
        let make = |number: u32, changed| {
            let file = folder.create_file(name(5_000_000 + number), NewFile::Plain).unwrap();
            file.set_modified(changed).unwrap();
        };
        for number in 0..LEFT as u32 + 3 {
            make(number, SystemTime::UNIX_EPOCH + Duration::from_secs(1000 - u64::from(number)));
        }
        // Made before the clock was set back.
        (100..100 + LEFT as u32).for_each(|number| make(number, SystemTime::now() + 2 * AHEAD));
        let others = [name(process::id()), "5000000.sock".to_owned(), "x.tasks".to_owned()];
        for other in &others {
            folder.create_file(other, NewFile::Plain).unwrap();
        }
        remove_old(&folder);
        let mut left: Vec<String> =
            folder.names().unwrap().into_iter().map(|name| name.into_string().unwrap()).collect();
        left.sort_unstable();
        let mut expected: Vec<String> = (0..LEFT as u32).map(|number| name(5_000_000 + number)).collect();
        expected.extend(others);
        expected.sort_unstable();
        assert_eq!(left, expected);
    }

    /// Each process of a restarted container may have number 1.
    #[test]
    fn the_tables_of_earlier_processes_of_the_same_number_stay() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::make_private(&place.path().join("dyntrace")).unwrap();
        let own = name(process::id());
        for second in 0..LEFT as u64 + 2 {
            let file = folder.create_file(&own, NewFile::Plain).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(second)).unwrap();
            set_aside(&folder, &own, &file);
        }
        remove_old(&folder);
        let mut left: Vec<String> =
            folder.names().unwrap().into_iter().map(|name| name.into_string().unwrap()).collect();
        left.sort_unstable();
        let expected: Vec<_> =
            (2..LEFT + 2).map(|second| format!("{}-{second}000000000.tasks", process::id())).collect();
        assert_eq!(left, expected);
    }

    #[test]
    fn a_table_that_is_open_elsewhere_is_in_use() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::make_private(&place.path().join("dyntrace")).unwrap();
        let is_in_use = || matches!(hold(&folder, "1.tasks"), Held::InUse);
        assert!(matches!(hold(&folder, "1.tasks"), Held::Nothing));
        let file = create(&folder, "1.tasks").unwrap().unwrap();
        assert!(is_in_use() && create(&folder, "1.tasks").unwrap().is_none());
        drop(file);
        assert!(!is_in_use());
        // A process that looks has the lock for a moment.
        let (file, other) = (folder.open_file("1.tasks").unwrap(), folder.open_file("1.tasks").unwrap());
        other.try_lock().unwrap();
        let looks = thread::spawn(move || {
            thread::yield_now();
            drop(other);
        });
        assert!(lock(&file, u32::MAX));
        looks.join().unwrap();
        assert!(is_in_use());
    }

    /// Two containers with one volume may start a process 1 each in one instant.
    #[test]
    fn of_two_that_start_at_once_one_keeps_the_table() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::make_private(&place.path().join("dyntrace")).unwrap();
        for number in 0..200 {
            let (start, name) = (Barrier::new(2), name(number));
            // Of a process that has ended.
            folder.create_file(&name, NewFile::Plain).unwrap();
            let create = || {
                start.wait();
                create(&folder, &name).unwrap()
            };
            let made = thread::scope(|scope| {
                let other = scope.spawn(create);
                [create(), other.join().unwrap()]
            });
            let made: Vec<File> = made.into_iter().flatten().collect();
            assert!(made.len() == 1 && folder.is_still(&name, &made[0]), "{made:?}");
        }
    }
}
