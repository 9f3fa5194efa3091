//! Linux on x86_64.

/// The bytes of a site.
///
/// Tracers attach to the 1-byte nop, which every kernel emulates. Kernels from 7.3 on turn this one form of a 10-byte nop into a call of a
/// trampoline, for tracers that attach to it. Aligned so that it does not cross a page: the kernel leaves such a nop as it is.
#[cfg(not(feature = "nop5"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_nop {
    () => {
        ".balign 16\n990: nop\n.byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n"
    };
}

/// The bytes of a site, for kernels that turn a 5-byte nop into a call of a trampoline (6.18 to 7.2). Kernels before 6.16 single-step it.
/// The call overwrites the red zone, which functions with this assembly do not have.
#[cfg(feature = "nop5")]
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_nop {
    () => {
        ".balign 8\n990: .byte 0x0f, 0x1f, 0x44, 0, 0\n"
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
        ".8byte"
    };
    (pointer) => {
        "8"
    };
}

/// The register that the next operand is in.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_register {
    (i32) => {
        "%{:e}"
    };
    (u32) => {
        "%{:e}"
    };
    ($eight:ident) => {
        "%{:r}"
    };
}

/// Runs the block if the word, or its tracers' half, is not zero: one compare, one jump that is not taken.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_if_not_zero {
    (word $($rest:tt)*) => {
        $crate::__sdt_if_not_zero!(@ "cmp dword ptr [rip + ", $($rest)*)
    };
    (half $($rest:tt)*) => {
        $crate::__sdt_if_not_zero!(@ "cmp word ptr [rip + ", $($rest)*)
    };
    (@ $compare:literal, $provider:literal, $probe:literal, $block:block) => {
        ::core::arch::asm!(
            concat!(
                $crate::__sdt_word!($provider, $probe),
                $compare, $crate::__sdt_word_name!($provider, $probe), "], 0\n",
                "jne {}",
            ),
            label $block,
            options(nostack, nomem)
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
                "lea {}, [rip + ", $crate::__sdt_word_name!($provider, $probe), "]",
            ),
            out(reg) $word,
            options(nostack, nomem, preserves_flags)
        )
    };
}
