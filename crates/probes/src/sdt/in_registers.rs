//! Sites on processors with a register for each argument.

/// The probe's site, with the arguments in registers.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_site {
    ($provider:literal, $probe:literal $(,)?) => {
        $crate::__sdt_noted_nop!($provider, $probe, [""], [])
    };
    ($provider:literal, $probe:literal, ($kind:ident $first:ident $c:literal) $(($kinds:ident $rest:ident $cs:literal))*) => {
        $crate::__sdt_noted_nop!(
            $provider, $probe,
            [
                $crate::__sdt_size!($kind), "@", $crate::__sdt_register!($kind)
                $(, " ", $crate::__sdt_size!($kinds), "@", $crate::__sdt_register!($kinds))*
            ],
            [in(reg) $first, $(in(reg) $rest,)*]
        )
    };
}
