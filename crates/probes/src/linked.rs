//! Linker sections: entries that any part of the object with this copy of the crate has added to a section.

/// Returns all entries of a section: `linked!("name": Entry = NONE)`. `NONE` is one of them, so that the section always exists.
#[doc(hidden)]
#[macro_export]
macro_rules! __linked {
    ($section:literal: $entry:ty = $none:expr) => {{
        #[used]
        #[cfg_attr(target_vendor = "apple", unsafe(link_section = concat!("__DATA,", $section)))]
        #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = $section))]
        static NONE: $entry = $none;

        unsafe extern "C" {
            #[cfg_attr(target_vendor = "apple", link_name = concat!("\x01section$start$__DATA$", $section))]
            #[cfg_attr(not(target_vendor = "apple"), link_name = concat!("__start_", $section))]
            static START: *const ();
            #[cfg_attr(target_vendor = "apple", link_name = concat!("\x01section$end$__DATA$", $section))]
            #[cfg_attr(not(target_vendor = "apple"), link_name = concat!("__stop_", $section))]
            static STOP: *const ();
        }
        const { assert!(size_of::<$entry>() == align_of::<$entry>(), "there is no padding between entries") }
        std::hint::black_box(&NONE);
        // SAFETY: the linker defines these symbols at the ends of the section, which contains only such entries.
        let entries: &'static [$entry] = unsafe {
            let (start, stop) = ((&raw const START).cast::<$entry>(), (&raw const STOP).cast::<$entry>());
            std::slice::from_raw_parts(start, stop.offset_from_unsigned(start))
        };
        entries
    }};
}
pub use crate::__linked as linked;
