//! Names of system calls that threads are found in.

/// Returns the name of a system call of this architecture. `None` for calls that hardly take time.
pub(crate) fn name(number: u64) -> Option<&'static str> {
    let number = libc::c_long::try_from(number).ok()?;
    NAMES.iter().chain(OLD).find(|(known, _)| *known == number).map(|(_, name)| *name)
}

/// Whether the call's first argument is a file descriptor.
pub(crate) fn works_on_descriptor(name: &str) -> bool {
    const PREFIXES: [&str; 21] = [
        "accept", "close", "connect", "copy_file", "epoll", "fallocate", "fcntl", "fdatasync", "flock", "fsync",
        "ftruncate", "getdents", "io_uring", "ioctl", "pread", "pwrite", "read", "recv", "send", "sync", "write",
    ];
    // The first argument of the one is a path, of the other a folder.
    if matches!(name, "readlink" | "readlinkat") {
        return false;
    }
    name == "splice" || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

macro_rules! names {
    ($($name:ident = $number:ident),* $(,)?) => { &[$((libc::$number, stringify!($name))),*] };
}

const NAMES: &[(libc::c_long, &str)] = names![
    accept4 = SYS_accept4,
    brk = SYS_brk,
    clock_nanosleep = SYS_clock_nanosleep,
    clone = SYS_clone,
    close = SYS_close,
    connect = SYS_connect,
    copy_file_range = SYS_copy_file_range,
    epoll_pwait = SYS_epoll_pwait,
    epoll_pwait2 = SYS_epoll_pwait2,
    execve = SYS_execve,
    exit = SYS_exit,
    exit_group = SYS_exit_group,
    fallocate = SYS_fallocate,
    fchmodat = SYS_fchmodat,
    fchownat = SYS_fchownat,
    fcntl = SYS_fcntl,
    fdatasync = SYS_fdatasync,
    flock = SYS_flock,
    fsync = SYS_fsync,
    ftruncate = SYS_ftruncate,
    futex = SYS_futex,
    getdents64 = SYS_getdents64,
    io_uring_enter = SYS_io_uring_enter,
    ioctl = SYS_ioctl,
    linkat = SYS_linkat,
    madvise = SYS_madvise,
    mkdirat = SYS_mkdirat,
    mmap = SYS_mmap,
    mprotect = SYS_mprotect,
    munmap = SYS_munmap,
    nanosleep = SYS_nanosleep,
    openat = SYS_openat,
    ppoll = SYS_ppoll,
    pread64 = SYS_pread64,
    preadv = SYS_preadv,
    pselect6 = SYS_pselect6,
    pwrite64 = SYS_pwrite64,
    pwritev = SYS_pwritev,
    read = SYS_read,
    readlinkat = SYS_readlinkat,
    readv = SYS_readv,
    recvfrom = SYS_recvfrom,
    recvmmsg = SYS_recvmmsg,
    recvmsg = SYS_recvmsg,
    renameat2 = SYS_renameat2,
    restart_syscall = SYS_restart_syscall,
    rt_sigsuspend = SYS_rt_sigsuspend,
    rt_sigtimedwait = SYS_rt_sigtimedwait,
    sched_yield = SYS_sched_yield,
    sendfile = SYS_sendfile,
    sendmmsg = SYS_sendmmsg,
    sendmsg = SYS_sendmsg,
    sendto = SYS_sendto,
    splice = SYS_splice,
    statx = SYS_statx,
    symlinkat = SYS_symlinkat,
    sync_file_range = SYS_sync_file_range,
    syncfs = SYS_syncfs,
    unlinkat = SYS_unlinkat,
    utimensat = SYS_utimensat,
    wait4 = SYS_wait4,
    waitid = SYS_waitid,
    write = SYS_write,
    writev = SYS_writev,
];

/// Calls that some architectures do not have.
#[cfg(target_arch = "x86_64")]
const OLD: &[(libc::c_long, &str)] = names![
    accept = SYS_accept,
    chmod = SYS_chmod,
    chown = SYS_chown,
    epoll_wait = SYS_epoll_wait,
    link = SYS_link,
    lstat = SYS_lstat,
    mkdir = SYS_mkdir,
    newfstatat = SYS_newfstatat,
    open = SYS_open,
    pause = SYS_pause,
    poll = SYS_poll,
    readlink = SYS_readlink,
    rename = SYS_rename,
    rmdir = SYS_rmdir,
    select = SYS_select,
    stat = SYS_stat,
    symlink = SYS_symlink,
    truncate = SYS_truncate,
    unlink = SYS_unlink,
    vfork = SYS_vfork,
];
#[cfg(target_arch = "aarch64")]
const OLD: &[(libc::c_long, &str)] = names![accept = SYS_accept, newfstatat = SYS_newfstatat, renameat = SYS_renameat];
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const OLD: &[(libc::c_long, &str)] = &[];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_calls_and_their_descriptors() {
        let futex = name(libc::SYS_futex.cast_unsigned()).unwrap();
        assert_eq!(futex, "futex");
        assert!(!works_on_descriptor(futex));
        assert!(works_on_descriptor("epoll_pwait") && works_on_descriptor("read"));
        assert!(!works_on_descriptor("clock_nanosleep") && !works_on_descriptor("restart_syscall"));
        assert!(!works_on_descriptor("readlink") && !works_on_descriptor("readlinkat"));
        assert_eq!(name(u64::MAX), None);
    }
}
