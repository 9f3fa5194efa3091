//! Runs tests in a forked child. Test programs and crates include it by path.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `test` in a forked child for at most a minute; panics if it fails there.
pub fn in_child(test: impl FnOnce()) {
    // SAFETY: the child continues on a copy of this thread. Of the locks that another thread may hold it takes only those that a fork
    // leaves usable: the allocator's, by glibc, and those of this project's fork handlers. It ends by `_exit`.
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
    // SAFETY: `status` is valid for writes.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0, "the child ended so (14: it hung)");
}
