//! Preloaded: stops a program just before `main` until a write to the pipe named by the environment. (DTrace ignores a process
//! that a signal has stopped.)

use std::ffi::{c_char, c_int, c_void};
use std::fs::File;
use std::{env, mem};
use std::sync::OnceLock;

type Main = extern "C" fn(c_int, *mut *mut c_char, *mut *mut c_char) -> c_int;
type Hook = Option<extern "C" fn()>;
type Start = extern "C" fn(Main, c_int, *mut *mut c_char, Hook, Hook, Hook, *mut c_void) -> c_int;

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

const RTLD_NEXT: *mut c_void = -1isize as *mut c_void;

static MAIN: OnceLock<Main> = OnceLock::new();

extern "C" fn held(argc: c_int, argv: *mut *mut c_char, environment: *mut *mut c_char) -> c_int {
    let gate = env::var_os("GATE").expect("GATE names a pipe");
    File::open(gate).expect("the pipe of GATE");
    MAIN.get().expect("set below")(argc, argv, environment)
}

/// Replaces the function that the start code of every program calls.
#[unsafe(no_mangle)]
extern "C" fn __libc_start_main(
    main: Main,
    argc: c_int,
    argv: *mut *mut c_char,
    init: Hook,
    fini: Hook,
    rtld_fini: Hook,
    stack_end: *mut c_void,
) -> c_int {
    MAIN.get_or_init(|| main);
    // SAFETY: the name ends with NUL; the C library's function of that name, next after this one, has this type.
    let start: Start = unsafe { mem::transmute(dlsym(RTLD_NEXT, c"__libc_start_main".as_ptr())) };
    start(held, argc, argv, init, fini, rtld_fini, stack_end)
}
