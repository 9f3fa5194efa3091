//! Errors that leave no answer.

use std::io;
use std::path::PathBuf;

use crate::permission::way;

/// Why a program's tasks cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No process has this id.
    #[error("cannot open process {pid}: no such process; `pgrep -l NAME` lists the ids of running programs")]
    NoProcess {
        /// The id asked for.
        pid: u32,
    },
    /// The process exists, but /proc does not show it to this user.
    #[error("cannot open process {pid}: /proc hides it from this user (mount option hidepid); {}", way())]
    Hidden {
        /// The id asked for.
        pid: u32,
    },
    /// The process has ended, and its number is still taken.
    #[error(
        "cannot read process {pid}: it has ended, and its parent has not yet waited for it (a zombie); start the program again and give its new id"
    )]
    Zombie {
        /// The id asked for.
        pid: u32,
    },
    /// The kernel refuses to show the process.
    #[error("cannot read {what} of process {pid}: {error}; {}", way())]
    NotPermitted {
        /// The process.
        pid: u32,
        /// The part of it.
        what: &'static str,
        /// The kernel's answer.
        error: io::Error,
    },
    /// The process has ended, or another process has its id now.
    #[error("process {pid} ended while its tasks were being read; start the program again and give its new id")]
    Ended {
        /// The process.
        pid: u32,
    },
    /// A file cannot be read.
    #[error("cannot read {what} {}: {error}", path.display())]
    File {
        /// The file's use for the reader.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The kernel's answer.
        error: io::Error,
    },
    /// A file is of another kind.
    #[error("cannot read {what} {}: it is no 64-bit little-endian ELF file ({reason}); give the program's own file", path.display())]
    NotElf {
        /// The file's use for the reader.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The parser's answer.
        reason: String,
    },
    /// The program's file is not mapped where it should be.
    #[error("cannot find where process {pid} has mapped its program {}; has it replaced its own code?", path.display())]
    NotMapped {
        /// The process.
        pid: u32,
        /// The program's file.
        path: PathBuf,
    },
    /// A file is no core file of a program that can be read.
    #[error(
        "cannot read the core file {}: {reason}; give a core file that Linux, or a debugger's gcore, wrote of a 64-bit \
         program",
        path.display()
    )]
    NotCore {
        /// The file.
        path: PathBuf,
        /// The missing part.
        reason: String,
    },
    /// A core file was compressed after it was written.
    #[error(
        "the core file {} is compressed by {by}: unpack it by `{by} -dc {} > core`, or take it from systemd's journal by \
         `coredumpctl -o core dump PID`",
        path.display(),
        path.display()
    )]
    CompressedCore {
        /// The file.
        path: PathBuf,
        /// The program that unpacks it.
        by: &'static str,
    },
    /// A core file lacks the memory that tells which tasks its program had.
    #[error("unknown which tasks the program of the core file {} had: {}", path.display(), gaps.join("; "))]
    CoreLacksMemory {
        /// The file.
        path: PathBuf,
        /// The memory that it lacks, and the way out.
        gaps: Vec<String>,
    },
    /// The core file's program is another one.
    #[error(
        "cannot find the program {} in the core file {}; give the file that was running: `file` names it",
        path.display(), core.display()
    )]
    NotInCore {
        /// The core file.
        core: PathBuf,
        /// The file that was given for its program.
        path: PathBuf,
    },
    /// The file is not the one that was running.
    #[error(
        "{} has build id {found}, but the program of the core file {} has {wanted}: they are of different builds; give the \
         file that was running",
        path.display(), core.display()
    )]
    OtherProgram {
        /// The file that was given for the program.
        path: PathBuf,
        /// The core file.
        core: PathBuf,
        /// Of the file.
        found: String,
        /// Of the program.
        wanted: String,
    },
    /// The debug file belongs to another build.
    #[error(
        "{} has build id {found}, but the program has {wanted}: they are of different builds; give the debug file that was \
         made with this program",
        path.display()
    )]
    OtherBuild {
        /// The debug file.
        path: PathBuf,
        /// Of the debug file.
        found: String,
        /// Of the program.
        wanted: String,
    },
    /// No image of the process contains tokio's tables of tasks.
    #[error(
        "no task vtables in {} or its libraries: is this a tokio program? The reader knows tokio 1.38 and later, on \
         64-bit little-endian machines{}",
        path.display(),
        notes.iter().map(|note| format!("\n{note}")).collect::<String>()
    )]
    NoVtables {
        /// The program's file.
        path: PathBuf,
        /// Files that were not searched, in sentences for the user.
        notes: Vec<String>,
    },
    /// The program has tokio's tasks, and its tables of tasks do not look as those of the known versions.
    #[error(
        "unknown which tasks {} has: {}{}",
        path.display(),
        gaps.join("; "),
        notes.iter().map(|note| format!("\n{note}")).collect::<String>()
    )]
    OtherLayout {
        /// The program's file.
        path: PathBuf,
        /// Assumptions about the layout that do not hold.
        gaps: Vec<String>,
        /// Files that were not searched, in sentences for the user.
        notes: Vec<String>,
    },
    /// A file has more constants than the reader searches.
    #[error(
        "{} is not searched for tasks: its headers tell of {bytes} bytes of constants, and 1 GiB is the limit; is the file damaged?",
        path.display()
    )]
    TooManyConstants {
        /// The file.
        path: PathBuf,
        /// Their sum.
        bytes: u64,
    },
    /// Threads are read of running programs only.
    #[error(
        "the threads of a core file are not read: a debugger shows them, as `gdb PROG CORE -batch -ex 'thread apply all bt'`"
    )]
    ThreadsOfCore,
    /// The process could not be stopped.
    #[error("cannot stop process {pid}: {error}; read it without stopping it, or: {}", way())]
    NotStopped {
        /// The process.
        pid: u32,
        /// The kernel's answer.
        error: io::Error,
    },
}
