//! A firing at a place that is known to be entered where somebody looks, and that knows what its arguments are: it spares what the
//! function of the probe has to find out.

/// Fires a probe of dyntrace's own; when it happened, if the clock was read then; and its arguments, each with what it is.
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
    (as $number:ident $value:expr) => {
        $value
    };
}
pub(crate) use __sdt_fire_here as fire_here;
