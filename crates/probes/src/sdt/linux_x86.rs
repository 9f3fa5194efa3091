//! Linux on x86 with 32 bits.
//!
//! The processor has fewer registers than a probe has arguments, and none of 64 bits. So the arguments are in memory, eight bytes each, and
//! the note gives their offsets from one register. Instructions cannot address relative to their own address; a call of the next
//! instruction provides it. (AT&T's syntax: in Intel's, the assembler accepts no difference of two symbols.)

/// The instruction of a site.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_nop {
    () => {
        "990: nop\n"
    };
}

/// Properties of the processor: its largest page, the directive for an address, the size of a pointer.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_processor {
    (page) => {
        "4096"
    };
    (address) => {
        ".4byte"
    };
    (pointer) => {
        "4"
    };
}

/// The probe's site, with the arguments in memory.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_site {
    ($provider:literal, $probe:literal $(,)?) => {
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

/// Runs the block if the word, or its tracers' half, is not zero: its address, one compare, one jump that is not taken.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_if_not_zero {
    (word $($rest:tt)*) => {
        $crate::__sdt_if_not_zero!(@ "cmpl $0, ", $($rest)*)
    };
    (half $($rest:tt)*) => {
        $crate::__sdt_if_not_zero!(@ "cmpw $0, ", $($rest)*)
    };
    (@ $compare:literal, $provider:literal, $probe:literal, $block:block) => {
        // Not `nostack`: the call pushes a word, and the next instruction pops it.
        ::core::arch::asm!(
            concat!(
                $crate::__sdt_word!($provider, $probe),
                "call 995f\n",
                "995: pop {here}\n",
                $compare, $crate::__sdt_word_name!($provider, $probe), " - 995b({here})\n",
                "jne {block}",
            ),
            here = out(reg) _,
            block = label $block,
            options(att_syntax, nomem)
        )
    };
}

/// Puts the address of the probe's word into `$word`.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_load_address {
    ($provider:literal, $probe:literal, $word:ident) => {
        ::core::arch::asm!(
            concat!(
                $crate::__sdt_word!($provider, $probe),
                "call 995f\n",
                "995: pop {word}\n",
                "leal ", $crate::__sdt_word_name!($provider, $probe), " - 995b({word}), {word}",
            ),
            word = out(reg) $word,
            options(att_syntax, nomem, preserves_flags)
        )
    };
}
