//! The expansion of the attribute `traced` for one function: its site, and the constructor that makes the object's sites known.

/// Declares the site of the enclosing function. A generic function has one for all its instances: statics do not depend on type parameters.
#[doc(hidden)]
#[macro_export]
macro_rules! __traced_site {
    ($site:ident, $name:expr, $line:literal, [$($argument:literal),*]) => {
        #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,dyntrace_traced"))]
        #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = "dyntrace_traced"))]
        static $site: $crate::__traced::Site = $crate::__traced::Site::new({
            const FUNCTION: &$crate::trace::Function = &$crate::trace::Function::new(
                $name,
                ::core::file!(),
                $line,
                &[$($argument),*],
            );
            FUNCTION
        });
        // Links the server for other processes, so only into programs with traced functions.
        #[cfg(all(target_os = "linux", not(miri)))]
        const _: () = {
            unsafe extern "C" {
                #[link_name = "__start_dyntrace_traced"]
                static START: u8;
                #[link_name = "__stop_dyntrace_traced"]
                static STOP: u8;
                #[link_name = "__dso_handle"]
                static OBJECT: u8;
            }
            extern "C" fn enrol() {
                $crate::__traced::enrol([&raw const START, &raw const STOP, &raw const OBJECT]);
            }
            #[used]
            #[unsafe(link_section = ".init_array")]
            static ENROL: extern "C" fn() = enrol;
        };
    };
}
