//! Finds the table that a running process keeps, by its mappings.

use std::cell::Cell;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use dyntrace_analysis::view::time::now;
use dyntrace_folders::living_thread;
use dyntrace_programs::process::own_number;
use dyntrace_programs::regular::{self, Opened};
use dyntrace_task_table::{Compact, Error, Source, Table, TaskEntry, layout};
use dyntrace_tasks::aside::Facts;
use dyntrace_tasks::memory::maps::{self, Mapping};
use dyntrace_terminal::escape;
use memmap2::Mmap;

use super::row::{realtime, since};

/// Appended by the kernel to the path of a file that was removed.
const REMOVED: &str = " (deleted)";

/// The most bytes of a table that a server has.
const COPIED: u64 = 1 << 30;

/// A table that was found.
#[derive(Debug)]
pub struct ReadTable<T = Table> {
    pub table: T,
    /// As the process sees it.
    pub path: PathBuf,
    /// When it was read, in nanoseconds from 1970.
    pub now: i64,
}

/// The table of a program whose threads are stopped: waiting for them is of no use.
struct OfStopped(fs::File);

impl Source for OfStopped {
    fn copy(&self, bytes: &mut [u8], place: u64) -> io::Result<usize> {
        self.0.copy(bytes, place)
    }
}

/// The copy of a table that a server has.
struct Copied(Mmap);

impl Source for Copied {
    fn copy(&self, bytes: &mut [u8], place: u64) -> io::Result<usize> {
        let rest = usize::try_from(place).ok().and_then(|place| self.0.get(place..)).unwrap_or_default();
        let length = rest.len().min(bytes.len());
        bytes[..length].copy_from_slice(&rest[..length]);
        Ok(length)
    }
}

/// Returns the mappings of process `pid` that may be of its table. None of a process whose mappings are not shown: for this user it has no
/// table, and the reader of its memory tells why.
pub fn mappings(pid: u32) -> Vec<Mapping> {
    let (Ok(number), Some(thread)) = (own_number(pid), living_thread(pid)) else { return Vec::new() };
    let maps = fs::read(format!("/proc/{thread}/maps")).unwrap_or_default();
    // Of a million mappings, few are parsed.
    let endings = ["", REMOVED].map(|removed| format!("/{number}.tasks{removed}"));
    let is_table = |line: &&[u8]| endings.iter().any(|end| line.ends_with(end.as_bytes()));
    maps.split(|byte| *byte == b'\n').filter(is_table).flat_map(maps::parse).collect()
}

/// Reads the table of process `pid`, whose threads may be stopped, by its mappings. `None` if it keeps none.
///
/// # Errors
///
/// It keeps one that cannot be read.
pub fn read(pid: u32, is_stopped: bool, maps: &[Mapping]) -> Result<Option<ReadTable>> {
    read_as(pid, is_stopped, maps, |source| Table::read(source), |table| table)
}

/// The same in little memory.
///
/// # Errors
///
/// As [`read`].
pub fn read_compact(pid: u32, is_stopped: bool, maps: &[Mapping]) -> Result<Option<ReadTable<Compact>>> {
    read_as(pid, is_stopped, maps, |source| Compact::read(source), |compact| &compact.table)
}

fn read_as<T>(
    pid: u32,
    is_stopped: bool,
    maps: &[Mapping],
    read: impl FnOnce(&dyn Source) -> Result<T, Error>,
    table: impl FnOnce(&T) -> &Table,
) -> Result<Option<ReadTable<T>>> {
    let (Ok(number), Some(thread)) = (own_number(pid), living_thread(pid)) else { return Ok(None) };
    let Some((mapping, path)) = mapped(maps, number) else { return Ok(None) };
    let shown = escape::path(path);
    let read = || {
        let found = match open(thread, mapping, path)? {
            Opened::File(file) if is_stopped => read(&OfStopped(file)),
            Opened::File(file) => read(&file),
            Opened::Copy(copy) => read(&Copied(copy)),
        }?;
        is_own(pid, number, table(&found))?;
        anyhow::Ok(found)
    };
    let table = read().with_context(|| format!("cannot read its table of tasks {shown}"))?;
    Ok(Some(ReadTable { table, path: PathBuf::from(path), now: now() }))
}

/// Reads the table in a file. Its time is the last one of a task: when the program ended is not known.
///
/// # Errors
///
/// It cannot be read.
pub fn read_file(path: &Path) -> Result<ReadTable> {
    let shown = escape::path(path);
    let table = regular::open(path).map_err(Error::Read).and_then(|file| Table::read(&file));
    let table = table.with_context(|| format!("cannot read the table of tasks {shown}"))?;
    let last = |seen: &TaskEntry| {
        let task = &seen.task;
        since(seen).max(task.spawned).max(task.wait.map_or(0, |wait| wait.since))
    };
    let now = table.tasks.iter().map(last).max().and_then(|cycle| realtime(table.clock, cycle));
    Ok(ReadTable { table, path: path.to_owned(), now: now.unwrap_or(0) })
}

/// The mapping of the file `NUMBER.tasks`, and the file's path.
fn mapped(maps: &[Mapping], number: u32) -> Option<(&Mapping, &str)> {
    let name = format!("/{number}.tasks");
    let tables = maps.iter().filter(|mapping| mapping.shared && mapping.offset == 0);
    tables.into_iter().find_map(|mapping| {
        let path = mapping.path.strip_suffix(REMOVED).unwrap_or(&mapping.path);
        path.ends_with(&name).then_some((mapping, path))
    })
}

fn is_own(pid: u32, number: u32, table: &Table) -> Result<()> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let is_its_own = table.header.process == number && layout::started(&stat) == Some(table.header.started);
    ensure!(is_its_own, "it is the table of an earlier process with this number");
    Ok(())
}

/// The process may see other files than the reader: in a container. Removed files, and others behind links, are reached by the mapping,
/// which needs more rights, or by the descriptor that the process keeps.
fn open(thread: u32, mapping: &Mapping, path: &str) -> io::Result<Opened> {
    let is_mapped = |facts: &Facts| {
        if facts.inode == mapping.inode { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
    };
    let range = &mapping.range;
    let by_mapping = format!("/proc/{thread}/map_files/{:x}-{:x}", range.start, range.end);
    let open = |path: String| regular::open_mapped(Path::new(&path), &Cell::new(COPIED), is_mapped);
    let by_descriptor = || removed(thread, path).into_iter().find_map(|link| open(link).ok());
    open(format!("/proc/{thread}/root{path}"))
        .or_else(|error| open(by_mapping).or_else(|_| by_descriptor().ok_or(error)))
}

/// The descriptors of removed files with the name of the file at `path`.
fn removed(thread: u32, path: &str) -> Vec<String> {
    let folder = format!("/proc/{thread}/fd");
    let name = path.rsplit('/').next().unwrap_or(path);
    let end = format!("/{name}{REMOVED}");
    let is_it = |link: &String| fs::read_link(link).is_ok_and(|file| file.to_string_lossy().ends_with(&end));
    let links = fs::read_dir(&folder).into_iter().flatten().flatten();
    links.map(|link| format!("{folder}/{}", link.file_name().to_string_lossy())).filter(is_it).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mapping_of_the_table_is_found_by_its_name() {
        let maps = "7f00-7f10 rw-s 00000000 00:19 12 /run/user/1/dyntrace/14711.tasks\n\
                    7f10-7f20 rw-p 00000000 00:19 13 /run/user/1/dyntrace/4711.tasks\n\
                    7f20-7f30 rw-s 00000000 00:19 14 /run/user/1/dyn trace/4711.tasks (deleted)\n";
        let maps = maps::parse(maps.as_bytes());
        let (mapping, path) = mapped(&maps, 4711).unwrap();
        assert_eq!((mapping.inode, path), (14, "/run/user/1/dyn trace/4711.tasks"));
        assert_eq!(mapped(&maps, 711), None);
    }

    #[test]
    fn a_table_whose_file_was_removed_is_found_by_its_descriptor() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("47.tasks");
        let file = fs::File::create(&path).unwrap();
        fs::remove_file(&path).unwrap();
        let shown = path.display();
        let inode = std::os::unix::fs::MetadataExt::ino(&file.metadata().unwrap());
        // This process has no such mapping, as for a reader without the right to follow it.
        let maps = maps::parse(format!("7f00-7f10 rw-s 00000000 00:19 {inode} {shown} (deleted)\n").as_bytes());
        let (mapping, path) = mapped(&maps, 47).unwrap();
        open(std::process::id(), mapping, path).unwrap();
        drop(file);
        open(std::process::id(), mapping, path).unwrap_err();
    }

    #[test]
    fn a_process_without_a_table_has_none() {
        for pid in [std::process::id(), u32::MAX] {
            assert!(read(pid, false, &mappings(pid)).unwrap().is_none());
        }
    }
}
