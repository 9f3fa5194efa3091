//! Facts about threads, from /proc.

pub(crate) mod numbers;

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;

use crate::memory::live::Process;

/// The kernel's answer about a thread.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct KernelAnswer {
    pub name: String,
    pub state: char,
    pub cpu_time: Option<u64>,
    pub function: Option<String>,
    pub call: Option<Call>,
    /// The process that traces the thread; 0 without one.
    pub tracer: u32,
}

/// A system call that a thread is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Call {
    pub number: u64,
    /// The first two arguments.
    pub arguments: [u64; 2],
}

/// Returns the ids of the process's threads, in order.
pub(crate) fn threads(process: &Process) -> Vec<u32> {
    let Ok(entries) = fs::read_dir(process.proc("task")) else { return Vec::new() };
    let mut threads: Vec<u32> = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    threads.sort_unstable();
    threads
}

/// Asks for a thread. `None` if it has ended.
pub(crate) fn ask(process: &Process, tid: u32) -> Option<KernelAnswer> {
    let file = |name: &str| fs::read(process.proc(&format!("task/{tid}/{name}"))).ok();
    let text = |name: &str| file(name).map(|bytes| String::from_utf8_lossy(&bytes).trim_end_matches('\n').to_owned());
    let state = state(&file("stat")?)?;
    Some(KernelAnswer {
        name: text("comm")?,
        state,
        cpu_time: text("schedstat").as_deref().and_then(first_number),
        // The kernel writes 0 for a thread that is not asleep, and for a reader without the permission.
        function: text("wchan").filter(|name| !name.is_empty() && name != "0"),
        call: text("syscall").as_deref().and_then(call),
        tracer: text("status").as_deref().and_then(tracer).unwrap_or(0),
    })
}

/// The call in [`ThreadFiles::call_text`]. `None` for a thread that is on a CPU or ready for one, or in no call.
pub(crate) fn call_in(text: &str) -> Option<Call> {
    call(text.trim_end())
}

/// Returns the stack pointer of a thread. `None` while it runs, and to a reader without the permission.
pub(crate) fn stack_pointer(process: &Process, tid: u32) -> Option<u64> {
    let text = fs::read_to_string(process.proc(&format!("task/{tid}/syscall"))).ok()?;
    stack_pointer_in(&text)
}

/// The last word but one, behind the call and its arguments.
fn stack_pointer_in(text: &str) -> Option<u64> {
    u64::from_str_radix(text.trim_end().rsplit(' ').nth(1)?.strip_prefix("0x")?, 16).ok()
}

/// Whether the process was forked and has executed no other program since: it has its parent's memory.
pub(crate) fn is_forked(process: &Process) -> bool {
    const PF_FORKNOEXEC: u64 = 0x40;
    fs::read(process.proc("stat")).ok().and_then(|stat| flags(&stat)).is_some_and(|flags| flags & PF_FORKNOEXEC != 0)
}

/// Open files of a thread that is looked at often.
#[derive(Debug)]
pub(crate) struct ThreadFiles {
    syscall: File,
    schedstat: File,
}

impl ThreadFiles {
    /// `None` if the thread has ended.
    pub(crate) fn open(process: &Process, tid: u32) -> Option<ThreadFiles> {
        let file = |name| File::open(process.proc(&format!("task/{tid}/{name}"))).ok();
        Some(ThreadFiles { syscall: file("syscall")?, schedstat: file("schedstat")? })
    }

    /// Returns the thread's system call with its arguments and registers, as the kernel writes it: equal texts are of one call, as nearly
    /// as can be told. `None` if the thread has ended, or to a reader without the permission.
    pub(crate) fn call_text(&self) -> Option<String> {
        text(&self.syscall)
    }

    /// Returns how often the thread has begun to run on a CPU.
    pub(crate) fn runs(&self) -> Option<u64> {
        text(&self.schedstat)?.trim_end().rsplit(' ').next()?.parse().ok()
    }
}

/// The text that a file of the kernel's has now: a line.
fn text(file: &File) -> Option<String> {
    let mut line = [0; 512];
    let length = file.read_at(&mut line, 0).ok()?;
    Some(str::from_utf8(&line[..length]).ok()?.to_owned())
}

/// The ninth field of `stat`.
fn flags(stat: &[u8]) -> Option<u64> {
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    str::from_utf8(stat.get(end + 2..)?).ok()?.split(' ').nth(6)?.parse().ok()
}

/// The thread's name stands in parentheses and may contain any byte.
fn state(stat: &[u8]) -> Option<char> {
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    stat.get(end + 2).map(|state| char::from(*state)).filter(char::is_ascii_alphabetic)
}

fn first_number(text: &str) -> Option<u64> {
    text.split(' ').next()?.parse().ok()
}

/// `NUMBER 0xARGUMENT ...`; `running` and -1 are no calls.
fn call(text: &str) -> Option<Call> {
    let mut words = text.split(' ');
    let number = words.next()?.parse().ok()?;
    let mut argument = || u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok();
    Some(Call { number, arguments: [argument()?, argument()?] })
}

fn tracer(status: &str) -> Option<u32> {
    status.lines().find_map(|line| line.strip_prefix("TracerPid:"))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn parses_what_the_kernel_writes() {
        assert_eq!(state(b"7 (a) S) R 1 7"), Some('R'));
        assert_eq!(state(b"7 (a)"), None);
        assert_eq!(first_number("161249 2638950 2"), Some(161_249));
        let read = Call { number: 0, arguments: [3, 0x7f43_9648_6000] };
        assert_eq!(call("0 0x3 0x7f4396486000 0x20000 0x0 0x0 0x0 0x7fff47e0e688 0x7f43966002ad"), Some(read));
        assert_eq!(
            stack_pointer_in("0 0x3 0x7f4396486000 0x20000 0x0 0x0 0x0 0x7fff47e0e688 0x7f43966002ad\n"),
            Some(0x7fff_47e0_e688)
        );
        assert_eq!((stack_pointer_in("-1 0x7ff0 0x7f43\n"), stack_pointer_in("running\n")), (Some(0x7ff0), None));
        assert_eq!(flags(b"7 (a) b) S 1 7 7 0 -1 4194560 1 2"), Some(4_194_560));
        assert_eq!(call("running"), None);
        assert_eq!(call("-1 0x7fff47e0e688 0x7f43966002ad"), None);
        assert_eq!(tracer("Name:\ta\nTracerPid:\t17\n"), Some(17));
    }

    #[test]
    fn asks_for_this_thread() {
        let process = Process::open(std::process::id()).unwrap();
        let tid = rustix::thread::gettid().as_raw_pid().unsigned_abs();
        assert!(threads(&process).contains(&tid));
        let told = ask(&process, tid).unwrap();
        assert_eq!((told.state, told.tracer), ('R', 0));
        assert_eq!(ask(&process, u32::MAX), None);
    }

    proptest! {
        #[test]
        fn never_panics(text: String) {
            let _ = (flags(text.as_bytes()), stack_pointer_in(&text), state(text.as_bytes()), first_number(&text), call(&text), tracer(&text));
        }
    }
}
