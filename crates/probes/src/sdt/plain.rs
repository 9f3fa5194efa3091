//! Platforms without tracers: the word (`word`), and no site. Also the leaf under loom and miri, where tests set the word.

/// Runs the block if the probe's word is not zero.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_if_enabled {
    ($provider:literal, $probe:literal, $module:ident, $enabled:block) => {
        if $module::WORD.load(::core::sync::atomic::Ordering::Relaxed) != 0 $enabled
    };
}

/// Nothing: there is no site.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_site {
    ($provider:literal, $probe:literal $(, $(($kind:ident $name:ident $c:literal))*)?) => {
        $($(let _ = $name;)*)?
    };
}

/// Runs the block: it holds no site.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_if_traced {
    ($provider:literal, $probe:literal, $traced:block) => {
        $traced
    };
}
