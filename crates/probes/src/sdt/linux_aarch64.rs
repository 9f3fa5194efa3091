//! Linux on aarch64.

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
        "65536"
    };
    (address) => {
        ".8byte"
    };
    (pointer) => {
        "8"
    };
}

/// The register that the next operand is in, by its 64-bit name whatever the size, as tracers expect on this processor.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_register {
    ($kind:ident) => {
        "{:x}"
    };
}

/// Runs the block if the word, or its tracers' half, is not zero: address, load, one branch that is not taken.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_if_not_zero {
    (word $($rest:tt)*) => {
        $crate::__sdt_if_not_zero!(@ "ldr {word:w}, [{word}, :lo12:", $($rest)*)
    };
    (half $($rest:tt)*) => {
        $crate::__sdt_if_not_zero!(@ "ldrh {word:w}, [{word}, :lo12:", $($rest)*)
    };
    (@ $load:literal, $provider:literal, $probe:literal, $block:block) => {
        ::core::arch::asm!(
            concat!(
                $crate::__sdt_word!($provider, $probe),
                "adrp {word}, ", $crate::__sdt_word_name!($provider, $probe), "\n",
                $load, $crate::__sdt_word_name!($provider, $probe), "]\n",
                "cbnz {word:w}, {block}",
            ),
            word = out(reg) _,
            block = label $block,
            options(nostack, nomem, preserves_flags)
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
                "adrp {word}, ", $crate::__sdt_word_name!($provider, $probe), "\n",
                "add {word}, {word}, :lo12:", $crate::__sdt_word_name!($provider, $probe),
            ),
            word = out(reg) $word,
            options(nostack, nomem, preserves_flags)
        )
    };
}
