//! Tests that go on in a child of a fork. Part of those test programs that name it by its path.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `test` in a forked child, which has a minute for it; panics if it fails there.
pub fn in_child(test: impl FnOnce()) {
    // SAFETY: the child goes on on a copy of this thread, and takes no lock that another thread may have held but those of
    // the allocator, which glibc brings through a fork; it leaves by `_exit`.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "{}", std::io::Error::last_os_error());
    if child == 0 {
        // SAFETY: plain system calls.
        unsafe { libc::alarm(60) };
        let failed = catch_unwind(AssertUnwindSafe(test)).is_err();
        // SAFETY: as above.
        unsafe { libc::_exit(failed.into()) };
    }
    let mut status = 0;
    // SAFETY: the status is written to a variable that is there.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0, "the child ended so (14: it hung)");
}
