//! The traits that each guard has: access to the value, and the value's own texts.

/// For guards with shared access.
macro_rules! shared {
    ($([$($generics:tt)*] $guard:ty => $value:ident;)*) => { $(
        impl<$($generics)*> ::std::ops::Deref for $guard {
            type Target = $value;

            #[inline]
            fn deref(&self) -> &$value {
                &self.0
            }
        }

        impl<$($generics)*> ::std::fmt::Debug for $guard where $value: ::std::fmt::Debug {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Debug::fmt(&**self, f)
            }
        }

        impl<$($generics)*> ::std::fmt::Display for $guard where $value: ::std::fmt::Display {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(&**self, f)
            }
        }
    )* };
}

/// For guards with exclusive access.
macro_rules! exclusive {
    ($([$($generics:tt)*] $guard:ty => $value:ident;)*) => {
        $crate::sync::guard::shared! { $([$($generics)*] $guard => $value;)* }

        $(
            impl<$($generics)*> ::std::ops::DerefMut for $guard {
                #[inline]
                fn deref_mut(&mut self) -> &mut $value {
                    &mut self.0
                }
            }
        )*
    };
}

pub(super) use {exclusive, shared};
