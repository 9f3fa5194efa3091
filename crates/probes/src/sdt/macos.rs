//! macOS: the linker generates the probes.
//!
//! A site is a call of an undefined function, whose name describes the probe. Apple's linker replaces it by a nop (for an is-enabled site,
//! by a zeroed result) and describes the sites in a section of the program, which the loader passes to DTrace. The names, as `dtrace -h`
//! generates and the linker parses them: `___dtrace_probe$PROVIDER$PROBE$v1` and `$` with the hexadecimal text of the C type for each
//! argument, `___dtrace_isenabled$PROVIDER$PROBE$v1`, and, mentioned beside a site, `___dtrace_typedefs$PROVIDER$v2` (no typedefs) and
//! `___dtrace_stability$PROVIDER$v1$` with the provider's attributes (`#pragma D attributes`).
//!
//! Never run: this leaf is built and its object files are inspected. One limit is known from the kernel's source: on Apple's processors,
//! `fasttrap_usdt_getarg` returns 0, so scripts see five arguments, and zeros after them. On Intel processors they see all. The shipped
//! scripts read the others from registers (`c_call`), after comparing the first five, and print `?` if these differ.

/// The instruction that calls a function, and the register of its result.
#[cfg(target_arch = "x86_64")]
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_call {
    ($callee:expr) => {
        concat!("call ", $callee)
    };
    (result $callee:expr, $result:ident) => {
        ::core::arch::asm!(concat!("call ", $callee), out("rax") $result, options(att_syntax, nomem))
    };
}

/// The instruction that calls a function, and the register of its result.
#[cfg(target_arch = "aarch64")]
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_call {
    ($callee:expr) => {
        concat!("bl ", $callee)
    };
    (result $callee:expr, $result:ident) => {
        ::core::arch::asm!(concat!("bl ", $callee), out("x0") $result, options(nomem))
    };
}

/// Runs the block if the probe's word is not zero, or DTrace has enabled the probe.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_if_enabled {
    ($provider:literal, $probe:literal, $module:ident, $enabled:block) => {
        if $crate::__sdt_is_enabled!($provider, $probe)
            || $module::WORD.load(::core::sync::atomic::Ordering::Relaxed) != 0 $enabled
    };
}

/// Whether DTrace has enabled the probe: the result of an is-enabled site.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_is_enabled {
    ($provider:literal, $probe:literal) => {{
        let enabled: u64;
        // SAFETY: the linker replaces the call by one instruction that zeroes the result. DTrace sets it to 1 while the probe is enabled.
        unsafe { $crate::__sdt_call!(result concat!("___dtrace_isenabled$", $provider, "$", $probe, "$v1"), enabled) };
        enabled != 0
    }};
}

/// The probe's site.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_site {
    ([$attributes:literal] $provider:literal, $probe:literal $(, $(($kind:ident $name:ident $c:literal))*)?) => {
        // SAFETY: the linker replaces the call by a nop. A tracer restores all registers and only reads memory.
        unsafe {
            $crate::__sdt_check!($provider, $probe);
            $crate::__sdt_c_call!(
                [
                    concat!(".reference ___dtrace_typedefs$", $provider, "$v2"),
                    $crate::__sdt_call!(concat!(
                        "___dtrace_probe$", $provider, "$", $probe, "$v1" $($(, $crate::__sdt_hex!($kind $c))*)?
                    )),
                    concat!(".reference ___dtrace_stability$", $provider, "$v1$", $attributes),
                ]
                []
                $($(($kind $name $c))*)?
            )
        }
    };
}

/// `$` and the hexadecimal text of a C type; for other spellings, that of the type of the same width and sign.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_hex {
    (i32 "int8_t") => {
        "$696e74385f74"
    };
    (i32 "int16_t") => {
        "$696e7431365f74"
    };
    (i32 "int32_t") => {
        "$696e7433325f74"
    };
    (i32 $other:literal) => {
        "$696e74"
    };
    (u32 "uint8_t") => {
        "$75696e74385f74"
    };
    (u32 "uint16_t") => {
        "$75696e7431365f74"
    };
    (u32 $other:literal) => {
        "$75696e7433325f74"
    };
    (i64 $other:literal) => {
        "$696e7436345f74"
    };
    (u64 $other:literal) => {
        "$75696e7436345f74"
    };
    (str $other:literal) => {
        "$63686172202a"
    };
}

/// Runs the block if DTrace has enabled the probe.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_if_traced {
    ($provider:literal, $probe:literal, $traced:block) => {
        if $crate::__sdt_is_enabled!($provider, $probe) $traced
    };
}
