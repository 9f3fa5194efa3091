//! Libraries in memory.

use std::ops::Range;
use std::path::Path;

/// A library in memory, as the dynamic linker has it.
pub(crate) trait Mapping: Send + Sync {
    /// The addresses that its segments lie between.
    fn range(&self) -> Range<usize>;

    /// What is to be subtracted from an address to get the one that the file gives it.
    fn bias(&self) -> usize;

    /// The file that is mapped: the version's own copy.
    fn path(&self) -> &Path;

    /// The file that it is a copy of, as the program named it.
    fn source(&self) -> &Path;

    /// Takes it out of memory, if nothing stands against that: then it is gone, and so are the module's descriptor and all that its
    /// statics hold. Called once at most.
    ///
    /// # Safety
    ///
    /// Nobody runs its code or uses anything of it, now or later.
    unsafe fn unmap(&self) -> Unmapped;
}

/// What came of unmapping a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unmapped {
    /// It is not in memory any more.
    Gone,
    /// Something keeps it, such as destructors of thread-local values.
    Kept,
}
