//! Run by each object with traced functions when it is loaded and unloaded.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use dyntrace_probes::host;

use crate::breakpoint::libraries::{self, LibrarySites};
use crate::breakpoint::remote;
use crate::breakpoint::site::Site;
use crate::breakpoint::site::section::sites;

/// Makes the sites of an object known, and serves traces to other processes. Each traced function runs this before `main`, or when its
/// library is loaded, with the ends of its object's section and the handle by which the C library knows the object.
#[doc(hidden)]
pub fn enrol([start, stop, object]: [*const u8; 3]) {
    // The object of the last call. Relaxed: the dynamic linker runs the constructors of objects one after the other, on one thread.
    static LAST: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());
    // Whether the program ends. Relaxed: the thread that ends it runs all such functions.
    static IS_EXIT: AtomicBool = AtomicBool::new(false);

    unsafe extern "C" {
        #[link_name = "__dso_handle"]
        static THIS: u8;
        fn __cxa_atexit(run: extern "C" fn(*mut c_void), with: *mut c_void, object: *mut c_void) -> i32;
    }

    extern "C" fn leave(sites: *mut c_void) {
        // SAFETY: leaked below, and given to this function only.
        let sites = *unsafe { Box::from_raw(sites.cast::<&'static [Site]>()) };
        if IS_EXIT.load(Ordering::Relaxed) {
            libraries::leave_at_exit(sites);
        } else {
            // SAFETY: the C library runs this when the object is unloaded.
            unsafe { libraries::leave(sites) }
        }
        LAST.store(ptr::null_mut(), Ordering::Relaxed);
    }

    extern "C" fn exit(_: *mut c_void) {
        IS_EXIT.store(true, Ordering::Relaxed);
    }

    if LAST.swap(start.cast_mut(), Ordering::Relaxed) == start.cast_mut() || host::is_module() {
        return;
    }
    remote::enrol();
    if start == sites().as_ptr().cast() {
        return;
    }
    // SAFETY: as in `sites`; there as long as the object is, which is until `leave` has returned.
    let sites: &'static [Site] = unsafe {
        let (start, stop) = (start.cast::<Site>(), stop.cast::<Site>());
        std::slice::from_raw_parts(start, stop.offset_from_unsigned(start))
    };
    // SAFETY: the object is being loaded: no other code has the address of anything in it yet.
    unsafe { libraries::arrive(LibrarySites::new(sites, None), Vec::new()) };
    let sites = Box::into_raw(Box::new(sites)).cast();
    // SAFETY: runs `leave` once, with the argument that it expects. If the C library has no memory for it, the object's sites stay, and
    // so must the object.
    unsafe { __cxa_atexit(leave, sites, object.cast_mut().cast()) };
    // At the end of the program the C library runs the function that was registered last first: `exit`, then `leave`. When an object is
    // unloaded, it runs only that object's functions: `leave` without `exit`.
    // SAFETY: runs a function of this object before this object is unloaded.
    unsafe { __cxa_atexit(exit, ptr::null_mut(), (&raw const THIS).cast_mut().cast()) };
}
