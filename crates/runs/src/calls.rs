//! System calls by which tracers attach, made once to see whether the kernel refuses them: capabilities do not tell of filters.

use std::fs;
use std::io;
use std::os::fd::{FromRawFd as _, OwnedFd};

use dyntrace_terminal::own;
use nix::libc::{EACCES, ENOSYS, EPERM, SYS_bpf, SYS_perf_event_open, c_long, syscall};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Bpf,
    PerfEventOpen,
}

impl Call {
    /// Makes the call as a tracer does. Returns why the kernel refuses it, and the way out.
    pub fn refused(self) -> Option<String> {
        let error = self.make().err()?;
        // A filter has mode 2.
        self.told(&error, own::mask("Seccomp") == Some(2))
    }

    /// `None` for an error that is no refusal.
    fn told(self, error: &io::Error, has_filter: bool) -> Option<String> {
        let (name, option) = match self {
            Call::Bpf => ("bpf", "CONFIG_BPF_SYSCALL=y"),
            Call::PerfEventOpen => ("perf_event_open", "CONFIG_PERF_EVENTS=y"),
        };
        let remedy = match error.raw_os_error()? {
            ENOSYS => format!("run it outside the sandbox (gVisor and the like), or use a kernel with {option}"),
            EPERM | EACCES if has_filter => {
                "a seccomp filter may refuse it, run it outside the container, or start that with --security-opt seccomp=unconfined"
                    .to_owned()
            }
            EPERM | EACCES => {
                "a security module or the kernel's lockdown may refuse it, see the kernel's log".to_owned()
            }
            _ => return None,
        };
        Some(format!("the kernel refuses {name}, {error}: {remedy}"))
    }

    fn make(self) -> io::Result<OwnedFd> {
        match self {
            Call::Bpf => load_program(),
            Call::PerfEventOpen => open_event(),
        }
    }
}

/// Loads a program that returns 0.
fn load_program() -> io::Result<OwnedFd> {
    #[repr(C)]
    struct Attributes {
        kind: u32,
        count: u32,
        instructions: u64,
        license: u64,
        log: [u64; 2],
        version: u32,
        flags: u32,
    }
    const PROG_LOAD: c_long = 5;
    const KPROBE: u32 = 2;
    // `r0 = 0`, then `exit`.
    let instructions: [[u8; 8]; 2] = [[0xb7, 0, 0, 0, 0, 0, 0, 0], [0x95, 0, 0, 0, 0, 0, 0, 0]];
    let attributes = Attributes {
        kind: KPROBE,
        count: instructions.len() as u32,
        instructions: instructions.as_ptr().addr() as u64,
        license: c"GPL".as_ptr().addr() as u64,
        log: [0; 2],
        version: 0,
        flags: 0,
    };
    // SAFETY: the attributes, the instructions and the license live until the call returns.
    opened(unsafe { syscall(SYS_bpf, PROG_LOAD, &raw const attributes, size_of::<Attributes>()) })
}

/// Opens an event for a call of this command's first byte, which is no code.
fn open_event() -> io::Result<OwnedFd> {
    #[repr(C)]
    struct Attributes {
        kind: u32,
        size: u32,
        before: [u64; 4],
        flags: u64,
        between: u64,
        path: u64,
        offset: u64,
    }
    const DISABLED: u64 = 1;
    const CLOSE_ON_EXEC: c_long = 8;
    let kind = fs::read_to_string("/sys/bus/event_source/devices/uprobe/type")?;
    let attributes = Attributes {
        kind: kind.trim().parse().map_err(io::Error::other)?,
        size: size_of::<Attributes>() as u32,
        before: [0; 4],
        flags: DISABLED,
        between: 0,
        path: c"/proc/self/exe".as_ptr().addr() as u64,
        offset: 0,
    };
    // This process, on every processor, in no group.
    let (process, processor, group): (c_long, c_long, c_long) = (0, -1, -1);
    // SAFETY: the attributes and the path live until the call returns.
    opened(unsafe { syscall(SYS_perf_event_open, &raw const attributes, process, processor, group, CLOSE_ON_EXEC) })
}

fn opened(descriptor: c_long) -> io::Result<OwnedFd> {
    match i32::try_from(descriptor) {
        // SAFETY: the kernel has just made this descriptor, which nothing else has.
        Ok(descriptor @ 0..) => Ok(unsafe { OwnedFd::from_raw_fd(descriptor) }),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use dyntrace_terminal::say;
    use nix::libc::EINVAL;

    use super::*;
    use crate::filtered::refuse;

    #[test]
    fn each_error_has_a_way_out_of_its_own() {
        let told = |call: Call, error, has_filter| call.told(&io::Error::from_raw_os_error(error), has_filter);
        for (call, error, has_filter, part) in [
            (Call::Bpf, ENOSYS, true, "CONFIG_BPF_SYSCALL=y"),
            (Call::PerfEventOpen, ENOSYS, false, "CONFIG_PERF_EVENTS=y"),
            (Call::Bpf, EPERM, true, "seccomp=unconfined"),
            (Call::PerfEventOpen, EACCES, false, "lockdown"),
        ] {
            let told = told(call, error, has_filter).unwrap();
            assert!(told.contains(part), "{told}");
        }
        assert_eq!(told(Call::Bpf, EINVAL, true), None);
    }

    #[test]
    fn refused_calls_are_told() {
        let look = || {
            for (call, number, error) in
                [(Call::Bpf, SYS_bpf, EPERM), (Call::PerfEventOpen, SYS_perf_event_open, ENOSYS)]
            {
                if let Err(error) = refuse(&[number], error) {
                    say!("left out: calls cannot be filtered here: {error}");
                    return;
                }
                // Without the file that tells the kind of an event, the call is not made.
                let is_made = call == Call::Bpf || fs::exists("/sys/bus/event_source/devices/uprobe/type").unwrap();
                assert_eq!(call.refused().is_some(), is_made, "{call:?}");
            }
        };
        std::thread::spawn(look).join().unwrap();
    }
}
