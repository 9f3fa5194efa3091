//! Halves of channels.

/// `Clone` of halves of channels for values of any type.
macro_rules! clone {
    ($($half:ident),*) => {
        $(impl<T> Clone for $half<T> {
            fn clone(&self) -> Self {
                $half { half: self.half.clone(), inner: self.inner.clone() }
            }
        })*
    };
}

pub(super) use clone;
