//! A thread of this process, as /proc shows it.

use std::fs;

use super::event::Thread;

/// Reads the state of a thread, without stopping it. Parts that the kernel does not show are `None`.
pub(super) fn thread(id: u32) -> Thread {
    let read = |file: &str| fs::read_to_string(format!("/proc/self/task/{id}/{file}")).unwrap_or_default();
    let function = read("wchan");
    Thread {
        id,
        name: read("comm").trim_end().to_owned(),
        state: state(&read("stat")),
        system_call: system_call(&read("syscall")),
        // 0 outside of the kernel, and where the kernel hides it.
        kernel_function: Some(function).filter(|name| !matches!(name.as_str(), "" | "0")),
    }
}

fn state(stat: &str) -> Option<char> {
    // The name before may contain anything, also parentheses.
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

/// `running`, or the number of the call and its arguments; -1 for a thread that the kernel stopped outside of a call.
fn system_call(text: &str) -> Option<String> {
    let number: libc::c_long = text.split_ascii_whitespace().next()?.parse().ok()?;
    let name = NAMES.iter().find(|(known, _)| *known == number).map(|(_, name)| (*name).to_owned());
    (number >= 0).then(|| name.unwrap_or_else(|| format!("system call {number}")))
}

macro_rules! calls {
    ($($call:ident $name:literal),* $(,)?) => {
        /// The calls in which threads stay, on every architecture.
        const NAMES: &[(libc::c_long, &str)] = &[$((libc::$call, $name)),*];
    };
}

calls! {
    SYS_accept4 "accept4",
    SYS_clock_nanosleep "clock_nanosleep",
    SYS_connect "connect",
    SYS_copy_file_range "copy_file_range",
    SYS_epoll_pwait "epoll_pwait",
    SYS_execve "execve",
    SYS_fallocate "fallocate",
    SYS_fcntl "fcntl",
    SYS_fdatasync "fdatasync",
    SYS_flock "flock",
    SYS_fsync "fsync",
    SYS_futex "futex",
    SYS_getdents64 "getdents64",
    SYS_io_uring_enter "io_uring_enter",
    SYS_nanosleep "nanosleep",
    SYS_openat "openat",
    SYS_ppoll "ppoll",
    SYS_pread64 "pread64",
    SYS_preadv "preadv",
    SYS_pwrite64 "pwrite64",
    SYS_pwritev "pwritev",
    SYS_read "read",
    SYS_readv "readv",
    SYS_recvfrom "recvfrom",
    SYS_recvmsg "recvmsg",
    SYS_restart_syscall "restart_syscall",
    SYS_sendmsg "sendmsg",
    SYS_sendto "sendto",
    SYS_sync "sync",
    SYS_unlinkat "unlinkat",
    SYS_wait4 "wait4",
    SYS_waitid "waitid",
    SYS_write "write",
    SYS_writev "writev",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_kernel() {
        assert_eq!(state("7 (a) b) S 1 7"), Some('S'));
        assert_eq!(state(""), None);
        let futex = format!("{} 0x7f 0x80 0x0 0x7ffe 0x7fff\n", libc::SYS_futex);
        assert_eq!(system_call(&futex).as_deref(), Some("futex"));
        assert_eq!(system_call("99999 0x0").as_deref(), Some("system call 99999"));
        for none in ["running\n", "-1 0x7ffe 0x7fff\n", ""] {
            assert_eq!(system_call(none), None);
        }
    }

    #[test]
    fn a_thread_that_has_ended_is_not_known() {
        let thread = thread(u32::MAX);
        assert_eq!((thread.state, thread.system_call, thread.kernel_function), (None, None, None));
    }
}
