//! Addresses of this process as addresses in object files.

use std::fmt;
use std::path::PathBuf;

/// An address in an object file, as tools for object files take it; displays as `/usr/bin/shop+0x1f3a`. If the file is unknown, the
/// address in memory.
pub(crate) struct CodeAddress {
    file: Option<PathBuf>,
    address: usize,
}

impl CodeAddress {
    #[cfg(target_os = "linux")]
    pub(crate) fn of(address: usize) -> CodeAddress {
        let mut search = Search { address, found: None };
        // SAFETY: `look` casts the pointer back to its own type, and does not unwind.
        unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
        search.found.unwrap_or(CodeAddress { file: None, address })
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn of(address: usize) -> CodeAddress {
        CodeAddress { file: None, address }
    }
}

impl fmt::Display for CodeAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => write!(f, "{}+{:#x}", file.display(), self.address),
            None => write!(f, "{:#x}", self.address),
        }
    }
}

#[cfg(target_os = "linux")]
struct Search {
    address: usize,
    found: Option<CodeAddress>,
}

/// Ends the search if the address is in this object.
#[cfg(target_os = "linux")]
unsafe extern "C" fn look(object: *mut libc::dl_phdr_info, _: libc::size_t, search: *mut libc::c_void) -> libc::c_int {
    use std::ffi::{CStr, OsStr};
    use std::os::unix::ffi::OsStrExt as _;

    // SAFETY: the C library passes its description of the object, and the pointer from `CodeAddress::of`, which nothing else uses.
    let (object, search) = unsafe { (&*object, &mut *search.cast::<Search>()) };
    // SAFETY: the object has this number of headers there, and stays loaded during the call.
    let headers = unsafe { std::slice::from_raw_parts(object.dlpi_phdr, object.dlpi_phnum.into()) };
    let address = search.address.wrapping_sub(object.dlpi_addr as usize);
    let is_there = headers.iter().any(|header| {
        header.p_type == libc::PT_LOAD && address.wrapping_sub(header.p_vaddr as usize) < header.p_memsz as usize
    });
    if !is_there {
        return 0;
    }
    // SAFETY: as the headers.
    let name = unsafe { CStr::from_ptr(object.dlpi_name) }.to_bytes();
    // The program itself has no name.
    let file = if name.is_empty() { std::env::current_exe().ok() } else { Some(OsStr::from_bytes(name).into()) };
    search.found = Some(CodeAddress { file, address });
    1
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use super::*;

    #[test]
    fn code_is_in_files() {
        let own = CodeAddress::of(code_is_in_files as fn() as usize);
        assert_eq!(own.file.as_deref(), Some(std::env::current_exe().unwrap().as_path()));
        let other = CodeAddress::of(libc::getpid as unsafe extern "C" fn() -> i32 as usize).to_string();
        assert!(other.contains("libc") && other.contains("+0x"), "{other}");
        assert_eq!(CodeAddress::of(7).to_string(), "0x7");
    }
}
