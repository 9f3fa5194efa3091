//! What the linker has put together: a section of the object file that this copy of the crate is in, to which any part of the object
//! may have added entries.

/// All entries of a section: `linked!("name": Entry = NONE)`. `NONE` is one of them, so that the section exists where there are no others.
macro_rules! linked {
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
        const { assert!(size_of::<$entry>() == align_of::<$entry>(), "there is nothing between entries") }
        std::hint::black_box(&NONE);
        // SAFETY: the linker puts these symbols at the ends of the section, which holds such entries and nothing else.
        let entries: &'static [$entry] = unsafe {
            let (start, stop) = ((&raw const START).cast::<$entry>(), (&raw const STOP).cast::<$entry>());
            std::slice::from_raw_parts(start, stop.offset_from_unsigned(start))
        };
        entries
    }};
}
pub(crate) use linked;
