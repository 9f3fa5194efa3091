//! The macros of a leaf where DOF is all there is.

/// The sites say all.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_declare {
    ($provider:literal, $probe:literal) => {};
}

/// Runs the block if the probe is enabled.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_if_enabled {
    ($provider:literal, $probe:literal, $module:ident, $enabled:block) => {{
        let enabled: u32;
        $crate::__sdt_dof_is_enabled!($provider, $probe, enabled);
        if enabled != 0 $enabled
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

/// Runs the block: whoever came here is traced.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_if_traced {
    ($provider:literal, $probe:literal, $traced:block) => {
        $traced
    };
}
