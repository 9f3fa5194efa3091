//! `--cfg dyntrace_without_probes`: arguments are type-checked and nothing is compiled.

/// Nothing: there is no word.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_declare {
    ($provider:literal, $probe:literal) => {};
}

/// Never runs the block, which is still type-checked.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_if_enabled {
    ($provider:literal, $probe:literal, $module:ident, $enabled:block) => {
        if false $enabled
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

/// Runs the block, which is never reached.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_if_traced {
    ($provider:literal, $probe:literal, $traced:block) => {
        $traced
    };
}
