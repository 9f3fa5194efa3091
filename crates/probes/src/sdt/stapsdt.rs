//! The common part of the Linux leaves: the word, and the site with the note that tracers read.
//!
//! A note (stapsdt, version 3) contains the addresses of the site, of `.stapsdt.base` (by which tools find the offset of a prelinked file)
//! and of the semaphore; then provider, name and the operand of each argument. It is not loaded into memory. The word and the base are weak
//! and hidden, each in a group of its own: every object that uses the probe contains them, the linker keeps one per program or shared
//! object, and `R` protects them from garbage collection. (Without the base, its address is zero, and tracers attach to wrong addresses.)
//! The same holds for the site: a retained section refers to it. Otherwise the linker would drop an unused probe function and leave its
//! note.
//!
//! `.probes` begins on a page of its own. If two segments of the file are mapped from one page, as at the end of data that is read-only
//! after relocation, the kernel may increment the semaphore in the other mapping, and the program never sees it.

// rustc takes a macro below the tool attribute for one made by a macro, which has no path.
#![allow(clippy::deprecated_cfg_attr)]

/// The name of a probe's word in assembly. The dot is in no name of a provider: `db:pool_empty` is not `db_pool:empty`.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_word_name {
    ($provider:literal, $probe:literal) => {
        concat!("__dyntrace_word_", $provider, ".", $probe)
    };
}

/// Assembly that defines a probe's word, unless the object defines it already.
#[cfg_attr(rustfmt, rustfmt_skip)]
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_word {
    ($provider:literal, $probe:literal) => {
        concat!(
            ".ifndef __dyntrace_words\n",
            ".pushsection .probes, \"awGR\", @progbits, __dyntrace_words, comdat\n",
            ".balign ", $crate::__sdt_processor!(page), "\n",
            ".weak __dyntrace_words\n",
            ".hidden __dyntrace_words\n",
            "__dyntrace_words:\n",
            ".popsection\n",
            ".endif\n",
            ".ifndef ", $crate::__sdt_word_name!($provider, $probe), "\n",
            ".pushsection .probes, \"awGR\", @progbits, ", $crate::__sdt_word_name!($provider, $probe), ", comdat\n",
            ".balign 4\n",
            ".weak ", $crate::__sdt_word_name!($provider, $probe), "\n",
            ".hidden ", $crate::__sdt_word_name!($provider, $probe), "\n",
            ".type ", $crate::__sdt_word_name!($provider, $probe), ", @object\n",
            ".size ", $crate::__sdt_word_name!($provider, $probe), ", 4\n",
            $crate::__sdt_word_name!($provider, $probe), ": .zero 4\n",
            ".popsection\n",
            ".endif\n",
        )
    };
}

/// Assembly of the note of the site at local label 990. `$arguments` is the text of the arguments.
#[cfg_attr(rustfmt, rustfmt_skip)]
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_note {
    ($provider:literal, $probe:literal, $($arguments:expr),*) => {
        concat!(
            ".pushsection .note.stapsdt, \"?\", @note\n",
            ".balign 4\n",
            ".4byte 992f - 991f, 994f - 993f, 3\n",
            "991: .asciz \"stapsdt\"\n",
            "992: .balign 4\n",
            "993: ", $crate::__sdt_processor!(address), " 990b, _.stapsdt.base, ", $crate::__sdt_word_name!($provider, $probe), "\n",
            ".asciz \"", $provider, "\"\n",
            ".asciz \"", $probe, "\"\n",
            ".asciz \"", $($arguments,)* "\"\n",
            "994: .balign 4\n",
            ".popsection\n",
            ".pushsection .stapsdt.sites, \"aR\", @progbits\n",
            ".balign 4\n",
            ".4byte 990b - .\n",
            ".popsection\n",
            ".ifndef _.stapsdt.base\n",
            ".pushsection .stapsdt.base, \"aGR\", @progbits, .stapsdt.base, comdat\n",
            ".weak _.stapsdt.base\n",
            ".hidden _.stapsdt.base\n",
            "_.stapsdt.base: .space 1\n",
            ".size _.stapsdt.base, 1\n",
            ".popsection\n",
            ".endif\n",
        )
    };
}

/// Nothing: the assembly of each use defines the word.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_declare {
    ($provider:literal, $probe:literal) => {};
}

/// A site: the platform's nop. `$arguments` is the text of the note's arguments, which names operands of the assembly.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_noted_nop {
    ($provider:literal, $probe:literal, [$($arguments:expr),*], [$($operands:tt)*]) => {
        // SAFETY: the assembly is a nop with a note. A tracer that replaces the nop restores all registers and only reads memory, hence
        // `readonly`. Not `nostack`: the replacement of the nop may push onto the stack.
        unsafe {
            $crate::__sdt_check!($provider, $probe);
            ::core::arch::asm!(
                concat!(
                    $crate::__sdt_word!($provider, $probe),
                    $crate::__sdt_nop!(),
                    $crate::__sdt_note!($provider, $probe, $($arguments),*),
                ),
                $($operands)*
                options(readonly)
            )
        }
    };
}

/// Size and sign of an argument in the note.
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
        $crate::__sdt_processor!(pointer)
    };
}

/// Runs the block if the probe's word is not zero.
#[cfg(not(dof))]
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_if_enabled {
    ($provider:literal, $probe:literal, $module:ident, $enabled:block) => {
        // SAFETY: reads the word that the same assembly defines, in this program or shared object. No Rust code writes it, hence `nomem`:
        // around `readonly` assembly the compiler keeps needless copies.
        unsafe {
            $crate::__sdt_check!($provider, $probe);
            $crate::__sdt_if_not_zero!(word $provider, $probe, $enabled)
        }
    };
}

/// Runs the block if the tracers' half of the probe's word is not zero.
#[cfg(not(dof))]
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_if_traced {
    ($provider:literal, $probe:literal, $traced:block) => {
        // SAFETY: reads half of the word that the same assembly defines. The recorder writes the other half only.
        unsafe {
            $crate::__sdt_check!($provider, $probe);
            $crate::__sdt_if_not_zero!(half $provider, $probe, $traced)
        }
    };
}

/// The address of the probe's word.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_word_at {
    ($provider:literal, $probe:literal) => {{
        let word: *const ::core::sync::atomic::AtomicU32;
        // SAFETY: takes an address that the same assembly defines.
        unsafe {
            $crate::__sdt_check!($provider, $probe);
            $crate::__sdt_load_address!($provider, $probe, word)
        }
        word
    }};
}
