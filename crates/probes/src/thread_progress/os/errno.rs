//! The calling thread's `errno`, which the standard library cannot set.

unsafe extern "C" {
    /// Returns its address, valid as long as the thread lives.
    #[cfg_attr(any(target_vendor = "apple", target_os = "freebsd"), link_name = "__error")]
    #[cfg_attr(any(target_os = "illumos", target_os = "solaris"), link_name = "___errno")]
    #[cfg_attr(any(target_os = "android", target_os = "netbsd", target_os = "openbsd"), link_name = "__errno")]
    #[cfg_attr(target_os = "linux", link_name = "__errno_location")]
    pub safe fn errno() -> *mut libc::c_int;
}
