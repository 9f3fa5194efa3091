//! Host and guests: the program's copy of this crate, and the copies in its modules.
//!
//! A module is a library with its own copy of this crate and its statics. State that exists once per program, such as processes,
//! threads' records and sessions, lives in the statics of the program's copy, the *host*. So each room with such state has a table of
//! functions for *guests*. The host's tables are installed in the guest before any other code of the module runs; from then on the
//! guest's room calls the host's.
//!
//! A room looks for a host only off its hot path, or where it finds no state of its own.

use std::io;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

#[cfg(all(feature = "modules", target_os = "linux", not(any(loom, miri))))]
use crate::linked::linked;

/// Whether copies can be guests: only systems that load modules have them.
const MAY_BE: bool = cfg!(all(feature = "modules", target_os = "linux", not(any(loom, miri))));

/// A reference to the host's state or functions; `None` in the host itself.
pub struct OfHost<T: 'static>(AtomicPtr<T>);

impl<T> OfHost<T> {
    /// Starts as the host's.
    pub const fn new() -> OfHost<T> {
        OfHost(AtomicPtr::new(ptr::null_mut()))
    }

    /// Returns the host's; `None` in the host.
    #[inline(always)]
    pub fn get(&self) -> Option<&'static T> {
        if !MAY_BE {
            return None;
        }
        // SAFETY: null, or the `'static` reference passed to `install`.
        // Relaxed: installed before the module's code can be called.
        unsafe { self.0.load(Ordering::Relaxed).as_ref() }
    }

    /// Sets the host's, when this copy becomes a guest.
    pub fn install(&self, host: &'static T) {
        self.0.store(ptr::from_ref(host).cast_mut(), Ordering::Relaxed);
    }
}

/// A value that exists once per program, for all copies of this crate.
pub struct ProgramWide<T: 'static> {
    own: T,
    host: OfHost<T>,
}

impl<T> ProgramWide<T> {
    pub const fn new(own: T) -> ProgramWide<T> {
        ProgramWide { own, host: OfHost::new() }
    }

    /// This copy's value, for its guests.
    pub const fn own(&'static self) -> &'static T {
        &self.own
    }

    /// Returns the program's value.
    #[inline(always)]
    pub fn get(&'static self) -> &'static T {
        self.host.get().unwrap_or(&self.own)
    }

    /// Uses the host's value from now on.
    pub fn enter(&self, host: &'static T) {
        self.host.install(host);
    }
}

/// A flag of the program that is never cleared. Relaxed, both: it orders nothing.
impl ProgramWide<AtomicBool> {
    /// Sets the flag. Tests it first, so that threads do not write the same cache line each time.
    #[inline]
    pub fn set(&'static self) {
        let flag = self.get();
        if !flag.load(Ordering::Relaxed) {
            flag.store(true, Ordering::Relaxed);
        }
    }

    #[inline(always)]
    pub fn is_set(&'static self) -> bool {
        self.get().load(Ordering::Relaxed)
    }
}

static IS_GUEST: AtomicBool = AtomicBool::new(false);

/// Makes this copy a guest.
pub fn enter() {
    IS_GUEST.store(true, Ordering::Relaxed);
}

/// Whether this copy is a guest.
pub fn is_guest() -> bool {
    MAY_BE && IS_GUEST.load(Ordering::Relaxed)
}

/// Marks the object as a module. The mark can be read before any code of the module has run.
#[cfg(all(feature = "modules", target_os = "linux", not(miri)))]
#[doc(hidden)]
#[macro_export]
macro_rules! __module_mark {
    () => {
        #[used]
        #[unsafe(link_section = "dyntrace_module")]
        static __DYNTRACE_MODULE_MARK: u8 = 1;
    };
}

/// Whether this copy is in a module, and so is a guest or will be one before it is called. Constructors ask, and then leave everything
/// to the host.
#[cfg(all(feature = "modules", target_os = "linux", not(any(loom, miri))))]
pub fn is_module() -> bool {
    let marks = linked!("dyntrace_module": u8 = 0);
    marks.contains(&1) && !is_of_program(marks.as_ptr())
}

/// Other systems have no modules.
#[cfg(not(all(feature = "modules", target_os = "linux", not(any(loom, miri)))))]
pub fn is_module() -> bool {
    false
}

/// Whether the address is in the program's own file. Tests of a module are programs with the module's mark in them.
#[cfg(all(feature = "modules", target_os = "linux", not(any(loom, miri))))]
fn is_of_program(address: *const u8) -> bool {
    unsafe extern "C" fn first(object: *mut libc::dl_phdr_info, _: usize, address: *mut libc::c_void) -> libc::c_int {
        // SAFETY: the C library passes the first object, which is the program, and the number of its headers.
        let (object, headers) = unsafe {
            let object = &*object;
            (object, std::slice::from_raw_parts(object.dlpi_phdr, object.dlpi_phnum.into()))
        };
        let offset = address.addr().wrapping_sub(object.dlpi_addr as usize);
        let is_there = headers.iter().any(|header| {
            header.p_type == libc::PT_LOAD && offset.wrapping_sub(header.p_vaddr as usize) < header.p_memsz as usize
        });
        // Not zero, which ends the iteration.
        if is_there { 1 } else { 2 }
    }
    // SAFETY: `first` uses the pointer as a number, and does not unwind.
    unsafe { libc::dl_iterate_phdr(Some(first), address.cast_mut().cast()) == 1 }
}

/// The error of an operation that is not available in modules. `instead` says what to do.
pub fn refused(what: &str, instead: &str) -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, format!("{what} is not available in a module: {instead}"))
}

#[cfg(all(feature = "modules", test, target_os = "linux", not(any(loom, miri))))]
mod tests {
    use super::*;

    static OF_HOST: u32 = 7;

    #[test]
    fn a_copy_is_a_guest_once_it_has_a_host() {
        let room = OfHost::new();
        assert_eq!(room.get(), None);
        room.install(&OF_HOST);
        assert_eq!(room.get(), Some(&7));
    }

    #[test]
    fn a_program_is_no_module() {
        assert!(!is_module());
        assert!(is_of_program(ptr::from_ref(&OF_HOST).cast()));
        assert!(!is_of_program((libc::getpid as unsafe extern "C" fn() -> i32 as *const u8).cast()));
    }
}
