// Made of the provider definition `odd` by dyntrace-build; changes belong there.

/// The probes `names-*` of the provider `odd`.
pub mod names {
    use super::__sdt;

    /// The probe `names-self` of the provider `odd`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `self` | `char *` | `Into<Text>` |  |
    /// | `self_buffer` | `char *` | `Into<Text>` |  |
    /// | `into` | `char *` | `Into<Text>` |  |
    /// | `fn_once` | `char *` | `Into<Text>` |  |
    /// | `arguments` | `int` | `i32` |  |
    /// | `fire` | `int` | `i32` |  |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn self_<'a, Self_, SelfBuffer, Into_, FnOnce_>(
        arguments: impl FnOnce() -> (Self_, SelfBuffer, Into_, FnOnce_, i32, i32),
    ) where
        Self_: Into<__sdt::Text<'a>>,
        SelfBuffer: Into<__sdt::Text<'a>>,
        Into_: Into<__sdt::Text<'a>>,
        FnOnce_: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("odd", "names__self", self_, {
            __sdt::return_if_discarded!(self_);
            let (self_, self_buffer, into, fn_once, arguments, fire) = arguments();
            self_::fire(
                self_.into(),
                self_buffer.into(),
                into.into(),
                fn_once.into(),
                arguments,
                fire,
            );
        });
    }

    /// Whether `names-self` is traced, and its firing.
    pub mod self_ {
        use super::__sdt;

        __sdt::declare!("odd", "names__self");
        __sdt::describe!(
            "odd", "names__self", (str "self"), (str "self_buffer"), (str "into"), (str "fn_once"), (i32 "arguments"), (i32 "fire")
        );

        /// Whether a tracer looks at `names-self` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("odd", "names__self", self, { return true });
            false
        }

        __sdt::discard!("odd", "names__self");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(
            self_: __sdt::Text<'_>,
            self_buffer: __sdt::Text<'_>,
            into: __sdt::Text<'_>,
            fn_once: __sdt::Text<'_>,
            arguments: i32,
            fire: i32,
        ) {
            let mut self_buffer_ = __sdt::Buffer::new();
            let mut self_buffer_buffer = __sdt::Buffer::new();
            let mut into_buffer = __sdt::Buffer::new();
            let mut fn_once_buffer = __sdt::Buffer::new();
            __sdt::record!(
                (str self_ self_buffer_),
                (str self_buffer self_buffer_buffer),
                (str into into_buffer),
                (str fn_once fn_once_buffer),
                (i32 arguments),
                (i32 fire),
            );
            __sdt::if_traced!("odd", "names__self", {
                self::trace(self_, self_buffer, into, fn_once, arguments, fire);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(
            self_: __sdt::Text<'_>,
            self_buffer: __sdt::Text<'_>,
            into: __sdt::Text<'_>,
            fn_once: __sdt::Text<'_>,
            arguments: i32,
            fire: i32,
        ) {
            let mut self_buffer_ = __sdt::Buffer::new();
            let self_ = self_buffer_.encode(self_);
            let mut self_buffer_buffer = __sdt::Buffer::new();
            let self_buffer = self_buffer_buffer.encode(self_buffer);
            let mut into_buffer = __sdt::Buffer::new();
            let into = into_buffer.encode(into);
            let mut fn_once_buffer = __sdt::Buffer::new();
            let fn_once = fn_once_buffer.encode(fn_once);
            __sdt::site!(
                "odd",
                "names__self",
                (str self_ "char *")
                (str self_buffer "char *")
                (str into "char *")
                (str fn_once "char *")
                (i32 arguments "int")
                (i32 fire "int")
            );
        }
    }

    /// The probe `names-type` of the provider `odd`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `s1` | `char *` | `Into<Text>` |  |
    /// | `s_1` | `char *` | `Into<Text>` |  |
    /// | `__s1` | `char *` | `Into<Text>` |  |
    /// | `return` | `int` | `i32` |  |
    /// | `arg4` | `int` | `i32` |  |
    /// | `arg5` | `int` | `i32` |  |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn r#type<'a, S1, S1_, S1__>(
        arguments: impl FnOnce() -> (S1, S1_, S1__, i32, i32, i32),
    ) where
        S1: Into<__sdt::Text<'a>>,
        S1_: Into<__sdt::Text<'a>>,
        S1__: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("odd", "names__type", r#type, {
            __sdt::return_if_discarded!(r#type);
            let (s1, s_1, __s1, r#return, arg4, arg5) = arguments();
            r#type::fire(s1.into(), s_1.into(), __s1.into(), r#return, arg4, arg5);
        });
    }

    /// Whether `names-type` is traced, and its firing.
    pub mod r#type {
        use super::__sdt;

        __sdt::declare!("odd", "names__type");
        __sdt::describe!(
            "odd", "names__type", (str "s1"), (str "s_1"), (str "__s1"), (i32 "return"), (i32 "arg4"), (i32 "arg5")
        );

        /// Whether a tracer looks at `names-type` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("odd", "names__type", self, { return true });
            false
        }

        __sdt::discard!("odd", "names__type");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(
            s1: __sdt::Text<'_>,
            s_1: __sdt::Text<'_>,
            __s1: __sdt::Text<'_>,
            r#return: i32,
            arg4: i32,
            arg5: i32,
        ) {
            let mut s1_buffer = __sdt::Buffer::new();
            let mut s_1_buffer = __sdt::Buffer::new();
            let mut __s1_buffer = __sdt::Buffer::new();
            __sdt::record!(
                (str s1 s1_buffer),
                (str s_1 s_1_buffer),
                (str __s1 __s1_buffer),
                (i32 r#return),
                (i32 arg4),
                (i32 arg5),
            );
            __sdt::if_traced!("odd", "names__type", {
                self::trace(s1, s_1, __s1, r#return, arg4, arg5);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(
            s1: __sdt::Text<'_>,
            s_1: __sdt::Text<'_>,
            __s1: __sdt::Text<'_>,
            r#return: i32,
            arg4: i32,
            arg5: i32,
        ) {
            let mut s1_buffer = __sdt::Buffer::new();
            let s1 = s1_buffer.encode(s1);
            let mut s_1_buffer = __sdt::Buffer::new();
            let s_1 = s_1_buffer.encode(s_1);
            let mut __s1_buffer = __sdt::Buffer::new();
            let __s1 = __s1_buffer.encode(__s1);
            __sdt::site!(
                "odd",
                "names__type",
                (str s1 "char *")
                (str s_1 "char *")
                (str __s1 "char *")
                (i32 r#return "int")
                (i32 arg4 "int")
                (i32 arg5 "int")
            );
        }
    }

    /// The probe `names-names` of the provider `odd`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `names` | `int` | `i32` |  |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn names(arguments: impl FnOnce() -> i32) {
        __sdt::if_enabled!("odd", "names__names", names, {
            __sdt::return_if_discarded!(names);
            let names = arguments();
            names::fire(names);
        });
    }

    /// Whether `names-names` is traced, and its firing.
    #[allow(clippy::module_inception)]
    pub mod names {
        use super::__sdt;

        __sdt::declare!("odd", "names__names");
        __sdt::describe!(
            "odd", "names__names", (i32 "names")
        );

        /// Whether a tracer looks at `names-names` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("odd", "names__names", self, { return true });
            false
        }

        __sdt::discard!("odd", "names__names");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(names: i32) {
            __sdt::record!((i32 names));
            __sdt::if_traced!("odd", "names__names", {
                self::trace(names);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(names: i32) {
            __sdt::site!(
                "odd",
                "names__names",
                (i32 names "int")
            );
        }
    }
}

/// The probes `Upper-*` of the provider `odd`.
#[allow(non_snake_case)]
pub mod Upper {
    use super::__sdt;

    /// The probe `Upper-Case` of the provider `odd`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `Name` | `const char *` | `Into<Text>` |  |
    /// | `Octet` | `unsigned char` | `u32` |  |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity, non_snake_case)]
    pub fn Case<'a, Name>(
        arguments: impl FnOnce() -> (Name, u32),
    ) where
        Name: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("odd", "Upper__Case", Case, {
            __sdt::return_if_discarded!(Case);
            let (Name, Octet) = arguments();
            Case::fire(Name.into(), Octet);
        });
    }

    /// Whether `Upper-Case` is traced, and its firing.
    #[allow(non_snake_case)]
    pub mod Case {
        use super::__sdt;

        __sdt::declare!("odd", "Upper__Case");
        __sdt::describe!(
            "odd", "Upper__Case", (str "Name"), (u32 "Octet")
        );

        /// Whether a tracer looks at `Upper-Case` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("odd", "Upper__Case", self, { return true });
            false
        }

        __sdt::discard!("odd", "Upper__Case");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments, non_snake_case)]
        pub(super) fn fire(Name: __sdt::Text<'_>, Octet: u32) {
            let mut Name_buffer = __sdt::Buffer::new();
            __sdt::record!((str Name Name_buffer), (u32 Octet));
            __sdt::if_traced!("odd", "Upper__Case", {
                self::trace(Name, Octet);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments, non_snake_case)]
        pub fn trace(Name: __sdt::Text<'_>, Octet: u32) {
            let mut Name_buffer = __sdt::Buffer::new();
            let Name = Name_buffer.encode(Name);
            __sdt::site!(
                "odd",
                "Upper__Case",
                (str Name "const char *")
                (u32 Octet "unsigned char")
            );
        }
    }
}

/// The probe `fire` of the provider `odd`.
/// `arguments` makes these values while a tracer looks at it, only then:
///
/// | argument | in D | in Rust | meaning |
/// |---|---|---|---|
/// | `fire_buffer` | `char *` | `Into<Text>` |  |
/// | `fire` | `char *` | `Into<Text>` |  |
#[inline(always)]
#[allow(dead_code, named_asm_labels, clippy::type_complexity)]
pub fn fire<'a, FireBuffer, Fire>(
    arguments: impl FnOnce() -> (FireBuffer, Fire),
) where
    FireBuffer: Into<__sdt::Text<'a>>,
    Fire: Into<__sdt::Text<'a>>,
{
    __sdt::if_enabled!("odd", "fire", fire, {
        __sdt::return_if_discarded!(fire);
        let (fire_buffer, fire) = arguments();
        fire::fire(fire_buffer.into(), fire.into());
    });
}

/// Whether `fire` is traced, and its firing.
pub mod fire {
    use super::__sdt;

    __sdt::declare!("odd", "fire");
    __sdt::describe!(
        "odd", "fire", (str "fire_buffer"), (str "fire")
    );

    /// Whether a tracer looks at `fire` now.
    #[inline(always)]
    #[must_use]
    #[allow(dead_code, named_asm_labels)]
    pub fn is_enabled() -> bool {
        __sdt::if_enabled!("odd", "fire", self, { return true });
        false
    }

    __sdt::discard!("odd", "fire");

    #[cold]
    #[inline(never)]
    #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
    pub(super) fn fire(fire_buffer: __sdt::Text<'_>, fire: __sdt::Text<'_>) {
        let mut fire_buffer_buffer = __sdt::Buffer::new();
        let mut fire_buffer_ = __sdt::Buffer::new();
        __sdt::record!((str fire_buffer fire_buffer_buffer), (str fire fire_buffer_));
        __sdt::if_traced!("odd", "fire", {
            self::trace(fire_buffer, fire);
        });
    }

    #[doc(hidden)]
    #[cold]
    #[inline(never)]
    #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
    pub fn trace(fire_buffer: __sdt::Text<'_>, fire: __sdt::Text<'_>) {
        let mut fire_buffer_buffer = __sdt::Buffer::new();
        let fire_buffer = fire_buffer_buffer.encode(fire_buffer);
        let mut fire_buffer_ = __sdt::Buffer::new();
        let fire = fire_buffer_.encode(fire);
        __sdt::site!(
            "odd",
            "fire",
            (str fire_buffer "char *")
            (str fire "char *")
        );
    }
}

/// The probe `trace` of the provider `odd`.
/// `arguments` makes these values while a tracer looks at it, only then:
///
/// | argument | in D | in Rust | meaning |
/// |---|---|---|---|
/// | `trace` | `int` | `i32` |  |
#[inline(always)]
#[allow(dead_code, named_asm_labels, clippy::type_complexity)]
pub fn trace(arguments: impl FnOnce() -> i32) {
    __sdt::if_enabled!("odd", "trace", trace, {
        __sdt::return_if_discarded!(trace);
        let trace = arguments();
        trace::fire(trace);
    });
}

/// Whether `trace` is traced, and its firing.
pub mod trace {
    use super::__sdt;

    __sdt::declare!("odd", "trace");
    __sdt::describe!(
        "odd", "trace", (i32 "trace")
    );

    /// Whether a tracer looks at `trace` now.
    #[inline(always)]
    #[must_use]
    #[allow(dead_code, named_asm_labels)]
    pub fn is_enabled() -> bool {
        __sdt::if_enabled!("odd", "trace", self, { return true });
        false
    }

    __sdt::discard!("odd", "trace");

    #[cold]
    #[inline(never)]
    #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
    pub(super) fn fire(trace: i32) {
        __sdt::record!((i32 trace));
        __sdt::if_traced!("odd", "trace", {
            self::trace(trace);
        });
    }

    #[doc(hidden)]
    #[cold]
    #[inline(never)]
    #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
    pub fn trace(trace: i32) {
        __sdt::site!(
            "odd",
            "trace",
            (i32 trace "int")
        );
    }
}

/// The probe `most` of the provider `odd`.
/// `arguments` makes these values while a tracer looks at it, only then:
///
/// | argument | in D | in Rust | meaning |
/// |---|---|---|---|
/// | `arg0` | `char *` | `Into<Text>` |  |
/// | `arg1` | `char *` | `Into<Text>` |  |
/// | `arg2` | `char *` | `Into<Text>` |  |
/// | `arg3` | `char *` | `Into<Text>` |  |
/// | `arg4` | `char *` | `Into<Text>` |  |
/// | `arg5` | `char *` | `Into<Text>` |  |
/// | `arg6` | `long` | `i64` |  |
/// | `arg7` | `unsigned long` | `u64` |  |
/// | `arg8` | `short` | `i32` |  |
/// | `arg9` | `unsigned short` | `u32` |  |
/// | `arg10` | `char` | `i32` |  |
/// | `arg11` | `unsigned char` | `u32` |  |
#[inline(always)]
#[allow(dead_code, named_asm_labels, clippy::type_complexity)]
pub fn most<'a, Arg0, Arg1, Arg2, Arg3, Arg4, Arg5>(
    arguments: impl FnOnce() -> (Arg0, Arg1, Arg2, Arg3, Arg4, Arg5, i64, u64, i32, u32, i32, u32),
) where
    Arg0: Into<__sdt::Text<'a>>,
    Arg1: Into<__sdt::Text<'a>>,
    Arg2: Into<__sdt::Text<'a>>,
    Arg3: Into<__sdt::Text<'a>>,
    Arg4: Into<__sdt::Text<'a>>,
    Arg5: Into<__sdt::Text<'a>>,
{
    __sdt::if_enabled!("odd", "most", most, {
        __sdt::return_if_discarded!(most);
        let (
            arg0,
            arg1,
            arg2,
            arg3,
            arg4,
            arg5,
            arg6,
            arg7,
            arg8,
            arg9,
            arg10,
            arg11,
        ) = arguments();
        most::fire(
            arg0.into(),
            arg1.into(),
            arg2.into(),
            arg3.into(),
            arg4.into(),
            arg5.into(),
            arg6,
            arg7,
            arg8,
            arg9,
            arg10,
            arg11,
        );
    });
}

/// Whether `most` is traced, and its firing.
pub mod most {
    use super::__sdt;

    __sdt::declare!("odd", "most");
    __sdt::describe!(
        "odd", "most", (str "arg0"), (str "arg1"), (str "arg2"), (str "arg3"), (str "arg4"), (str "arg5"), (i64 "arg6"), (u64 "arg7"), (i32 "arg8"), (u32 "arg9"), (i32 "arg10"), (u32 "arg11")
    );

    /// Whether a tracer looks at `most` now.
    #[inline(always)]
    #[must_use]
    #[allow(dead_code, named_asm_labels)]
    pub fn is_enabled() -> bool {
        __sdt::if_enabled!("odd", "most", self, { return true });
        false
    }

    __sdt::discard!("odd", "most");

    #[cold]
    #[inline(never)]
    #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
    pub(super) fn fire(
        arg0: __sdt::Text<'_>,
        arg1: __sdt::Text<'_>,
        arg2: __sdt::Text<'_>,
        arg3: __sdt::Text<'_>,
        arg4: __sdt::Text<'_>,
        arg5: __sdt::Text<'_>,
        arg6: i64,
        arg7: u64,
        arg8: i32,
        arg9: u32,
        arg10: i32,
        arg11: u32,
    ) {
        let mut arg0_buffer = __sdt::Buffer::new();
        let mut arg1_buffer = __sdt::Buffer::new();
        let mut arg2_buffer = __sdt::Buffer::new();
        let mut arg3_buffer = __sdt::Buffer::new();
        let mut arg4_buffer = __sdt::Buffer::new();
        let mut arg5_buffer = __sdt::Buffer::new();
        __sdt::record!(
            (str arg0 arg0_buffer),
            (str arg1 arg1_buffer),
            (str arg2 arg2_buffer),
            (str arg3 arg3_buffer),
            (str arg4 arg4_buffer),
            (str arg5 arg5_buffer),
            (i64 arg6),
            (u64 arg7),
            (i32 arg8),
            (u32 arg9),
            (i32 arg10),
            (u32 arg11),
        );
        __sdt::if_traced!("odd", "most", {
            self::trace(arg0, arg1, arg2, arg3, arg4, arg5, arg6, arg7, arg8, arg9, arg10, arg11);
        });
    }

    #[doc(hidden)]
    #[cold]
    #[inline(never)]
    #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
    pub fn trace(
        arg0: __sdt::Text<'_>,
        arg1: __sdt::Text<'_>,
        arg2: __sdt::Text<'_>,
        arg3: __sdt::Text<'_>,
        arg4: __sdt::Text<'_>,
        arg5: __sdt::Text<'_>,
        arg6: i64,
        arg7: u64,
        arg8: i32,
        arg9: u32,
        arg10: i32,
        arg11: u32,
    ) {
        let mut arg0_buffer = __sdt::Buffer::new();
        let arg0 = arg0_buffer.encode(arg0);
        let mut arg1_buffer = __sdt::Buffer::new();
        let arg1 = arg1_buffer.encode(arg1);
        let mut arg2_buffer = __sdt::Buffer::new();
        let arg2 = arg2_buffer.encode(arg2);
        let mut arg3_buffer = __sdt::Buffer::new();
        let arg3 = arg3_buffer.encode(arg3);
        let mut arg4_buffer = __sdt::Buffer::new();
        let arg4 = arg4_buffer.encode(arg4);
        let mut arg5_buffer = __sdt::Buffer::new();
        let arg5 = arg5_buffer.encode(arg5);
        __sdt::site!(
            "odd",
            "most",
            (str arg0 "char *")
            (str arg1 "char *")
            (str arg2 "char *")
            (str arg3 "char *")
            (str arg4 "char *")
            (str arg5 "char *")
            (i64 arg6 "long")
            (u64 arg7 "unsigned long")
            (i32 arg8 "short")
            (u32 arg9 "unsigned short")
            (i32 arg10 "char")
            (u32 arg11 "unsigned char")
        );
    }
}

/// \`\`\` \[x\](y) \<z\> | `a | b` <http://example.org/a_b>. \*c\* \&amp; \\
/// \===
/// let x: Code = none;
/// \# Heading
/// \~~~
///
/// The probe `markdown` of the provider `odd`.
/// `arguments` makes these values while a tracer looks at it, only then:
///
/// | argument | in D | in Rust | meaning |
/// |---|---|---|---|
/// | `x` | `int` | `i32` |  |
#[inline(always)]
#[allow(dead_code, named_asm_labels, clippy::type_complexity)]
pub fn markdown(arguments: impl FnOnce() -> i32) {
    __sdt::if_enabled!("odd", "markdown", markdown, {
        __sdt::return_if_discarded!(markdown);
        let x = arguments();
        markdown::fire(x);
    });
}

/// Whether `markdown` is traced, and its firing.
pub mod markdown {
    use super::__sdt;

    __sdt::declare!("odd", "markdown");
    __sdt::describe!(
        "odd", "markdown", (i32 "x")
    );

    /// Whether a tracer looks at `markdown` now.
    #[inline(always)]
    #[must_use]
    #[allow(dead_code, named_asm_labels)]
    pub fn is_enabled() -> bool {
        __sdt::if_enabled!("odd", "markdown", self, { return true });
        false
    }

    __sdt::discard!("odd", "markdown");

    #[cold]
    #[inline(never)]
    #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
    pub(super) fn fire(x: i32) {
        __sdt::record!((i32 x));
        __sdt::if_traced!("odd", "markdown", {
            self::trace(x);
        });
    }

    #[doc(hidden)]
    #[cold]
    #[inline(never)]
    #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
    pub fn trace(x: i32) {
        __sdt::site!(
            "odd",
            "markdown",
            (i32 x "int")
        );
    }
}
