//! System calls that the kernel refuses, for tests.

use std::io;

use libc::{c_int, c_long, sock_filter, sock_fprog};

/// Makes these system calls fail with `error` in this thread, and in threads and processes that it starts.
///
/// # Errors
///
/// The kernel's, if it filters no calls here.
pub fn refuse(calls: &[c_long], error: c_int) -> io::Result<()> {
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const JUMP_IF_EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let step = |code, k, jf| sock_filter { code, jt: 0, jf, k };
    // The number of the call comes first.
    let mut filter = vec![step(LOAD, 0, 0)];
    for &call in calls {
        filter.push(step(JUMP_IF_EQUAL, call as u32, 1));
        filter.push(step(RETURN, libc::SECCOMP_RET_ERRNO | error as u32, 0));
    }
    filter.push(step(RETURN, libc::SECCOMP_RET_ALLOW, 0));
    let program = sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: takes no pointers.
    let is_allowed = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1_u64, 0_u64, 0_u64, 0_u64) } == 0;
    let filters = u64::from(libc::SECCOMP_MODE_FILTER);
    // SAFETY: `program` and its filter are valid during the call, which copies them.
    match is_allowed && unsafe { libc::prctl(libc::PR_SET_SECCOMP, filters, &raw const program) } == 0 {
        true => Ok(()),
        false => Err(io::Error::last_os_error()),
    }
}
