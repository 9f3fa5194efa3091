//! FreeBSD, illumos, Solaris and NetBSD: the program describes its own probes to DTrace, in DTrace's object format (DOF).
//!
//! Each site has a record beside it, in a section of the object file, that holds the site's address and what it is. The
//! linker joins the records of a program or shared object into one table (`section`); [`register`] makes DOF of
//! it (`object`) and hands that to the kernel through the helper device (`device`).
//!
//! A site is a nop with the arguments in place (`c_call`); an is-enabled site is `xor eax, eax`, on which the kernel's
//! fasttrap provider, while the probe is enabled, puts 1 into the register instead. Both are recognised by their address
//! alone. x86_64 only, as is the provider of these systems' kernels. NetBSD's kernel, as its source stands, takes DOF
//! but has no fasttrap provider, so that nothing can be traced there yet.
//!
//! Never run: this leaf is built for each of these systems and its object files are inspected. Its records and its DOF
//! are tested on Linux.

#[cfg(sdt_leaf = "dof")]
mod device;
#[cfg(sdt_leaf = "dof")]
mod leaf;
mod object;
#[cfg(sdt_leaf = "dof")]
mod register;
pub mod section;
#[cfg(test)]
mod tests;

#[cfg(sdt_leaf = "dof")]
pub use register::{deregister, register};

/// Fills `$enabled` from an is-enabled site.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_dof_is_enabled {
    ($provider:literal, $probe:literal, $enabled:ident) => {{
        static SITE: $crate::sdt::dof::section::Probe = $crate::sdt::dof::section::Probe {
            provider: $provider,
            name: $probe,
            function: module_path!(),
            arguments: None,
        };
        // SAFETY: one instruction that zeroes the register, and a record of it in the section that `section` reads, of the
        // shape that it expects. DTrace, if asked, sets the register to 1.
        unsafe {
            ::core::arch::asm!(
                "990: xor eax, eax",
                $crate::__sdt_dof_record!(),
                site = sym SITE,
                out("eax") $enabled,
                options(nomem)
            )
        }
    }};
}

/// A nop with the arguments in place.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_dof_site {
    ($provider:literal, $probe:literal $(, $(($kind:ident $name:ident $c:literal))*)?) => {{
        static SITE: $crate::sdt::dof::section::Probe = $crate::sdt::dof::section::Probe {
            provider: $provider,
            name: $probe,
            function: module_path!(),
            arguments: Some(&[$($($c),*)?]),
        };
        // SAFETY: a nop, and a record of it in the section that `section` reads, of the shape that it expects. A tracer
        // restores all registers and only reads memory.
        unsafe {
            $crate::__sdt_c_call!(
                ["990: nop", $crate::__sdt_dof_record!(),] [site = sym SITE,] $($(($kind $name $c))*)?
            )
        }
    }};
}

/// Assembly of the record of the site at local label 990: a `section::Site`. `R` keeps it through garbage collection.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_dof_record {
    () => {
        concat!(
            ".pushsection dyntrace_sites, \"awR\", @progbits\n",
            ".balign 8\n",
            ".8byte 990b, {site}\n",
            ".popsection",
        )
    };
}
