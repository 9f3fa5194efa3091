//! Libraries mapped by the dynamic linker.

use std::ffi::{CStr, CString, c_void};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

use super::copies::Copy;
use crate::code::version::descriptor::{Descriptor, SYMBOL};
use crate::code::version::image::{Mapping, Unmapped};
use crate::code::version::still_mapped;

/// A mapped library. Dropping this leaves it mapped, and keeps its file, which debuggers and tracers read.
pub(crate) struct Library {
    handle: NonNull<c_void>,
    descriptor: &'static Descriptor,
    range: Range<usize>,
    bias: usize,
    /// `None` once the library is unmapped.
    copy: Mutex<Option<Copy>>,
    path: PathBuf,
    source: PathBuf,
}

// SAFETY: the dynamic linker's functions may be called on any thread; all else is constant or locked.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

impl Library {
    /// Lets the dynamic linker map a module's copy, which runs its constructors. `addresses` is the range of its segments in the file.
    ///
    /// # Errors
    ///
    /// The dynamic linker's message.
    ///
    /// # Safety
    ///
    /// The file has been inspected: it is a module with this program's fingerprint.
    pub(crate) unsafe fn open(copy: Copy, source: PathBuf, addresses: Range<usize>) -> Result<Library, String> {
        let name = c_path(copy.path())?;
        // SAFETY: a path that ends in NUL. The module's author answers for its constructors.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        let handle = NonNull::new(handle).ok_or_else(last_error)?;
        // SAFETY: a handle of an open library, and a name that ends in NUL.
        let symbol = unsafe { libc::dlsym(handle.as_ptr(), SYMBOL.as_ptr()) };
        let found = NonNull::new(symbol).and_then(|symbol| Some((symbol.cast::<Descriptor>(), base(symbol)?)));
        let Some((descriptor, base)) = found else {
            // Its constructors have run, and without a descriptor it cannot be unloadable.
            std::mem::forget(copy);
            still_mapped::count();
            return Err("it has a fingerprint of dyntrace, but no descriptor; build it again".into());
        };
        // SAFETY: `module!` has put it there, of the type in this copy of the crate, as their fingerprints are equal. It lives as long
        // as the library is mapped.
        let descriptor = unsafe { descriptor.as_ref() };
        let bias = base - addresses.start;
        let range = base..addresses.end + bias;
        let path = copy.path().to_owned();
        Ok(Library { handle, descriptor, range, bias, copy: Mutex::new(Some(copy)), path, source })
    }

    pub(crate) fn descriptor(&self) -> &'static Descriptor {
        self.descriptor
    }
}

impl Mapping for Library {
    fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    fn bias(&self) -> usize {
        self.bias
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn source(&self) -> &Path {
        &self.source
    }

    unsafe fn unmap(&self) -> Unmapped {
        // SAFETY: opened in `open`, and closed only here, once, as the caller promises.
        unsafe { libc::dlclose(self.handle.as_ptr()) };
        if is_open(&self.path) {
            return Unmapped::Kept;
        }
        drop(self.copy.lock().unwrap_or_else(PoisonError::into_inner).take());
        Unmapped::Gone
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // If the copy is still there, the library is mapped, and its file stays.
        std::mem::forget(self.copy.get_mut().unwrap_or_else(PoisonError::into_inner).take());
    }
}

/// Returns the lowest address of the object that contains this address.
fn base(address: NonNull<c_void>) -> Option<usize> {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address is allowed, and `info` has room for the answer.
    let found = unsafe { libc::dladdr(address.as_ptr(), info.as_mut_ptr()) } != 0;
    // SAFETY: zeros are valid, and so are the values that `dladdr` writes.
    found.then(|| unsafe { info.assume_init() }.dli_fbase.addr())
}

/// Whether the dynamic linker has mapped a library from this path.
fn is_open(path: &Path) -> bool {
    let Ok(name) = c_path(path) else { return false };
    // SAFETY: a path that ends in NUL. RTLD_NOLOAD maps nothing.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD) };
    // SAFETY: the handle was opened on the line before.
    !handle.is_null() && unsafe { libc::dlclose(handle) } == 0
}

fn c_path(path: &Path) -> Result<CString, String> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| "its path has a NUL in it".into())
}

/// Returns the dynamic linker's last error message on this thread.
fn last_error() -> String {
    // SAFETY: null, or a string that is valid until this thread's next call of the dynamic linker.
    let text = unsafe { libc::dlerror().as_ref().map(|text| CStr::from_ptr(text)) };
    text.map_or_else(|| "nothing".into(), |text| text.to_string_lossy().into_owned())
}
