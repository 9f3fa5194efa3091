//! Fires dyntrace's own probes at call sites that know the kinds of their arguments and that the probe is enabled. The probe's function
//! would find out both at every call.

/// Fires a probe of dyntrace's own: its name, its path, the clock's time if that was read, and the arguments with their kinds.
macro_rules! __sdt_fire_here {
    ($name:literal, $module:ident::$probe:ident, $time:expr, $(($kind:ident $argument:expr))*) => {{
        $crate::sdt::recorded::record_here!($module::$probe, $time, $(($kind $crate::sdt::here::fire_here!(as $kind $argument)))*);
        $crate::__sdt_if_traced!("dyntrace", $name, {
            $module::$probe::trace($($crate::sdt::here::fire_here!(as $kind $argument)),*)
        });
    }};
    (as str $text:expr) => {
        $crate::text::Text::from($text)
    };
    (as port $text:expr) => {
        $crate::text::Text::from($text)
    };
    (as process $text:expr) => {
        $crate::text::Text::from($text)
    };
    (as $number:ident $value:expr) => {
        $value
    };
}
pub(crate) use __sdt_fire_here as fire_here;
