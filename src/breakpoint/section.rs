//! How the sites of a program are found: each lies in one section of the object file, whose ends the linker names.
//!
//! A function refers to its site, so that the linker keeps both or neither.

use super::site::Site;

/// The site of the function that it stands in. In a generic function there is one, too: a static knows nothing of the
/// function's parameters.
#[doc(hidden)]
#[macro_export]
macro_rules! __traced_site {
    ($site:ident, $name:expr, $line:literal, [$($argument:literal),*]) => {
        #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,dyntrace_traced"))]
        #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = "dyntrace_traced"))]
        static $site: $crate::__traced::Site = $crate::__traced::Site::new({
            const FUNCTION: &$crate::trace::Function = &$crate::trace::Function::new(
                $name,
                ::core::file!(),
                $line,
                &[$($argument),*],
            );
            FUNCTION
        });
        // What serves other processes is linked because of this, so not where no function is traced.
        #[cfg(all(target_os = "linux", not(miri)))]
        const _: () = {
            unsafe extern "C" {
                #[link_name = "__start_dyntrace_traced"]
                static START: u8;
                #[link_name = "__stop_dyntrace_traced"]
                static STOP: u8;
                #[link_name = "__dso_handle"]
                static OBJECT: u8;
            }
            extern "C" fn enrol() {
                $crate::__traced::enrol([&raw const START, &raw const STOP, &raw const OBJECT]);
            }
            #[used]
            #[unsafe(link_section = ".init_array")]
            static ENROL: extern "C" fn() = enrol;
        };
    };
}

/// Each traced function has this run before `main`, or when its library is loaded: with the ends of the section of its own
/// object, and what the C library knows that by.
#[cfg(all(target_os = "linux", not(miri)))]
#[doc(hidden)]
pub fn enrol([start, stop, object]: [*const u8; 3]) {
    use std::ffi::c_void;
    use std::ptr;
    use std::sync::atomic::{AtomicPtr, Ordering};

    use super::{libraries, remote};
    use crate::host;

    // The object that was here last. Relaxed: an object's functions have this run one after the other, on one thread.
    static LAST: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

    unsafe extern "C" {
        fn __cxa_atexit(run: extern "C" fn(*mut c_void), with: *mut c_void, object: *mut c_void) -> i32;
    }

    extern "C" fn leave(sites: *mut c_void) {
        // SAFETY: leaked below, and given to this function only.
        let sites = *unsafe { Box::from_raw(sites.cast::<&'static [Site]>()) };
        // SAFETY: the C library runs this when the object is unloaded, or the program ends.
        unsafe { libraries::leave(sites) }
        LAST.store(ptr::null_mut(), Ordering::Relaxed);
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
    // SAFETY: the object is being loaded: nobody has the address of anything in it yet.
    unsafe { libraries::arrive(libraries::Later::new(sites, None), Vec::new()) };
    let sites = Box::into_raw(Box::new(sites)).cast();
    // SAFETY: runs `leave` once, with what it expects. Without memory for it, the object's sites stay, and so must the object.
    unsafe { __cxa_atexit(leave, sites, object.cast_mut().cast()) };
}

/// All sites of this program, or of the shared object that has this copy of dyntrace.
#[cfg(not(any(loom, miri)))]
pub fn sites() -> &'static [Site] {
    use super::site::Function;
    use crate::linked::linked;

    // It has no name that a pattern could match.
    const NOTHING: &Function = &Function::new("", "", 0, &[]);
    linked!("dyntrace_traced": Site = Site::new(NOTHING))
}

/// Models have sites of their own, and miri no sections.
#[cfg(any(loom, miri))]
pub fn sites() -> &'static [Site] {
    &[]
}
