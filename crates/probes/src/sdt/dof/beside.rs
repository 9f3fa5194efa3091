//! The macros of x86_64 Linux with DOF, where probes have notes as well.
//!
//! One nop is the site of both, so that a tracer that reads both finds one address. Its arguments are where DOF expects them. The note
//! names registers for all: an argument on the stack is still in the register that it was stored from.

/// Runs the block if the probe's word is not zero, or DTrace has enabled the probe.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_if_enabled {
    ($provider:literal, $probe:literal, $module:ident, $enabled:block) => {
        if $crate::__sdt_dof_is_wanted!($provider, $probe, u32::MAX) $enabled
    };
}

/// Runs the block if the tracers' half of the word is not zero, or DTrace has enabled the probe.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_if_traced {
    ($provider:literal, $probe:literal, $traced:block) => {
        if $crate::__sdt_dof_is_wanted!($provider, $probe, 0xffff) $traced
    };
}

/// Whether the word has a bit of the mask, or DTrace has enabled the probe.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_dof_is_wanted {
    ($provider:literal, $probe:literal, $mask:expr) => {{
        let word: *const ::core::sync::atomic::AtomicU32 = $crate::__sdt_word_at!($provider, $probe);
        // SAFETY: the word that the assembly defines, which lives as long as this code.
        let word = unsafe { &*word }.load(::core::sync::atomic::Ordering::Relaxed);
        word & $mask != 0 || {
            let enabled: u32;
            $crate::__sdt_dof_is_enabled!($provider, $probe, enabled);
            enabled != 0
        }
    }};
}

/// A nop with the arguments in place, and a note.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_site {
    ([$attributes:literal] $provider:literal, $probe:literal $(, $(($kind:ident $name:ident $c:literal))*)?) => {
        $crate::__sdt_dof_site!(
            [
                concat!(
                    $crate::__sdt_word!($provider, $probe),
                    $crate::__sdt_nop!(),
                    $crate::__sdt_note!($provider, $probe, $crate::__sdt_c_operands!(
                        [
                            ("%edi" "%rdi") ("%esi" "%rsi") ("%edx" "%rdx") ("%ecx" "%rcx") ("%r8d" "%r8") ("%r9d" "%r9")
                            ("{a6:e}" "{a6:r}") ("{a7:e}" "{a7:r}") ("{a8:e}" "{a8:r}")
                            ("{a9:e}" "{a9:r}") ("{a10:e}" "{a10:r}") ("{a11:e}" "{a11:r}")
                        ]
                        $($($kind)*)?
                    )),
                ),
            ]
            [$attributes] $provider, $probe $(, $(($kind $name $c))*)?
        )
    };
}

/// The text of the note's arguments: size with sign, and the register, by its name for four bytes and for eight.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_c_operands {
    ($places:tt) => {
        ""
    };
    ([$place:tt $($places:tt)*] $kind:ident) => {
        $crate::__sdt_c_operand!($place $kind)
    };
    ([$place:tt $($places:tt)*] $kind:ident $($kinds:ident)+) => {
        concat!($crate::__sdt_c_operand!($place $kind), " ", $crate::__sdt_c_operands!([$($places)*] $($kinds)+))
    };
}

/// The text of one argument.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_c_operand {
    (($four:literal $eight:literal) i32) => {
        concat!("-4@", $four)
    };
    (($four:literal $eight:literal) u32) => {
        concat!("4@", $four)
    };
    (($four:literal $eight:literal) i64) => {
        concat!("-8@", $eight)
    };
    (($four:literal $eight:literal) $unsigned:ident) => {
        concat!("8@", $eight)
    };
}
