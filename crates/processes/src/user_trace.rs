//! Events of your program: [`p!`](crate::p) and [`s1`].
//!
//! They need no provider file: each has up to four integers and four strings, whose meaning is up to you. For an event with a name
//! and arguments of its own, write a provider file ([`include_provider!`](crate::include_provider)).

use dyntrace_probes::arguments::Values;
use dyntrace_probes::sdt::Text;

use crate::{probes, process, tag};

#[doc(hidden)]
pub use dyntrace_probes::arguments::Arguments;

/// Fires `user_trace-i4s4` with the pid and the user tag of the current process: `p!(integers..., strings...)`.
///
/// It takes up to four integers, then up to four strings. Integers of any type up to 64 bits are passed as an `i64`: signed ones keep
/// their value, and a `u64` or `usize` above `i64::MAX` keeps its bits, so that a tracer that prints it as unsigned is right. A
/// string is anything that is [`Into<Text>`](crate::sdt::Text). Missing integers are 0, missing strings are null pointers.
///
/// The user tag is that of the process's operations, [`get_tag_data`](crate::get_tag_data): also one that another process has spread to
/// it, so that `--tag` selects an annotation with the operations beside it. (Erlang's `dyntrace:p` has the process's own tag only.)
///
/// The arguments are evaluated only while a tracer is attached. Nothing is allocated.
///
/// ```
/// let (user, items) = ("anna", vec![3, 5]);
/// dyntrace::p!(items.len(), "basket");
/// dyntrace::p!(1, 2u8, -3i64, "sold", user, &format!("{items:?}"));
/// dyntrace::p!("hello");
/// ```
///
/// An argument in the wrong place is a compiler error:
///
/// ```compile_fail,E0277
/// dyntrace::p!("a string", 1);
/// ```
///
/// ```compile_fail,E0277
/// dyntrace::p!(1, 2, 3, 4, 5);
/// ```
#[macro_export]
macro_rules! p {
    ($($argument:expr),* $(,)?) => {
        if $crate::probes::user_trace::i4s4::is_enabled() {
            $crate::user_trace::fire($crate::user_trace::Arguments::none()$(.and($argument))*.values())
        }
    };
}

/// Fires `user_trace-s1` with `message`.
///
/// ```
/// dyntrace::user_trace::s1("the cache is warm");
/// ```
#[inline(always)]
pub fn s1<'a>(message: impl Into<Text<'a>>) {
    probes::user_trace::s1(|| message);
}

/// Support for [`p!`](crate::p).
#[cold]
#[doc(hidden)]
pub fn fire(values: Values<'_>) {
    let Values { integers: [i1, i2, i3, i4], strings: [s1, s2, s3, s4] } = values;
    let tag = tag::get_tag_data();
    probes::user_trace::i4s4(|| (process::current(), tag.as_ref(), i1, i2, i3, i4, s1, s2, s3, s4));
}
