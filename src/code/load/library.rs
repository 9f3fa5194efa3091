//! Libraries as the dynamic linker has them.

use std::ffi::{CStr, CString, c_void};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

use super::copies::Copy;
use crate::code::version::descriptor::{Descriptor, SYMBOL};
use crate::code::version::kept;
use crate::code::version::mapping::{Mapping, Unmapped};

/// A library that is mapped. It stays so when this is dropped; its file, too, which debuggers and tracers look into.
pub(crate) struct Library {
    handle: NonNull<c_void>,
    descriptor: &'static Descriptor,
    range: Range<usize>,
    bias: usize,
    /// Gone when the library is.
    copy: Mutex<Option<Copy>>,
    path: PathBuf,
    source: PathBuf,
}

// SAFETY: the dynamic linker's functions may be called on any thread; all else is constant or locked.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

impl Library {
    /// Has the dynamic linker map a module's copy, which runs its constructors. The addresses are those that its segments lie between,
    /// as the file gives them.
    ///
    /// # Errors
    ///
    /// The dynamic linker's words.
    ///
    /// # Safety
    ///
    /// The file has been inspected: it is a module, made of the same parts as this program.
    pub(crate) unsafe fn open(copy: Copy, source: PathBuf, addresses: Range<usize>) -> Result<Library, String> {
        let name = c_path(copy.path())?;
        // SAFETY: a path that ends in NUL. What constructors do is the module's author's to answer for.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        let handle = NonNull::new(handle).ok_or_else(said)?;
        // SAFETY: a handle of an open library, and a name that ends in NUL.
        let symbol = unsafe { libc::dlsym(handle.as_ptr(), SYMBOL.as_ptr()) };
        let found = NonNull::new(symbol).and_then(|symbol| Some((symbol.cast::<Descriptor>(), base(symbol)?)));
        let Some((descriptor, base)) = found else {
            // Its constructors have run, and it cannot say whether anything is left of them.
            std::mem::forget(copy);
            kept::count();
            return Err("it has a fingerprint of dyntrace's, but no descriptor; build it again".into());
        };
        // SAFETY: `module!` has put it there, in the form that this copy of the crate knows; it is there as long as the library is.
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
        // SAFETY: opened in `open`, and closed here only, once, as the caller promises.
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
        // Mapped still, if it is there: the file stays.
        std::mem::forget(self.copy.get_mut().unwrap_or_else(PoisonError::into_inner).take());
    }
}

/// Where the object begins that has this address.
fn base(address: NonNull<c_void>) -> Option<usize> {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address will do, and there is a place for the answer.
    let found = unsafe { libc::dladdr(address.as_ptr(), info.as_mut_ptr()) } != 0;
    // SAFETY: zeros and pointers, as it was made or is written.
    found.then(|| unsafe { info.assume_init() }.dli_fbase.addr())
}

/// Whether the dynamic linker has a library of this path.
fn is_open(path: &Path) -> bool {
    let Ok(name) = c_path(path) else { return false };
    // SAFETY: a path that ends in NUL. Nothing is mapped by this.
    let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD) };
    // SAFETY: what was opened the line before, if it was.
    !handle.is_null() && unsafe { libc::dlclose(handle) } == 0
}

fn c_path(path: &Path) -> Result<CString, String> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| "its path has a NUL in it".into())
}

/// What the dynamic linker says of the last failure on this thread.
fn said() -> String {
    // SAFETY: null, or a text that stays until this thread's next call of the dynamic linker.
    let text = unsafe { libc::dlerror().as_ref().map(|text| CStr::from_ptr(text)) };
    text.map_or_else(|| "nothing".into(), |text| text.to_string_lossy().into_owned())
}
