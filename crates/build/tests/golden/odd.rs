// Made of the provider definition `odd` by dyntrace-build; changes belong there.

/// The probes `names-*` of the provider `odd`.
pub mod names {
    use super::__sdt;

    __sdt::probe! {
        "odd" "names__self" "names-self"
        self_<'a, Self_, SelfBuffer, Into_, FnOnce_>(arguments: impl FnOnce() -> (Self_, SelfBuffer, Into_, FnOnce_, i32, i32))
        (self_: Self_, str "self", str "char *", self_buffer_; "")
        (self_buffer: SelfBuffer, str "self_buffer", str "char *", self_buffer_buffer; "")
        (into: Into_, str "into", str "char *", into_buffer; "")
        (fn_once: FnOnce_, str "fn_once", str "char *", fn_once_buffer; "")
        (arguments: i32, i32 "arguments", i32 "int"; "")
        (fire: i32, i32 "fire", i32 "int"; "")
    }

    __sdt::probe! {
        "odd" "names__type" "names-type"
        r#type<'a, S1, S1_, S1__>(arguments: impl FnOnce() -> (S1, S1_, S1__, i32, i32, i32))
        (s1: S1, str "s1", str "char *", s1_buffer; "")
        (s_1: S1_, str "s_1", str "char *", s_1_buffer; "")
        (__s1: S1__, str "__s1", str "char *", __s1_buffer; "")
        (r#return: i32, i32 "return", i32 "int"; "")
        (arg4: i32, i32 "arg4", i32 "int"; "")
        (arg5: i32, i32 "arg5", i32 "int"; "")
    }

    __sdt::probe! {
        "odd" "names__names" "names-names"
        names(arguments: impl FnOnce() -> i32)
        (names: i32, i32 "names", i32 "int"; "")
    }
}

/// The probes `Upper-*` of the provider `odd`.
#[allow(non_snake_case)]
pub mod Upper {
    use super::__sdt;

    __sdt::probe! {
        "odd" "Upper__Case" "Upper-Case"
        Case<'a, Name>(arguments: impl FnOnce() -> (Name, u32))
        (Name: Name, str "Name", str "const char *", Name_buffer; "")
        (Octet: u32, u32 "Octet", u32 "unsigned char"; "")
    }
}

__sdt::probe! {
    "odd" "fire" "fire"
    fire<'a, FireBuffer, Fire>(arguments: impl FnOnce() -> (FireBuffer, Fire))
    (fire_buffer: FireBuffer, str "fire_buffer", str "char *", fire_buffer_buffer; "")
    (fire: Fire, str "fire", str "char *", fire_buffer_; "")
}

__sdt::probe! {
    "odd" "trace" "trace"
    trace(arguments: impl FnOnce() -> i32)
    (trace: i32, i32 "trace", i32 "int"; "")
}

__sdt::probe! {
    "odd" "most" "most"
    most<'a, Arg0, Arg1, Arg2, Arg3, Arg4, Arg5>(arguments: impl FnOnce() -> (Arg0, Arg1, Arg2, Arg3, Arg4, Arg5, i64, u64, i32, u32, i32, u32))
    (arg0: Arg0, str "arg0", str "char *", arg0_buffer; "")
    (arg1: Arg1, str "arg1", str "char *", arg1_buffer; "")
    (arg2: Arg2, str "arg2", str "char *", arg2_buffer; "")
    (arg3: Arg3, str "arg3", str "char *", arg3_buffer; "")
    (arg4: Arg4, str "arg4", str "char *", arg4_buffer; "")
    (arg5: Arg5, str "arg5", str "char *", arg5_buffer; "")
    (arg6: i64, i64 "arg6", i64 "long"; "")
    (arg7: u64, u64 "arg7", u64 "unsigned long"; "")
    (arg8: i32, i32 "arg8", i32 "short"; "")
    (arg9: u32, u32 "arg9", u32 "unsigned short"; "")
    (arg10: i32, i32 "arg10", i32 "char"; "")
    (arg11: u32, u32 "arg11", u32 "unsigned char"; "")
}

__sdt::probe! {
    /// \`\`\` \[x\](y) \<z\> | `a | b` <http://example.org/a_b>. \*c\* \&amp; \\
    /// \===
    /// let x: Code = none;
    /// \# Heading
    /// \~~~
    "odd" "markdown" "markdown"
    markdown(arguments: impl FnOnce() -> i32)
    (x: i32, i32 "x", i32 "int"; "")
}
