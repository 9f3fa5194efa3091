//! Without a recorder: probes fire for tracers only.

/// Nothing.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_describe {
    ($provider:literal, $probe:literal $(, ($kind:ident $name:literal))*) => {};
}

/// Nothing.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_return_if_discarded {
    ($module:ident) => {};
}

/// Nothing.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_discard {
    ($provider:literal, $probe:literal) => {};
}

/// Nothing.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_record {
    ($(($kind:ident $name:ident $($buffer:ident)?)),* $(,)?) => {
        $($(let _ = &mut $buffer;)?)*
    };
}

/// Nothing.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_record_here {
    ($module:ident::$probe:ident, $time:expr, $(($kind:ident $argument:expr))*) => {
        let _: Option<u64> = $time;
    };
}
pub use crate::__sdt_record_here as record_here;

/// Never.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_record_both_here {
    ($($firings:tt)*) => {
        false
    };
}
pub use crate::__sdt_record_both_here as record_both_here;

/// Nothing.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_time_if_recorded {
    ($($module:ident::$probe:ident),*) => {
        None
    };
}
pub use crate::__sdt_time_if_recorded as time_if_recorded;

/// Nothing.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_open_control_if_requested {
    ($module:ident::$probe:ident) => {};
}
pub use crate::__sdt_open_control_if_requested as open_control_if_requested;

/// None.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_sessions {
    ($module:ident::$probe:ident) => {
        0
    };
}
pub use crate::__sdt_sessions as sessions;

/// Never: there is no table.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_is_only_kept {
    ($module:ident::$probe:ident) => {
        false
    };
}
pub use crate::__sdt_is_only_kept as is_only_kept;
