//! Where no recorder is: probes fire for tracers only.

/// Nothing.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_describe {
    ($provider:literal, $probe:literal $(, ($kind:ident $name:literal))*) => {};
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
macro_rules! __sdt_record_here {
    ($probe:ident, $(($kind:ident $argument:expr))*) => {};
}
pub(crate) use __sdt_record_here as record_here;
