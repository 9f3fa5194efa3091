//! The names that generated probe functions use.

/// Includes the probe functions that `dyntrace_build::compile` made from a provider file. The argument is the file's name without `.d`.
#[macro_export]
macro_rules! include_provider {
    ($name:literal) => {
        #[allow(unused_imports)]
        use $crate::provider::names::*;
        include!(concat!(env!("OUT_DIR"), "/", $name, ".rs"));
    };
}

/// Imported where a provider is included, whatever the crate is called there.
pub mod names {
    pub use crate::sdt as __sdt;
}
