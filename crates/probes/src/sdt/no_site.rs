//! Leaves without sites.

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
