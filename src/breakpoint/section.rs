//! How the sites of a program are found: each lies in one section of the object file, whose ends the linker names.
//!
//! A function refers to its site, so that the linker keeps both or neither.

use super::site::Site;

/// The site of the function that it stands in. In a generic function there is one, too: a static knows nothing of the
/// function's parameters.
#[doc(hidden)]
#[macro_export]
macro_rules! __traced_site {
    ($site:ident, $name:literal, $line:literal, [$($argument:literal),*]) => {
        #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,dyntrace_traced"))]
        #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = "dyntrace_traced"))]
        static $site: $crate::__traced::Site = $crate::__traced::Site::new({
            const FUNCTION: &$crate::trace::Function = &$crate::trace::Function::new(
                ::core::concat!(::core::module_path!(), $name),
                ::core::file!(),
                $line,
                &[$($argument),*],
            );
            FUNCTION
        });
        // What serves other processes is linked because of this, so not where no function is traced.
        #[cfg(target_os = "linux")]
        const _: () = {
            #[used]
            #[unsafe(link_section = ".init_array")]
            static ENROL: extern "C" fn() = $crate::__traced::enrol;
        };
    };
}

/// All sites of this program or shared object.
#[cfg(not(any(loom, miri)))]
pub(super) fn sites() -> &'static [Site] {
    use std::hint::black_box;

    use super::site::Function;

    // So that the section exists where no function is traced. It has no name that a pattern could match.
    const NOTHING: &Function = &Function::new("", "", 0, &[]);
    #[used]
    #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,dyntrace_traced"))]
    #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = "dyntrace_traced"))]
    static NONE: Site = Site::new(NOTHING);

    unsafe extern "C" {
        #[cfg_attr(target_vendor = "apple", link_name = "\x01section$start$__DATA$dyntrace_traced")]
        #[cfg_attr(not(target_vendor = "apple"), link_name = "__start_dyntrace_traced")]
        static START: *const ();
        #[cfg_attr(target_vendor = "apple", link_name = "\x01section$end$__DATA$dyntrace_traced")]
        #[cfg_attr(not(target_vendor = "apple"), link_name = "__stop_dyntrace_traced")]
        static STOP: *const ();
    }
    black_box(&NONE);
    // SAFETY: the linker puts these symbols at the ends of the section, which holds sites and nothing else: each as large
    // as it is aligned, so that there is nothing between them.
    unsafe {
        let (start, stop) = ((&raw const START).cast::<Site>(), (&raw const STOP).cast::<Site>());
        std::slice::from_raw_parts(start, stop.offset_from_unsigned(start))
    }
}

/// Models have sites of their own, and miri no sections.
#[cfg(any(loom, miri))]
pub(super) fn sites() -> &'static [Site] {
    &[]
}
