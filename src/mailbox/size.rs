//! Sizes of messages.

/// A message that reports its size, with the memory that it points to.
///
/// ```
/// use dyntrace::mailbox::{Options, Size};
///
/// struct Page(Vec<u8>);
///
/// impl Size for Page {
///     fn words(&self) -> usize {
///         size_of::<Page>().div_ceil(size_of::<usize>()) + self.0.len().div_ceil(size_of::<usize>())
///     }
/// }
///
/// let (sender, mailbox) = Options::<Page>::new().measured().channel();
/// # let _ = (sender, mailbox);
/// ```
pub trait Size {
    /// Returns the size in machine words. Called only while a tracer is attached.
    fn words(&self) -> usize;
}

/// The size of the value itself.
pub(super) fn shallow<T>(_: &T) -> usize {
    size_of::<T>().div_ceil(size_of::<usize>())
}
