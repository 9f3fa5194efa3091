//! Guests: copies of this crate in modules, beside the one of the program that loads them.
//!
//! A module is a library with a copy of all this code, and with statics of its own. What a program has once, such as its processes,
//! its threads' records and its sessions, are the statics of the program's copy, the *host*. So each room with such state has a
//! *door*: a table of what it does for guests. The host's is installed in the guest before any other code of the module runs, and
//! from then on the guest's room asks the host's.
//!
//! A room asks for the host where it costs the host's own calls nothing that counts: in what is cold, or found only by who has no
//! state of its own.

use std::io;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

#[cfg(all(feature = "code", target_os = "linux", not(any(loom, miri))))]
use crate::linked::linked;

/// Whether copies can be guests: where modules can be loaded.
const MAY_BE: bool = cfg!(all(feature = "code", target_os = "linux", not(any(loom, miri))));

/// A room's door of the host, if this copy is a guest.
pub(crate) struct OfHost<D: 'static>(AtomicPtr<D>);

impl<D> OfHost<D> {
    /// This copy is no guest, so far.
    pub(crate) const fn new() -> OfHost<D> {
        OfHost(AtomicPtr::new(ptr::null_mut()))
    }

    /// The host's door; `None` in the host.
    #[inline(always)]
    pub(crate) fn get(&self) -> Option<&'static D> {
        if !MAY_BE {
            return None;
        }
        // SAFETY: null, or what `install` was given, which stays.
        // Relaxed: what it points to is constant, and installed before anybody can call the module's code.
        unsafe { self.0.load(Ordering::Relaxed).as_ref() }
    }

    /// This copy is a guest from now on.
    pub(crate) fn install(&self, door: &'static D) {
        self.0.store(ptr::from_ref(door).cast_mut(), Ordering::Relaxed);
    }
}

/// A value that a program has once, for all copies of this crate.
pub(crate) struct ProgramWide<T: 'static> {
    own: T,
    host: OfHost<T>,
}

impl<T> ProgramWide<T> {
    pub(crate) const fn new(own: T) -> ProgramWide<T> {
        ProgramWide { own, host: OfHost::new() }
    }

    /// This copy's, for its guests.
    pub(crate) const fn own(&'static self) -> &'static T {
        &self.own
    }

    /// The host's.
    #[inline(always)]
    pub(crate) fn get(&'static self) -> &'static T {
        self.host.get().unwrap_or(&self.own)
    }

    /// This copy is a guest from now on.
    pub(crate) fn enter(&self, host: &'static T) {
        self.host.install(host);
    }
}

static IS_GUEST: AtomicBool = AtomicBool::new(false);

/// This copy is a guest from now on.
pub(crate) fn enter() {
    IS_GUEST.store(true, Ordering::Relaxed);
}

/// Whether this copy is a guest.
pub(crate) fn is_guest() -> bool {
    MAY_BE && IS_GUEST.load(Ordering::Relaxed)
}

/// Puts a mark into the object that it is compiled into: that is a module. Found where nothing of it has run yet.
#[cfg(all(feature = "code", target_os = "linux", not(miri)))]
#[doc(hidden)]
#[macro_export]
macro_rules! __module_mark {
    () => {
        #[used]
        #[unsafe(link_section = "dyntrace_module")]
        static __DYNTRACE_MODULE_MARK: u8 = 1;
    };
}

/// Whether this copy is in a module, and therefore is a guest, or will be one before anything of it is called. What runs when
/// an object is loaded asks, and leaves everything to the host.
#[cfg(all(feature = "code", target_os = "linux", not(any(loom, miri))))]
pub(crate) fn is_module() -> bool {
    let marks = linked!("dyntrace_module": u8 = 0);
    marks.contains(&1) && !is_of_program(marks.as_ptr())
}

/// Other systems load no modules.
#[cfg(not(all(feature = "code", target_os = "linux", not(any(loom, miri)))))]
pub(crate) fn is_module() -> bool {
    false
}

/// Whether the address is in the program's own file: tests of a module are programs with the module's mark in them.
#[cfg(all(feature = "code", target_os = "linux", not(any(loom, miri))))]
fn is_of_program(address: *const u8) -> bool {
    unsafe extern "C" fn first(object: *mut libc::dl_phdr_info, _: usize, address: *mut libc::c_void) -> libc::c_int {
        // SAFETY: the C library describes the object that comes first, which is the program, with as many headers there.
        let (object, headers) = unsafe {
            let object = &*object;
            (object, std::slice::from_raw_parts(object.dlpi_phdr, object.dlpi_phnum.into()))
        };
        let offset = address.addr().wrapping_sub(object.dlpi_addr as usize);
        let is_there = headers.iter().any(|header| {
            header.p_type == libc::PT_LOAD && offset.wrapping_sub(header.p_vaddr as usize) < header.p_memsz as usize
        });
        // Not zero, so that no other object is asked.
        if is_there { 1 } else { 2 }
    }
    // SAFETY: `first` takes the pointer for a number, and does not unwind.
    unsafe { libc::dl_iterate_phdr(Some(first), address.cast_mut().cast()) == 1 }
}

/// The error of what a module cannot have, with what to do instead.
pub(crate) fn refused(what: &str, instead: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::Unsupported,
        format!("{what} cannot be had in a module, whose dyntrace is a guest of the program's: {instead}"),
    )
}

#[cfg(all(feature = "code", test, target_os = "linux", not(any(loom, miri))))]
mod tests {
    use super::*;

    static DOOR: u32 = 7;

    #[test]
    fn a_copy_is_a_guest_once_it_has_a_door() {
        let room = OfHost::new();
        assert_eq!(room.get(), None);
        room.install(&DOOR);
        assert_eq!(room.get(), Some(&7));
    }

    #[test]
    fn a_program_is_no_module() {
        assert!(!is_module());
        assert!(is_of_program(ptr::from_ref(&DOOR).cast()));
        assert!(!is_of_program((libc::getpid as unsafe extern "C" fn() -> i32 as *const u8).cast()));
    }
}
