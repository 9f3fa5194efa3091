//! Without a recorder: probes fire for tracers only.

/// Nothing.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_unrecorded {
    ($($any:tt)*) => {};
}

/// Never.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_never {
    ($($any:tt)*) => {
        false
    };
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

/// Nothing.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_time_if_recorded {
    ($($module:ident::$probe:ident),*) => {
        None
    };
}

/// None.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_sessions {
    ($module:ident::$probe:ident) => {
        0
    };
}

pub use crate::{
    __sdt_never as is_only_kept, __sdt_never as record_both_here, __sdt_record as record,
    __sdt_record_here as record_here, __sdt_sessions as sessions, __sdt_time_if_recorded as time_if_recorded,
    __sdt_unrecorded as describe, __sdt_unrecorded as discard, __sdt_unrecorded as open_control_if_requested,
    __sdt_unrecorded as return_if_discarded,
};
