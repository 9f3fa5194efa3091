//! The word of a probe on platforms whose tracers need none: the recorder's.

/// The probe's word.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_declare {
    ($provider:literal, $probe:literal) => {
        #[doc(hidden)]
        pub static WORD: ::core::sync::atomic::AtomicU32 = ::core::sync::atomic::AtomicU32::new(0);
    };
}

/// The address of the probe's word.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_word_at {
    ($provider:literal, $probe:literal) => {
        &raw const WORD
    };
}
