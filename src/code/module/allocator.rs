//! The allocator of modules: the host's, since either side may free the other's memory.

use std::alloc::{self, GlobalAlloc, Layout, System};

use dyntrace_probes::host::OfHost;

/// The host's allocator functions.
pub(crate) struct HostCalls {
    alloc: unsafe fn(Layout) -> *mut u8,
    alloc_zeroed: unsafe fn(Layout) -> *mut u8,
    dealloc: unsafe fn(*mut u8, Layout),
    realloc: unsafe fn(*mut u8, Layout, usize) -> *mut u8,
}

pub(crate) static HOST: OfHost<HostCalls> = OfHost::new();

pub(crate) static HOST_CALLS: HostCalls = HostCalls {
    alloc: alloc::alloc,
    alloc_zeroed: alloc::alloc_zeroed,
    dealloc: alloc::dealloc,
    realloc: alloc::realloc,
};

/// Forwards to the program's allocator; [`module!`](crate::module) makes it the module's. Where a module's code is a program of its own,
/// as in tests, it forwards to the system's.
#[doc(hidden)]
#[derive(Debug)]
pub struct HostAllocator;

// SAFETY: every call goes to the same allocator, since the host is installed before the module allocates.
unsafe impl GlobalAlloc for HostAllocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        unsafe {
            match HOST.get() {
                Some(host) => (host.alloc)(layout),
                None => System.alloc(layout),
            }
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        unsafe {
            match HOST.get() {
                Some(host) => (host.alloc_zeroed)(layout),
                None => System.alloc_zeroed(layout),
            }
        }
    }

    #[inline]
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe {
            match HOST.get() {
                Some(host) => (host.dealloc)(at, layout),
                None => System.dealloc(at, layout),
            }
        }
    }

    #[inline]
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        unsafe {
            match HOST.get() {
                Some(host) => (host.realloc)(at, layout, size),
                None => System.realloc(at, layout, size),
            }
        }
    }
}
