//! Methods that types leave to tokio's, which they have inside.

/// Public methods that only call those of the same name of a field.
macro_rules! forward {
    ($field:ident:) => {};
    ($field:ident: $(#[$attribute:meta])* fn $name:ident(&self $(, $argument:ident: $type:ty)*) $(-> $result:ty)?; $($rest:tt)*) => {
        $(#[$attribute])*
        pub fn $name(&self $(, $argument: $type)*) $(-> $result)? {
            self.$field.$name($($argument),*)
        }

        forward! { $field: $($rest)* }
    };
    ($field:ident: $(#[$attribute:meta])* fn $name:ident(&mut self $(, $argument:ident: $type:ty)*) $(-> $result:ty)?; $($rest:tt)*) => {
        $(#[$attribute])*
        pub fn $name(&mut self $(, $argument: $type)*) $(-> $result)? {
            self.$field.$name($($argument),*)
        }

        forward! { $field: $($rest)* }
    };
}

/// `Debug`, as tokio's types have it.
macro_rules! debug {
    ($([$($generics:tt)*] $type:ty;)*) => {
        $(impl<$($generics)*> std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.inner.fmt(f)
            }
        })*
    };
}

pub(crate) use {debug, forward};
