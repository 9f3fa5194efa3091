//! The macros of the leaf with DOF only.

/// Runs the block if the probe's word is not zero, or DTrace has enabled the probe.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_if_enabled {
    ($provider:literal, $probe:literal, $module:ident, $enabled:block) => {{
        let enabled: u32;
        $crate::__sdt_dof_is_enabled!($provider, $probe, enabled);
        if enabled != 0 || $module::WORD.load(::core::sync::atomic::Ordering::Relaxed) != 0 $enabled
    }};
}

/// The probe's site.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_site {
    ($($what:tt)*) => {
        $crate::__sdt_dof_site!(["990: nop",] $($what)*)
    };
}

/// Runs the block if DTrace has enabled the probe.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_if_traced {
    ($provider:literal, $probe:literal, $traced:block) => {{
        let enabled: u32;
        $crate::__sdt_dof_is_enabled!($provider, $probe, enabled);
        if enabled != 0 $traced
    }};
}
