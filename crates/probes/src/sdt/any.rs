//! Runs code while one of several of dyntrace's own probes is enabled: on x86_64 as cheaply as if there were fewer of them.

/// Runs the block, which leaves the function, if one of three probes is enabled: each by its path and its name in the provider.
#[cfg(all(sdt_leaf = "linux_x86_64", not(dof)))]
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_if_any_enabled {
    ($(($module:ident::$probe:ident $name:literal)),*, $enabled:block) => {
        // SAFETY: reads the words that the same assembly defines, as `if_enabled!` does for one: a load, two instructions that add the
        // bits of the other words, and one jump that is not taken.
        unsafe { $crate::sdt::any::words_are_not_zero!([$($name),*] $enabled) }
    };
}

#[cfg(all(sdt_leaf = "linux_x86_64", not(dof)))]
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_words_are_not_zero {
    ([$first:literal, $second:literal, $third:literal] $enabled:block) => {
        ::core::arch::asm!(
            concat!(
                $crate::__sdt_word!("dyntrace", $first),
                $crate::__sdt_word!("dyntrace", $second),
                $crate::__sdt_word!("dyntrace", $third),
                "mov {words:e}, dword ptr [rip + ", $crate::__sdt_word_name!("dyntrace", $first), "]\n",
                "or {words:e}, dword ptr [rip + ", $crate::__sdt_word_name!("dyntrace", $second), "]\n",
                "or {words:e}, dword ptr [rip + ", $crate::__sdt_word_name!("dyntrace", $third), "]\n",
                "jne {enabled}",
            ),
            words = out(reg) _,
            enabled = label $enabled,
            options(nostack, nomem)
        )
    };
}
#[cfg(all(sdt_leaf = "linux_x86_64", not(dof)))]
pub use crate::__sdt_words_are_not_zero as words_are_not_zero;

/// Runs the block, which leaves the function, if one of the probes is enabled.
#[cfg(not(all(sdt_leaf = "linux_x86_64", not(dof))))]
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_if_any_enabled {
    ($(($module:ident::$probe:ident $name:literal)),*, $enabled:block) => {
        $(if $module::$probe::is_enabled() $enabled)*
    };
}
pub use crate::__sdt_if_any_enabled as if_any_enabled;
