//! Fires dyntrace's own probes at call sites that know the kinds of their arguments and that the probe is enabled. The probe's function
//! would find out both at every call.

/// Fires a probe of dyntrace's own: its name, its path, the clock's time if that was read, and the arguments with their kinds.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_fire_here {
    ($name:literal, $module:ident::$probe:ident, $time:expr, $(($kind:ident $argument:expr))*) => {{
        $crate::sdt::recorded::record_here!($module::$probe, $time, $(($kind $crate::sdt::here::fire_here!(as $kind $argument)))*);
        $crate::sdt::here::fire_here!(trace $name, $module::$probe, $(($kind $argument))*);
    }};
    (trace $name:literal, $module:ident::$probe:ident, $(($kind:ident $argument:expr))*) => {
        $crate::__sdt_if_traced!("dyntrace", $name, {
            $module::$probe::trace($($crate::sdt::here::fire_here!(as $kind $argument)),*)
        });
    };
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
pub use crate::__sdt_fire_here as fire_here;

/// Fires two probes of dyntrace's own that have the same time: that, and for each probe its name, its path and the arguments with their
/// kinds. A recorder takes both as one firing, if it can.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_fire_both_here {
    (
        $time:expr,
        $name:literal, $module:ident::$probe:ident $(($kind:ident $argument:expr))*,
        $next_name:literal, $next_module:ident::$next:ident $(($next_kind:ident $next_argument:expr))* $(,)?
    ) => {{
        let time = $time;
        let is_recorded = $crate::sdt::recorded::record_both_here!(
            time,
            $module::$probe $(($kind $crate::sdt::here::fire_here!(as $kind $argument)))*,
            $next_module::$next $(($next_kind $crate::sdt::here::fire_here!(as $next_kind $next_argument)))*
        );
        if !is_recorded {
            $crate::sdt::recorded::record_here!($module::$probe, time, $(($kind $crate::sdt::here::fire_here!(as $kind $argument)))*);
            $crate::sdt::recorded::record_here!($next_module::$next, time, $(($next_kind $crate::sdt::here::fire_here!(as $next_kind $next_argument)))*);
        }
        $crate::sdt::here::fire_here!(trace $name, $module::$probe, $(($kind $argument))*);
        $crate::sdt::here::fire_here!(trace $next_name, $next_module::$next, $(($next_kind $next_argument))*);
    }};
}
pub use crate::__sdt_fire_both_here as fire_both_here;
