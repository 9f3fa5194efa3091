//! Linux on aarch64.

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
        "65536"
    };
}

/// How the assembler is told of an address.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_address {
    () => {
        ".8byte"
    };
}

/// Text of one argument in the note: size with sign, and the register that the next operand is in, by its 64-bit name
/// whatever the size, as tracers expect on this processor.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_operand {
    (i32) => {
        "-4@{:x}"
    };
    (u32) => {
        "4@{:x}"
    };
    (i64) => {
        "-8@{:x}"
    };
    (u64) => {
        "8@{:x}"
    };
    (str) => {
        "8@{:x}"
    };
}

/// Runs the block if the probe's word is not zero: address, load, one branch that is not taken.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_if_enabled {
    ($provider:literal, $probe:literal, $module:ident, $enabled:block) => {
        // SAFETY: reads the word that the same assembly defines, in this program or shared object. No Rust code writes it,
        // hence `nomem`: around `readonly` assembly the compiler keeps copies that it could do without.
        unsafe {
            $crate::__sdt_check!($provider, $probe);
            ::core::arch::asm!(
                concat!(
                    $crate::__sdt_word!($provider, $probe),
                    "adrp {word}, ", $crate::__sdt_word_name!($provider, $probe), "\n",
                    "ldr {word:w}, [{word}, :lo12:", $crate::__sdt_word_name!($provider, $probe), "]\n",
                    "cbnz {word:w}, {enabled}",
                ),
                word = out(reg) _,
                enabled = label $enabled,
                options(nostack, nomem, preserves_flags)
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
                    "adrp {word}, ", $crate::__sdt_word_name!($provider, $probe), "\n",
                    "ldrh {word:w}, [{word}, :lo12:", $crate::__sdt_word_name!($provider, $probe), "]\n",
                    "cbnz {word:w}, {traced}",
                ),
                word = out(reg) _,
                traced = label $traced,
                options(nostack, nomem, preserves_flags)
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
                    "adrp {word}, ", $crate::__sdt_word_name!($provider, $probe), "\n",
                    "add {word}, {word}, :lo12:", $crate::__sdt_word_name!($provider, $probe),
                ),
                word = out(reg) word,
                options(nostack, nomem, preserves_flags)
            )
        }
        word
    }};
}
