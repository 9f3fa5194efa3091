//! A probe's arguments in the places of the C calling convention.
//!
//! DTrace reads the arguments of a user program's probe there on every system: in the registers of the convention, then on the stack from
//! the stack pointer up, at the instruction of the site itself (there was no call, so there is no return address). In the kernels' sources:
//!
//! * x86_64, illumos and FreeBSD: `fasttrap_usdt_getarg` asks `fasttrap_anarg` for argument n outside of a function entry: rdi, rsi, rdx,
//!   rcx, r8, r9, then the 8-byte word n - 6 from rsp (`fasttrap_isa.c` of each). macOS has the same text. DTrace 2 on Linux copies the
//!   same registers and words (`dt_cg_tramp_copy_args_from_regs`, as "not called").
//! * aarch64, macOS: x0 to x7, then the 8-byte word n - 8 from sp (`fasttrap_usdt_args64`). Apple's C compiler packs stack arguments by
//!   size; DTrace does not, and so this code does not. The kernel passes only the first five to a script, but lets it read registers. So
//!   each argument beyond x7 is in the register of its number, too, and the shipped scripts read argument n > 4 as `uregs[n]`.
//!
//! Every argument is sign- or zero-extended to 8 bytes, so that `arg0` and a typed `args[0]` agree. The space on the stack is a constant
//! that keeps the stack aligned to 16 bytes, as at a C call.

/// An argument as one 8-byte word, extended by its sign.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_widen {
    (i32 $value:ident) => {
        $value as i64
    };
    (u32 $value:ident) => {
        $value as u64
    };
    ($kind:ident $value:ident) => {
        $value
    };
}

/// Assembles the lines with the site, with at most 12 arguments in place: `[lines] [operands of the lines] arguments`.
///
/// The lines are in AT&T's syntax: in Intel's, the compiler drops the `$` of names.
#[cfg(target_arch = "x86_64")]
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_c_call {
    ($lines:tt $operands:tt $($argument:tt)*) => {
        $crate::__sdt_place!(
            @registers $lines $operands (att_syntax, readonly) []
            ["rdi" "rsi" "rdx" "rcx" "r8" "r9"]
            {
                "sub $48, %rsp"
                [(a6 "mov {a6}, (%rsp)") (a7 "mov {a7}, 8(%rsp)") (a8 "mov {a8}, 16(%rsp)")
                 (a9 "mov {a9}, 24(%rsp)") (a10 "mov {a10}, 32(%rsp)") (a11 "mov {a11}, 40(%rsp)")]
                "add $48, %rsp"
            }
            $($argument)*
        )
    };
}

/// Assembles the lines with the site, with at most 12 arguments in place: `[lines] [operands of the lines] arguments`.
#[cfg(target_arch = "aarch64")]
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_c_call {
    ($lines:tt $operands:tt $($argument:tt)*) => {
        $crate::__sdt_place!(
            @registers $lines $operands (readonly) []
            ["x0" "x1" "x2" "x3" "x4" "x5" "x6" "x7"]
            {
                "sub sp, sp, 32"
                [(in "x8" "str x8, [sp]") (in "x9" "str x9, [sp, 8]") (in "x10" "str x10, [sp, 16]") (in "x11" "str x11, [sp, 24]")]
                "add sp, sp, 32"
            }
            $($argument)*
        )
    };
}

/// Gives out the registers, then the words of the stack, one argument a step.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_place {
    // A register is free.
    (@registers $lines:tt $operands:tt $options:tt [$($in:tt)*] [$register:tt $($free:tt)*] $stack:tt
     ($kind:ident $name:ident $c:literal) $($rest:tt)*) => {
        $crate::__sdt_place!(
            @registers $lines $operands $options [$($in)* in($register) $crate::__sdt_widen!($kind $name),]
            [$($free)*] $stack $($rest)*
        )
    };
    // All arguments are in registers.
    (@registers [$($line:expr,)*] [$($operand:tt)*] $options:tt [$($in:tt)*] $free:tt $stack:tt) => {
        ::core::arch::asm!($($line,)* $($operand)* $($in)* options $options)
    };
    // Arguments are left, registers are not.
    (@registers $lines:tt $operands:tt $options:tt $in:tt [] { $make:literal $words:tt $give_back:literal } $($argument:tt)+) => {
        $crate::__sdt_place!(@stack $lines $operands $options $in [$make,] $words [$give_back,] $($argument)+)
    };
    // The register that holds the word is one of the compiler's choice, or a named one.
    (@stack $lines:tt $operands:tt $options:tt [$($in:tt)*] [$($store:literal,)*] [(in $register:tt $template:literal) $($free:tt)*] $give_back:tt
     ($kind:ident $name:ident $c:literal) $($rest:tt)*) => {
        $crate::__sdt_place!(
            @stack $lines $operands $options [$($in)* in($register) $crate::__sdt_widen!($kind $name),]
            [$($store,)* $template,] [$($free)*] $give_back $($rest)*
        )
    };
    (@stack $lines:tt [$($operand:tt)*] $options:tt $in:tt [$($store:literal,)*] [($word:ident $template:literal) $($free:tt)*] $give_back:tt
     ($kind:ident $name:ident $c:literal) $($rest:tt)*) => {
        $crate::__sdt_place!(
            @stack $lines [$($operand)* $word = in(reg) $crate::__sdt_widen!($kind $name),] $options $in
            [$($store,)* $template,] [$($free)*] $give_back $($rest)*
        )
    };
    (@stack [$($line:expr,)*] [$($operand:tt)*] $options:tt [$($in:tt)*] [$($store:literal,)*] $free:tt [$give_back:literal,]) => {
        ::core::arch::asm!($($store,)* $($line,)* $give_back, $($operand)* $($in)* options $options)
    };
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::ffi::c_char;
    use std::ptr;

    thread_local! {
        static SEEN: RefCell<Vec<i64>> = const { RefCell::new(Vec::new()) };
    }

    /// A C function of twelve words. It sees the same arguments as DTrace.
    #[allow(clippy::too_many_arguments)]
    extern "C" fn callee(
        a0: i64,
        a1: i64,
        a2: i64,
        a3: i64,
        a4: i64,
        a5: i64,
        a6: i64,
        a7: i64,
        a8: i64,
        a9: i64,
        a10: i64,
        a11: i64,
    ) {
        SEEN.set(vec![a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11]);
    }

    #[cfg(target_arch = "x86_64")]
    macro_rules! instruction {
        () => {
            "call {callee}"
        };
    }

    #[cfg(target_arch = "aarch64")]
    macro_rules! instruction {
        () => {
            "bl {callee}"
        };
    }

    macro_rules! call {
        ($($argument:tt)*) => {
            // SAFETY: calls `callee` by its ABI, if the macro under test is right, and declares the registers that a call destroys.
            unsafe {
                $crate::__sdt_c_call!(
                    [instruction!(),] [callee = sym callee, clobber_abi("C"),] $($argument)*
                )
            }
        };
    }

    #[test]
    fn a_c_callee_finds_twelve_arguments() {
        let (thread_id, tag, command, size) = (-1i32, i32::MIN, 12i32, 4_000_000_000u32);
        let (user_tag, s1, s2, port) =
            (c"tag".as_ptr(), c"old".as_ptr(), ptr::null::<c_char>(), c"#Port<0.1>".as_ptr());
        let (i1, i2, i3, i4) = (-1i64, i64::MIN, 3i64, u64::MAX);
        call!(
            (i32 thread_id "int") (i32 tag "int") (str user_tag "char *") (i32 command "int") (str s1 "char *") (str s2 "char *")
            (i64 i1 "int64_t") (i64 i2 "int64_t") (i64 i3 "int64_t") (u64 i4 "uint64_t") (str port "char *") (u32 size "uint32_t")
        );
        let expected = [
            -1,
            i64::from(i32::MIN),
            user_tag as i64,
            12,
            s1 as i64,
            0,
            -1,
            i64::MIN,
            3,
            u64::MAX as i64,
            port as i64,
            4_000_000_000,
        ];
        assert_eq!(SEEN.take(), expected);
    }

    #[test]
    fn a_c_callee_finds_few_arguments() {
        let (a, b) = (7i32, 1u64 << 63);
        call!((i32 a "int") (u64 b "uint64_t"));
        assert_eq!(SEEN.take()[..2], [7, i64::MIN]);
    }

    #[test]
    fn values_around_a_site_survive() {
        let a = 1i32;
        let around: [i64; 12] = std::hint::black_box(std::array::from_fn(|at| at as i64));
        call!(
            (i32 a "int") (i32 a "int") (i32 a "int") (i32 a "int") (i32 a "int") (i32 a "int")
            (i32 a "int") (i32 a "int") (i32 a "int")
        );
        assert_eq!(around.iter().sum::<i64>(), 66);
        assert_eq!(SEEN.take()[..9], [1; 9]);
    }
}
