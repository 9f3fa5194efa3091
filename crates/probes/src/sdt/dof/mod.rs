//! FreeBSD, illumos, Solaris and NetBSD, and Linux with the feature `dof`: the program describes its own probes to DTrace, in
//! DTrace's object format (DOF).
//!
//! Each site has a record in a section of the object file, with the site's address and description. The linker joins the records of a
//! program or shared object into one table (`section`). At start, [`register`](crate::sdt::register()) generates DOF from it (`object`) and
//! passes that through the helper device (`device`) to the kernel, on Linux to `dtprobed`.
//!
//! A site is a nop with the arguments in place (`c_call`). An is-enabled site differs by system:
//!
//! * illumos, FreeBSD: `xor eax, eax`, on which the kernel's fasttrap provider, while the probe is enabled, puts 1 into the
//!   register instead (`fasttrap_pid_probe` in each `fasttrap_isa.c`).
//! * DTrace 2 on Linux: a nop with the address of a 32-bit variable in rdi, into which DTrace writes 1
//!   (`trampoline_is_enabled` in `dt_prov_uprobe.c`). DOF of version 3 marks this kind; is-enabled sites of older versions are ignored
//!   (`emit_provider` in `dof_parser.c`). The other systems accept only versions 1 and 2 (`dtrace_dof_slurp`).
//!
//! All are recognised by their address alone. x86_64 only, like the provider in these systems' kernels. NetBSD's kernel accepts DOF but has
//! no fasttrap provider, so nothing can be traced there yet.
//!
//! `ci/dof` runs it under DTrace 2 in a guest. On the other systems it has never run: it is built for each of them, and its object files
//! are inspected.

#[cfg(all(dof, sdt_leaf = "linux_x86_64"))]
mod beside;
mod device;
#[cfg(sdt_leaf = "dof")]
mod leaf;
mod object;
mod register;
pub mod section;
#[cfg(test)]
mod tests;

pub use register::{deregister, register};

/// Fills `$enabled` from an is-enabled site.
#[cfg(target_os = "linux")]
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_dof_is_enabled {
    ($provider:literal, $probe:literal, $enabled:ident) => {
        $enabled = $crate::__sdt_dof_is_enabled_in_memory!($provider, $probe)
    };
}

/// Fills `$enabled` from an is-enabled site.
#[cfg(not(target_os = "linux"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_dof_is_enabled {
    ($provider:literal, $probe:literal, $enabled:ident) => {
        $enabled = $crate::__sdt_dof_is_enabled_in_register!($provider, $probe)
    };
}

/// An is-enabled site for DTrace 2.
#[cfg(target_os = "linux")]
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_dof_is_enabled_in_memory {
    ($provider:literal, $probe:literal) => {{
        let mut enabled = 0u32;
        $crate::__sdt_dof_static!($provider, $probe, None, "");
        // SAFETY: a nop, and its record in the section that `section` reads, of the expected layout. DTrace writes 1 to the variable while
        // the probe is enabled.
        unsafe {
            ::core::arch::asm!(
                "990: nop",
                $crate::__sdt_dof_record!("8"),
                site = sym SITE,
                in("rdi") &raw mut enabled,
            )
        }
        enabled
    }};
}

/// An is-enabled site for the kernels of illumos and FreeBSD.
#[cfg(any(test, not(target_os = "linux")))]
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_dof_is_enabled_in_register {
    ($provider:literal, $probe:literal) => {{
        let enabled: u32;
        $crate::__sdt_dof_static!($provider, $probe, None, "");
        // SAFETY: one instruction that zeroes the register, and its record in the section that `section` reads, of the expected layout.
        // DTrace sets the register to 1 while the probe is enabled.
        unsafe {
            ::core::arch::asm!(
                "990: xor eax, eax",
                $crate::__sdt_dof_record!("8"),
                site = sym SITE,
                out("eax") enabled,
                options(nomem)
            )
        }
        enabled
    }};
}

/// A site with the arguments in place, of the given assembly, which has the local label 990 at its nop.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_dof_site {
    ([$($lines:expr,)*] [$attributes:literal] $provider:literal, $probe:literal $(, $(($kind:ident $name:ident $c:literal))*)?) => {{
        $crate::__sdt_dof_static!($provider, $probe, Some(&[$($($c),*)?]), $attributes);
        // SAFETY: a nop, and its record in the section that `section` reads, of the expected layout. A tracer restores all registers and
        // only reads memory.
        unsafe {
            $crate::__sdt_c_call!(
                [$($lines,)* $crate::__sdt_dof_record!("1024"),] [site = sym SITE,] $($(($kind $name $c))*)?
            )
        }
    }};
}

/// `SITE`: the description of the site.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_dof_static {
    ($provider:literal, $probe:literal, $arguments:expr, $attributes:literal) => {
        static SITE: $crate::sdt::dof::section::Probe = $crate::sdt::dof::section::Probe {
            provider: $provider,
            name: $probe,
            function: module_path!(),
            arguments: $arguments,
            attributes: $attributes,
        };
    };
}

/// Assembly of the record of the site at local label 990: a `section::Site`, and `$room` bytes for its part of the DOF. `R` protects them
/// from garbage collection.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_dof_record {
    ($room:literal) => {
        concat!(
            ".pushsection dyntrace_sites, \"awR\", @progbits\n",
            ".balign 8\n",
            ".8byte 990b, {site}\n",
            ".popsection\n",
            ".pushsection dyntrace_dof, \"awR\", @progbits\n",
            ".zero ",
            $room,
            "\n",
            ".popsection",
        )
    };
}
