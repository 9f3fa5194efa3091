//! With the recorder: probes have descriptors, and fire into rings, too.

/// The probe's descriptor, and a pointer to it in the section that the recorder reads.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_describe {
    ($provider:literal, $probe:literal $(, ($kind:ident $name:literal))*) => {
        #[doc(hidden)]
        #[allow(named_asm_labels)]
        pub static __DESCRIPTOR: $crate::rings::Descriptor = $crate::rings::Descriptor::new(
            $provider,
            $probe,
            &[$($crate::rings::Argument { name: $name, kind: $crate::__sdt_kind!($kind) }),*],
            || __word(),
        );

        /// The probe's word, in this program or shared object.
        #[doc(hidden)]
        #[inline(always)]
        #[allow(named_asm_labels)]
        pub fn __word() -> &'static ::core::sync::atomic::AtomicU32 {
            let word = $crate::__sdt_word_at!($provider, $probe);
            // SAFETY: a static of 4 aligned bytes, which changes behind shared references only.
            unsafe { &*word }
        }

        #[doc(hidden)]
        #[used]
        #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,dyntrace_probes"))]
        #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = "dyntrace_probes"))]
        pub static __ENTRY: $crate::rings::ProbeEntry = $crate::rings::ProbeEntry::new(&__DESCRIPTOR);
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_kind {
    (i32) => {
        $crate::rings::RecordedKind::I32
    };
    (u32) => {
        $crate::rings::RecordedKind::U32
    };
    (i64) => {
        $crate::rings::RecordedKind::I64
    };
    (u64) => {
        $crate::rings::RecordedKind::U64
    };
    (count) => {
        $crate::rings::RecordedKind::Count
    };
    (small) => {
        $crate::rings::RecordedKind::Small
    };
    (str) => {
        $crate::rings::RecordedKind::Text
    };
    (port) => {
        $crate::rings::RecordedKind::Port
    };
    (process) => {
        $crate::rings::RecordedKind::Process
    };
}

/// Returns from the calling function if nothing but full rings would get the firing: then its arguments are not made.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_return_if_discarded {
    ($module:ident) => {
        if $crate::rings::is_a_ring_at_end() && $module::discard() {
            return;
        }
    };
}

/// Counts the firing as discarded, and returns `true`, if no tracer looks at it and all rings that would get it are at their end.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_discard {
    ($provider:literal, $probe:literal) => {
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels)]
        pub(super) fn discard() -> bool {
            $crate::sdt::if_traced!($provider, $probe, { return false });
            #[allow(unreachable_code)] // where `if_traced` cannot tell
            __DESCRIPTOR.discard()
        }
    };
}

/// Records the firing in each session that records the probe. If none does, the word may hold a request for the control socket.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_record {
    ($($argument:tt),* $(,)?) => {
        $crate::__sdt_keep!(__ENTRY);
        if __DESCRIPTOR.sessions() != 0 {
            // SAFETY: recorded at once: the encoding of arguments fires no probe.
            if let Some(firing) = unsafe { __DESCRIPTOR.firing() } {
                firing.record(($($crate::__sdt_recorded!($argument),)*));
            }
        } else {
            __DESCRIPTOR.unrecorded();
        }
    };
}

/// The same at a call site that knows the kinds of its texts, and perhaps the time.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_record_here {
    ($module:ident::$probe:ident, $time:expr, $(($kind:ident $argument:expr))*) => {
        $crate::__sdt_keep!($module::$probe::__ENTRY);
        let probe = &$module::$probe::__DESCRIPTOR;
        if probe.sessions() != 0 {
            probe.record_here($time, ($($crate::sdt::recorded::recorded_here!($kind $argument),)*));
        } else {
            probe.unrecorded();
        }
    };
}
pub use crate::__sdt_record_here as record_here;

/// Records firings of two probes at the same time, and returns `true`, if one session alone records both and they are common.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_record_both_here {
    (
        $time:expr, $module:ident::$probe:ident $(($kind:ident $argument:expr))*,
        $next_module:ident::$next:ident $(($next_kind:ident $next_argument:expr))*
    ) => {
        $module::$probe::__DESCRIPTOR.record_both_here(
            $time,
            ($($crate::sdt::recorded::recorded_here!($kind $argument),)*),
            &$next_module::$next::__DESCRIPTOR,
            ($($crate::sdt::recorded::recorded_here!($next_kind $next_argument),)*),
        )
    };
}
pub use crate::__sdt_record_both_here as record_both_here;

/// A value, as the recorder takes it. A text may be in a buffer that lasts until the end of the statement.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_recorded_here {
    (str $text:expr) => {
        $crate::text::Buffer::new().recorded($text)
    };
    (port $text:expr) => {
        $crate::text::Buffer::new().port($text)
    };
    (process $text:expr) => {
        $crate::text::Buffer::new().process($text)
    };
    (count $number:expr) => {
        $crate::rings::Count($number)
    };
    (small $number:expr) => {
        $crate::rings::Small($number)
    };
    ($kind:ident $number:expr) => {
        $number
    };
}
pub use crate::__sdt_recorded_here as recorded_here;

/// The time of the clock, if a session records one of the probes.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_time_if_recorded {
    ($($module:ident::$probe:ident),*) => {
        // Acquired: a thread that sees a session sees the choice of the clock.
        [$($module::$probe::__DESCRIPTOR.sessions_acquired()),*].iter().any(|sessions| *sessions != 0).then($crate::clock::now)
    };
}
pub use crate::__sdt_time_if_recorded as time_if_recorded;

/// The sessions that look at a probe.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_sessions {
    ($module:ident::$probe:ident) => {
        $module::$probe::__DESCRIPTOR.sessions()
    };
}
pub use crate::__sdt_sessions as sessions;

/// Whether a probe's word is not zero for the table of tasks alone: nobody looks at the probe.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_is_only_kept {
    ($module:ident::$probe:ident) => {
        $crate::rings::Descriptor::is_only_kept($module::$probe::__word())
    };
}
pub use crate::__sdt_is_only_kept as is_only_kept;

/// Opens the control socket if another process asks for it by the word of this probe, one of dyntrace's own, which is enabled.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_open_control_if_requested {
    ($module:ident::$probe:ident) => {
        $module::$probe::__DESCRIPTOR.answer_if_requested()
    };
}
pub use crate::__sdt_open_control_if_requested as open_control_if_requested;

/// Keeps the linker from dropping the probe's entry.
#[cfg(target_vendor = "apple")]
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_keep {
    ($entry:path) => {
        // SAFETY: no instruction: a reference from the code of the probe to its entry.
        unsafe { ::core::arch::asm!(".reference {}", sym $entry, options(nomem, nostack, preserves_flags)) }
    };
}

/// Keeps the linker from dropping the probe's entry.
#[cfg(not(target_vendor = "apple"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_keep {
    ($entry:path) => {
        // SAFETY: no instruction: a reference from the code of the probe to its entry.
        unsafe {
            ::core::arch::asm!(
                ".reloc ., BFD_RELOC_NONE, {}",
                sym $entry,
                options(nomem, nostack, preserves_flags)
            )
        }
    };
}

/// A value, as the recorder takes it.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_recorded {
    ((str $name:ident $buffer:ident)) => {
        $buffer.bytes_of_any($name)
    };
    ((port $name:ident $buffer:ident)) => {
        $buffer.port($name)
    };
    ((process $name:ident $buffer:ident)) => {
        $buffer.process($name)
    };
    ((count $name:ident)) => {
        $crate::rings::Count($name)
    };
    ((small $name:ident)) => {
        $crate::rings::Small($name)
    };
    (($kind:ident $name:ident $($buffer:ident)?)) => {
        $name
    };
}
