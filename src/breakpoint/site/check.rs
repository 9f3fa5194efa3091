//! The check of its site's word by which a traced function begins.

/// Runs the block if the site's word is not zero: one compare, one jump that is not taken.
///
/// `nomem`: the check may be reordered, since a hit reads the word again.
#[cfg(all(target_os = "linux", target_arch = "x86_64", not(miri)))]
#[doc(hidden)]
#[macro_export]
macro_rules! __traced_if_set {
    ($site:path, $set:block) => {
        // SAFETY: reads a static word. The block uses the stack only after the assembly.
        unsafe {
            ::core::arch::asm!(
                "cmp qword ptr [rip + {site}], 0",
                "jne {set}",
                site = sym $site,
                set = label $set,
                options(nostack, nomem)
            )
        }
    };
}

/// Runs the block if the site's word is not zero: address, load, one branch that is not taken.
///
/// `nomem`: the check may be reordered, since a hit reads the word again.
#[cfg(all(target_os = "linux", target_arch = "aarch64", target_pointer_width = "64", not(miri)))]
#[doc(hidden)]
#[macro_export]
macro_rules! __traced_if_set {
    ($site:path, $set:block) => {
        // SAFETY: reads a static word.
        unsafe {
            ::core::arch::asm!(
                "adrp {word}, {site}",
                "ldr {word}, [{word}, :lo12:{site}]",
                "cbnz {word}, {set}",
                word = out(reg) _,
                site = sym $site,
                set = label $set,
                options(nostack, nomem, preserves_flags)
            )
        }
    };
}

/// Runs the block if the site's word is not zero.
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
#[doc(hidden)]
#[macro_export]
macro_rules! __traced_if_set {
    ($site:path, $set:block) => {
        if $site.is_set() $set
    };
}
