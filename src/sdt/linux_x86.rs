//! Linux on x86 with 32 bits.
//!
//! The processor has fewer registers than a probe has arguments, and none for one of 64 bits: the arguments are in memory,
//! eight bytes for each, and the note says how far each is from one register. Nor can an instruction name an address
//! relative to its own; a call of the next instruction tells where that is. (AT&T's syntax: in Intel's, the assembler takes
//! no difference of two names.)

/// The instruction of a site.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_nop {
    () => {
        "990: nop\n"
    };
}

/// The largest page of the processor.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_page {
    () => {
        "4096"
    };
}

/// How the assembler is told of an address.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_address {
    () => {
        ".4byte"
    };
}

/// Size and sign of one argument in the note.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_size {
    (i32) => {
        "-4"
    };
    (u32) => {
        "4"
    };
    (i64) => {
        "-8"
    };
    (u64) => {
        "8"
    };
    (str) => {
        "4"
    };
}

/// The probe's site, with the arguments in memory.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_site {
    ($provider:literal, $probe:literal) => {
        $crate::__sdt_noted_nop!($provider, $probe, [""], [])
    };
    ($provider:literal, $probe:literal, ($kind:ident $first:ident $c:literal) $(($kinds:ident $rest:ident $cs:literal))*) => {
        let words = [$first as u64, $($rest as u64),*];
        $crate::__sdt_site!(
            @ $provider, $probe, words, [$crate::__sdt_size!($kind), "@(%{words:e})"],
            ["8" "16" "24" "32" "40" "48" "56" "64" "72" "80" "88"] $($kinds)*
        )
    };
    (@ $provider:literal, $probe:literal, $words:ident, [$($text:expr),*], [$at:literal $($free:literal)*] $kind:ident $($rest:ident)*) => {
        $crate::__sdt_site!(
            @ $provider, $probe, $words, [$($text,)* " ", $crate::__sdt_size!($kind), "@", $at, "(%{words:e})"], [$($free)*] $($rest)*
        )
    };
    (@ $provider:literal, $probe:literal, $words:ident, $text:tt, $free:tt) => {
        $crate::__sdt_noted_nop!($provider, $probe, $text, [words = in(reg) &raw const $words,])
    };
}

/// Runs the block if the probe's word is not zero: its address, one compare, one jump that is not taken.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_if_enabled {
    ($provider:literal, $probe:literal, $module:ident, $enabled:block) => {
        // SAFETY: reads the word that the same assembly defines, in this program or shared object. No Rust code writes it,
        // hence `nomem`: around `readonly` assembly the compiler keeps copies that it could do without. Not `nostack`: the
        // call pushes what the next instruction pops.
        unsafe {
            $crate::__sdt_check!($provider, $probe);
            ::core::arch::asm!(
                concat!(
                    $crate::__sdt_word!($provider, $probe),
                    "call 995f\n",
                    "995: pop {here}\n",
                    "cmpl $0, ", $crate::__sdt_word_name!($provider, $probe), " - 995b({here})\n",
                    "jne {enabled}",
                ),
                here = out(reg) _,
                enabled = label $enabled,
                options(att_syntax, nomem)
            )
        }
    };
}

/// The same for the tracers' half of the word alone.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_if_traced {
    ($provider:literal, $probe:literal, $traced:block) => {
        // SAFETY: reads half of the word that the same assembly defines. The recorder writes the other half only.
        unsafe {
            $crate::__sdt_check!($provider, $probe);
            ::core::arch::asm!(
                concat!(
                    $crate::__sdt_word!($provider, $probe),
                    "call 995f\n",
                    "995: pop {here}\n",
                    "cmpw $0, ", $crate::__sdt_word_name!($provider, $probe), " - 995b({here})\n",
                    "jne {traced}",
                ),
                here = out(reg) _,
                traced = label $traced,
                options(att_syntax, nomem)
            )
        }
    };
}

/// Where the probe's word is.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_word_at {
    ($provider:literal, $probe:literal) => {{
        let word: *const ::core::sync::atomic::AtomicU32;
        // SAFETY: takes an address that the same assembly defines.
        unsafe {
            $crate::__sdt_check!($provider, $probe);
            ::core::arch::asm!(
                concat!(
                    $crate::__sdt_word!($provider, $probe),
                    "call 995f\n",
                    "995: pop {word}\n",
                    "leal ", $crate::__sdt_word_name!($provider, $probe), " - 995b({word}), {word}",
                ),
                word = out(reg) word,
                options(att_syntax, nomem, preserves_flags)
            )
        }
        word
    }};
}
