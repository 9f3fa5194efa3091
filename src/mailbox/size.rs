//! How large messages are.

/// A message that knows its size better than its type does.
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
    /// The size in machine words. Asked for only while a tracer looks.
    fn words(&self) -> usize;
}

/// Of the value itself, without what it points to.
pub(super) fn shallow<T>(_: &T) -> usize {
    size_of::<T>().div_ceil(size_of::<usize>())
}
