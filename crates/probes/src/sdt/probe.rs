//! A probe whole, as generated code declares it.

/// Declares a probe: the function of its name, which checks whether the probe is enabled, and a module of the same name, which fires it.
///
/// The attributes of the provider, its name, the probe's name in assembly and that which tools show; the function with its closure, to
/// which errors point; the arguments, each with its type, the recorder's form and the name, the form in a note and the type in D, for a
/// text the name of a buffer, and its meaning. The function's documentation ends with a table of the arguments.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_probe {
    (
        $(#[$documentation:meta])*
        $([$attributes:literal])? $provider:literal $name:literal $shown:literal
        $probe:ident $(<$life:lifetime, $($text:ident),+>)? ($arguments:ident: $closure:ty)
        $(($argument:ident: $ty:ident, $form:ident $argument_name:tt, $kind:ident $c:tt $(, $buffer:ident)?; $meaning:literal))*
    ) => {
        $(#[$documentation])*
        #[doc = ""]
        #[doc = concat!("The probe `", $shown, "` of the provider `", $provider, "`.")]
        #[doc = $crate::__sdt_argument!(table $(($argument_name $kind $ty $c $meaning))*)]
        #[inline(always)]
        #[allow(dead_code, named_asm_labels, non_snake_case, clippy::type_complexity)]
        pub fn $probe$(<$life, $($text),+>)?($arguments: $closure)
        $(where $($text: Into<$crate::sdt::Text<$life>>),+)?
        {
            $crate::sdt::if_enabled!($provider, $name, $probe, {
                $crate::sdt::return_if_discarded!($probe);
                let ($($argument),*) = $arguments();
                $probe::fire($($crate::__sdt_argument!(pass $kind $argument)),*);
            });
        }

        #[doc = concat!("Whether `", $shown, "` is traced, and its firing.")]
        #[allow(non_snake_case, clippy::module_inception)]
        pub mod $probe {
            $crate::sdt::declare!($provider, $name);
            $crate::sdt::describe!($provider, $name $(, ($form $argument_name))*);

            #[doc = concat!("Whether a tracer looks at `", $shown, "` now.")]
            #[inline(always)]
            #[must_use]
            #[allow(dead_code, named_asm_labels)]
            pub fn is_enabled() -> bool {
                $crate::sdt::if_enabled!($provider, $name, self, { return true });
                false
            }

            $crate::sdt::discard!($provider, $name);

            /// Passes a firing to the recorder and to tracers.
            #[cold]
            #[inline(never)]
            #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
            pub(super) fn fire($($argument: $crate::__sdt_argument!(type $kind $ty)),*) {
                $($(let mut $buffer = $crate::sdt::Buffer::new();)?)*
                $crate::sdt::record!($(($form $argument $($buffer)?)),*);
                $crate::sdt::if_traced!($provider, $name, {
                    self::trace($($argument),*);
                });
            }

            // The site, and nothing that makes the compiler duplicate it. Other crates of the workspace fire probes of `dyntrace` in place.
            #[doc(hidden)]
            #[cold]
            #[inline(never)]
            #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
            pub fn trace($($argument: $crate::__sdt_argument!(type $kind $ty)),*) {
                $($(
                    let mut $buffer = $crate::sdt::Buffer::new();
                    let $argument = $buffer.encode($argument);
                )?)*
                $crate::sdt::site!($([$attributes])? $provider, $name, $(($kind $argument $c))*);
            }
        }
    };
}

/// An argument: as its function passes it on, and its type there; and in the documentation, the table of all and the type.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_argument {
    (pass str $argument:ident) => {
        $argument.into()
    };
    (pass $kind:ident $argument:ident) => {
        $argument
    };
    (type str $ty:ident) => {
        $crate::sdt::Text<'_>
    };
    (type $kind:ident $ty:ident) => {
        $ty
    };
    (table) => {
        "`arguments` is called while a tracer looks at it, only then."
    };
    (table $(($name:tt $kind:ident $ty:ident $c:tt $meaning:literal))+) => {
        concat!(
            "`arguments` makes these values while a tracer looks at it, only then:\n\n",
            "| argument | in D | in Rust | meaning |\n|---|---|---|---|\n",
            $("| `", $name, "` | `", $c, "` | `", $crate::__sdt_argument!(shown $kind $ty), "` | ", $meaning, " |\n"),+
        )
    };
    (shown str $ty:ident) => {
        "Into<Text>"
    };
    (shown $kind:ident $ty:ident) => {
        stringify!($ty)
    };
}
