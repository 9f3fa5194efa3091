//! Threads in system calls on a file: I/O threads among them run the jobs of operations.

use super::Descriptors;
use crate::kernel::{self, Call, numbers};
use crate::listing::Caller;
use crate::memory::Memory;
use crate::memory::live::Process;

/// Threads asked for, at most.
const MOST: usize = 4096;

/// A thread in a system call that the reader knows.
#[derive(Debug)]
pub(super) struct Calling {
    caller: Caller,
    call: Call,
}

/// Asks for all threads of a process.
pub(super) fn of(pid: u32) -> Vec<Calling> {
    let Ok(process) = Process::open(pid) else { return Vec::new() };
    let ask = |tid| {
        let told = kernel::ask(&process, tid)?;
        let call = told.call?;
        let system_call = numbers::name(call.number)?;
        Some(Calling { caller: Caller { tid, name: told.name, state: told.state, system_call }, call })
    };
    kernel::threads(&process).into_iter().take(MOST).filter_map(ask).collect()
}

/// Returns the threads in a call on a descriptor.
pub(super) fn on_descriptor(descriptors: &Descriptors, number: i32) -> Vec<Caller> {
    found(descriptors, |calling| calling.descriptor() == Some(number))
}

/// Returns the threads in a call on a path, or on a descriptor of the file at that path.
pub(super) fn on_path(descriptors: &Descriptors, memory: &dyn Memory, path: &str) -> Vec<Caller> {
    let is_path = |argument: &u64| {
        let mut bytes = vec![1; path.len() + 1];
        memory.read(*argument, &mut bytes).is_ok() && bytes.strip_suffix(&[0]) == Some(path.as_bytes())
    };
    found(descriptors, |calling| match calling.descriptor() {
        Some(number) => descriptors.describe(number).is_some_and(|described| described == path),
        None => calling.call.arguments.iter().any(is_path),
    })
}

fn found(descriptors: &Descriptors, is_on_file: impl Fn(&Calling) -> bool) -> Vec<Caller> {
    let calling = descriptors.calling().iter().filter(|calling| is_on_file(calling));
    calling.map(|calling| calling.caller.clone()).collect()
}

impl Calling {
    fn descriptor(&self) -> Option<i32> {
        numbers::works_on_descriptor(self.caller.system_call).then_some(self.call.arguments[0] as u32 as i32)
    }
}
