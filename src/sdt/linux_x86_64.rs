//! Linux on x86_64.

/// The bytes of a site.
///
/// Tracers attach to the 1-byte nop everywhere. The 10-byte nop behind it is for kernels (7.2 on) and tools that turn it
/// into a call of a trampoline, which is cheaper than a trap. Aligned so that no page boundary cuts it.
#[cfg(not(feature = "nop5"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_nop {
    () => {
        ".balign 16\n990: nop\n.byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n"
    };
}

/// The bytes of a site, for kernels that turn a 5-byte nop into a call of a trampoline (6.18). Others single-step it.
#[cfg(feature = "nop5")]
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_nop {
    () => {
        ".balign 8\n990: .byte 0x0f, 0x1f, 0x44, 0, 0\n"
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
        ".8byte"
    };
}

/// Text of one argument in the note: size with sign, and the register that the next operand is in.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_operand {
    (i32) => {
        "-4@%{:e}"
    };
    (u32) => {
        "4@%{:e}"
    };
    (i64) => {
        "-8@%{:r}"
    };
    (u64) => {
        "8@%{:r}"
    };
    (str) => {
        "8@%{:r}"
    };
}

/// Runs the block if the probe's word is not zero: one compare, one jump that is not taken.
#[cfg(not(dof))]
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
                    "cmp dword ptr [rip + ", $crate::__sdt_word_name!($provider, $probe), "], 0\n",
                    "jne {}",
                ),
                label $enabled,
                options(nostack, nomem)
            )
        }
    };
}

/// The same for the tracers' half of the word alone.
#[cfg(not(dof))]
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
                    "cmp word ptr [rip + ", $crate::__sdt_word_name!($provider, $probe), "], 0\n",
                    "jne {}",
                ),
                label $traced,
                options(nostack, nomem)
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
                    "lea {}, [rip + ", $crate::__sdt_word_name!($provider, $probe), "]",
                ),
                out(reg) word,
                options(nostack, nomem, preserves_flags)
            )
        }
        word
    }};
}
