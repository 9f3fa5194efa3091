//! DTrace's helper device.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use crate::sdt::registration::Registration;

/// Its path on every system.
pub(super) const PATH: &str = "/dev/dtrace/helper";

/// The argument of `DTRACEHIOC_ADDDOF`: `dof_helper_t` of each system's `sys/dtrace.h`. (The crate `dof` has the last two fields on FreeBSD
/// only.)
#[repr(C)]
struct Helper {
    module: [c_char; 64],
    address: u64,
    dof: u64,
    #[cfg(any(target_os = "freebsd", target_os = "netbsd"))]
    process: libc::pid_t,
    #[cfg(any(target_os = "freebsd", target_os = "netbsd"))]
    generation: c_int,
}

/// DTrace's number of a registration.
#[derive(Debug)]
pub(super) struct Ticket(c_int);

#[cfg(any(target_os = "illumos", target_os = "solaris"))]
const ADD: i32 = i32::from_be_bytes(*b"dth\x03");
#[cfg(any(target_os = "illumos", target_os = "solaris"))]
const REMOVE: i32 = i32::from_be_bytes(*b"dth\x02");

/// `_IOW(0xd8, 3, dof_helper_t)` of `dtrace/ioctl.h`, which every DTrace 2 accepts.
#[cfg(target_os = "linux")]
const ADD: u64 = 0x4000_0000 | (size_of::<Helper>() as u64) << 16 | 0xd8 << 8 | 3;
/// `_IOW(0xd8, 2, int)`
#[cfg(target_os = "linux")]
const REMOVE: u64 = 0x4000_0000 | (size_of::<c_int>() as u64) << 16 | 0xd8 << 8 | 2;

/// `_IOWR('z', 3, dof_helper_t)`
#[cfg(any(target_os = "freebsd", target_os = "netbsd"))]
const ADD: u64 = 0xc000_0000 | (size_of::<Helper>() as u64) << 16 | (b'z' as u64) << 8 | 3;
/// `_IOW('z', 2, int)`
#[cfg(any(target_os = "freebsd", target_os = "netbsd"))]
const REMOVE: u64 = 0x8000_0000 | (size_of::<c_int>() as u64) << 16 | (b'z' as u64) << 8 | 2;

/// Whether the device accepts requests from this thread. `dtprobed` gets the thread's number and takes it for a process number, which is
/// right for the first thread only.
pub(super) fn accepts_this_thread() -> bool {
    #[cfg(target_os = "linux")]
    return rustix::thread::gettid() == rustix::process::getpid();
    #[cfg(not(target_os = "linux"))]
    true
}

/// The open device.
#[derive(Debug)]
pub(super) struct Device(File);

impl Device {
    pub(super) fn open(path: &Path) -> Result<Device, Registration> {
        OpenOptions::new().read(true).write(true).open(path).map(Device).map_err(refused)
    }

    /// Registers the DOF of the module that contains `address`. The DOF must not move: DTrace identifies registrations by its address.
    pub(super) fn add(&self, dof: &'static [u8], address: usize) -> Result<Ticket, Registration> {
        let mut helper = Helper {
            module: module_of(address),
            address: dof.as_ptr() as u64,
            dof: dof.as_ptr() as u64,
            #[cfg(any(target_os = "freebsd", target_os = "netbsd"))]
            process: std::process::id() as libc::pid_t,
            #[cfg(any(target_os = "freebsd", target_os = "netbsd"))]
            generation: 0,
        };
        // SAFETY: the request takes a `dof_helper_t`, which `Helper` is. It copies the DOF, which contains its own length.
        let answer = unsafe { libc::ioctl(self.0.as_raw_fd(), ADD as _, &raw mut helper) };
        if answer < 0 {
            return Err(refused(io::Error::last_os_error()));
        }
        #[cfg(any(target_os = "freebsd", target_os = "netbsd"))]
        let answer = helper.generation;
        Ok(Ticket(answer))
    }

    /// Removes a registration.
    pub(super) fn remove(&self, ticket: Ticket) -> Registration {
        #[cfg(not(any(target_os = "freebsd", target_os = "netbsd")))]
        let argument = ticket.0;
        #[cfg(any(target_os = "freebsd", target_os = "netbsd"))]
        let argument = &raw const ticket.0;
        // SAFETY: the request takes a pointer to the number on FreeBSD and NetBSD, the number itself elsewhere.
        let answer = unsafe { libc::ioctl(self.0.as_raw_fd(), REMOVE as _, argument) };
        if answer < 0 { refused(io::Error::last_os_error()) } else { Registration::NotNeeded }
    }
}

fn refused(error: io::Error) -> Registration {
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::ENXIO | libc::ENODEV) => Registration::NoDevice,
        errno => Registration::Refused(errno.unwrap_or(libc::EIO)),
    }
}

/// The file name of the program or shared object that contains `address`, which DTrace shows as the module.
fn module_of(address: usize) -> [c_char; 64] {
    let mut module = [0; 64];
    // SAFETY: all zeros is a valid value of this structure of pointers and numbers.
    let mut info: libc::Dl_info = unsafe { std::mem::zeroed() };
    // SAFETY: `info` is valid for writing; the address is only looked up.
    let found = unsafe { libc::dladdr(address as *const c_void as _, &raw mut info) } != 0;
    if found && !info.dli_fname.is_null() {
        // SAFETY: `dladdr` found the module. Its name is a C string that lives as long as the module is loaded.
        let path = unsafe { CStr::from_ptr(info.dli_fname) }.to_bytes();
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
        let last = module.len() - 1;
        for (to, from) in module[..last].iter_mut().zip(name) {
            *to = *from as c_char;
        }
    }
    module
}
