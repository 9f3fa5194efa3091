// UPDATE_GOLDEN=1 cargo test -p dyntrace-build --test definitions makes this file anew.
// Made of the provider definition `dyntrace_tracing` by dyntrace-build; changes belong there.

/// The probes `span-*` of the provider `dyntrace_tracing`.
pub mod span {
    use super::__sdt;

    /// A span was made.
    ///
    /// The probe `span-new` of the provider `dyntrace_tracing`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `span_id` | `uint64_t` | `u64` | number of the span; numbers of closed spans come again |
    /// | `name` | `char *` | `Into<Text>` | name of the span |
    /// | `target` | `char *` | `Into<Text>` | its target, by default the path of the module |
    /// | `user_tag` | `char *` | `Into<Text>` | user tag that the span puts in force while it is entered, or null |
    /// | `fields` | `char *` | `Into<Text>` | its fields as a JSON object; those that do not fit are left out, and `...` is their number |
    /// | `parent_id` | `uint64_t` | `u64` | number of its parent, 0 for a root |
    /// | `level` | `int` | `i32` | 1 error, 2 warn, 3 info, 4 debug, 5 trace |
    /// | `file` | `char *` | `Into<Text>` | path of the source file, or null |
    /// | `line` | `uint32_t` | `u32` | line in the file, or 0 |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn new<'a, Name, Target, UserTag, Fields, File>(
        arguments: impl FnOnce() -> (u64, Name, Target, UserTag, Fields, u64, i32, File, u32),
    ) where
        Name: Into<__sdt::Text<'a>>,
        Target: Into<__sdt::Text<'a>>,
        UserTag: Into<__sdt::Text<'a>>,
        Fields: Into<__sdt::Text<'a>>,
        File: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace_tracing", "span__new", new, {
            __sdt::return_if_discarded!(new);
            let (
                span_id,
                name,
                target,
                user_tag,
                fields,
                parent_id,
                level,
                file,
                line,
            ) = arguments();
            new::fire(
                span_id,
                name.into(),
                target.into(),
                user_tag.into(),
                fields.into(),
                parent_id,
                level,
                file.into(),
                line,
            );
        });
    }

    /// Whether `span-new` is traced, and its firing.
    pub mod new {
        use super::__sdt;

        __sdt::declare!("dyntrace_tracing", "span__new");
        __sdt::describe!(
            "dyntrace_tracing", "span__new", (u64 "span_id"), (str "name"), (str "target"), (str "user_tag"), (str "fields"), (u64 "parent_id"), (i32 "level"), (str "file"), (u32 "line")
        );

        /// Whether a tracer looks at `span-new` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace_tracing", "span__new", self, { return true });
            false
        }

        __sdt::discard!("dyntrace_tracing", "span__new");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(
            span_id: u64,
            name: __sdt::Text<'_>,
            target: __sdt::Text<'_>,
            user_tag: __sdt::Text<'_>,
            fields: __sdt::Text<'_>,
            parent_id: u64,
            level: i32,
            file: __sdt::Text<'_>,
            line: u32,
        ) {
            let mut name_buffer = __sdt::Buffer::new();
            let mut target_buffer = __sdt::Buffer::new();
            let mut user_tag_buffer = __sdt::Buffer::new();
            let mut fields_buffer = __sdt::Buffer::new();
            let mut file_buffer = __sdt::Buffer::new();
            __sdt::record!(
                (u64 span_id),
                (str name name_buffer),
                (str target target_buffer),
                (str user_tag user_tag_buffer),
                (str fields fields_buffer),
                (u64 parent_id),
                (i32 level),
                (str file file_buffer),
                (u32 line),
            );
            __sdt::if_traced!("dyntrace_tracing", "span__new", {
                self::trace(span_id, name, target, user_tag, fields, parent_id, level, file, line);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(
            span_id: u64,
            name: __sdt::Text<'_>,
            target: __sdt::Text<'_>,
            user_tag: __sdt::Text<'_>,
            fields: __sdt::Text<'_>,
            parent_id: u64,
            level: i32,
            file: __sdt::Text<'_>,
            line: u32,
        ) {
            let mut name_buffer = __sdt::Buffer::new();
            let name = name_buffer.encode(name);
            let mut target_buffer = __sdt::Buffer::new();
            let target = target_buffer.encode(target);
            let mut user_tag_buffer = __sdt::Buffer::new();
            let user_tag = user_tag_buffer.encode(user_tag);
            let mut fields_buffer = __sdt::Buffer::new();
            let fields = fields_buffer.encode(fields);
            let mut file_buffer = __sdt::Buffer::new();
            let file = file_buffer.encode(file);
            __sdt::site!(
                "dyntrace_tracing",
                "span__new",
                (u64 span_id "uint64_t")
                (str name "char *")
                (str target "char *")
                (str user_tag "char *")
                (str fields "char *")
                (u64 parent_id "uint64_t")
                (i32 level "int")
                (str file "char *")
                (u32 line "uint32_t")
            );
        }
    }

    /// A thread enters a span: for a future, at each poll.
    ///
    /// The probe `span-enter` of the provider `dyntrace_tracing`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `span_id` | `uint64_t` | `u64` | number of the span |
    /// | `name` | `char *` | `Into<Text>` | name of the span |
    /// | `target` | `char *` | `Into<Text>` | its target |
    /// | `user_tag` | `char *` | `Into<Text>` | user tag in force in the span, or null |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn enter<'a, Name, Target, UserTag>(
        arguments: impl FnOnce() -> (u64, Name, Target, UserTag),
    ) where
        Name: Into<__sdt::Text<'a>>,
        Target: Into<__sdt::Text<'a>>,
        UserTag: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace_tracing", "span__enter", enter, {
            __sdt::return_if_discarded!(enter);
            let (span_id, name, target, user_tag) = arguments();
            enter::fire(span_id, name.into(), target.into(), user_tag.into());
        });
    }

    /// Whether `span-enter` is traced, and its firing.
    pub mod enter {
        use super::__sdt;

        __sdt::declare!("dyntrace_tracing", "span__enter");
        __sdt::describe!(
            "dyntrace_tracing", "span__enter", (u64 "span_id"), (str "name"), (str "target"), (str "user_tag")
        );

        /// Whether a tracer looks at `span-enter` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace_tracing", "span__enter", self, { return true });
            false
        }

        __sdt::discard!("dyntrace_tracing", "span__enter");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(
            span_id: u64,
            name: __sdt::Text<'_>,
            target: __sdt::Text<'_>,
            user_tag: __sdt::Text<'_>,
        ) {
            let mut name_buffer = __sdt::Buffer::new();
            let mut target_buffer = __sdt::Buffer::new();
            let mut user_tag_buffer = __sdt::Buffer::new();
            __sdt::record!(
                (u64 span_id),
                (str name name_buffer),
                (str target target_buffer),
                (str user_tag user_tag_buffer),
            );
            __sdt::if_traced!("dyntrace_tracing", "span__enter", {
                self::trace(span_id, name, target, user_tag);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(
            span_id: u64,
            name: __sdt::Text<'_>,
            target: __sdt::Text<'_>,
            user_tag: __sdt::Text<'_>,
        ) {
            let mut name_buffer = __sdt::Buffer::new();
            let name = name_buffer.encode(name);
            let mut target_buffer = __sdt::Buffer::new();
            let target = target_buffer.encode(target);
            let mut user_tag_buffer = __sdt::Buffer::new();
            let user_tag = user_tag_buffer.encode(user_tag);
            __sdt::site!(
                "dyntrace_tracing",
                "span__enter",
                (u64 span_id "uint64_t")
                (str name "char *")
                (str target "char *")
                (str user_tag "char *")
            );
        }
    }

    /// A thread leaves a span.
    ///
    /// The probe `span-exit` of the provider `dyntrace_tracing`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `span_id` | `uint64_t` | `u64` | number of the span |
    /// | `name` | `char *` | `Into<Text>` | name of the span |
    /// | `target` | `char *` | `Into<Text>` | its target |
    /// | `user_tag` | `char *` | `Into<Text>` | user tag that was in force in the span, or null |
    /// | `busy_ns` | `uint64_t` | `u64` | time since the span was entered; 0 if the probe was not enabled then |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn exit<'a, Name, Target, UserTag>(
        arguments: impl FnOnce() -> (u64, Name, Target, UserTag, u64),
    ) where
        Name: Into<__sdt::Text<'a>>,
        Target: Into<__sdt::Text<'a>>,
        UserTag: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace_tracing", "span__exit", exit, {
            __sdt::return_if_discarded!(exit);
            let (span_id, name, target, user_tag, busy_ns) = arguments();
            exit::fire(span_id, name.into(), target.into(), user_tag.into(), busy_ns);
        });
    }

    /// Whether `span-exit` is traced, and its firing.
    pub mod exit {
        use super::__sdt;

        __sdt::declare!("dyntrace_tracing", "span__exit");
        __sdt::describe!(
            "dyntrace_tracing", "span__exit", (u64 "span_id"), (str "name"), (str "target"), (str "user_tag"), (u64 "busy_ns")
        );

        /// Whether a tracer looks at `span-exit` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace_tracing", "span__exit", self, { return true });
            false
        }

        __sdt::discard!("dyntrace_tracing", "span__exit");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(
            span_id: u64,
            name: __sdt::Text<'_>,
            target: __sdt::Text<'_>,
            user_tag: __sdt::Text<'_>,
            busy_ns: u64,
        ) {
            let mut name_buffer = __sdt::Buffer::new();
            let mut target_buffer = __sdt::Buffer::new();
            let mut user_tag_buffer = __sdt::Buffer::new();
            __sdt::record!(
                (u64 span_id),
                (str name name_buffer),
                (str target target_buffer),
                (str user_tag user_tag_buffer),
                (u64 busy_ns),
            );
            __sdt::if_traced!("dyntrace_tracing", "span__exit", {
                self::trace(span_id, name, target, user_tag, busy_ns);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(
            span_id: u64,
            name: __sdt::Text<'_>,
            target: __sdt::Text<'_>,
            user_tag: __sdt::Text<'_>,
            busy_ns: u64,
        ) {
            let mut name_buffer = __sdt::Buffer::new();
            let name = name_buffer.encode(name);
            let mut target_buffer = __sdt::Buffer::new();
            let target = target_buffer.encode(target);
            let mut user_tag_buffer = __sdt::Buffer::new();
            let user_tag = user_tag_buffer.encode(user_tag);
            __sdt::site!(
                "dyntrace_tracing",
                "span__exit",
                (u64 span_id "uint64_t")
                (str name "char *")
                (str target "char *")
                (str user_tag "char *")
                (u64 busy_ns "uint64_t")
            );
        }
    }

    /// A span ended: nothing refers to it any more.
    ///
    /// The probe `span-close` of the provider `dyntrace_tracing`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `span_id` | `uint64_t` | `u64` | number of the span |
    /// | `name` | `char *` | `Into<Text>` | name of the span |
    /// | `target` | `char *` | `Into<Text>` | its target |
    /// | `user_tag` | `char *` | `Into<Text>` | user tag of the span, or null |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn close<'a, Name, Target, UserTag>(
        arguments: impl FnOnce() -> (u64, Name, Target, UserTag),
    ) where
        Name: Into<__sdt::Text<'a>>,
        Target: Into<__sdt::Text<'a>>,
        UserTag: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace_tracing", "span__close", close, {
            __sdt::return_if_discarded!(close);
            let (span_id, name, target, user_tag) = arguments();
            close::fire(span_id, name.into(), target.into(), user_tag.into());
        });
    }

    /// Whether `span-close` is traced, and its firing.
    pub mod close {
        use super::__sdt;

        __sdt::declare!("dyntrace_tracing", "span__close");
        __sdt::describe!(
            "dyntrace_tracing", "span__close", (u64 "span_id"), (str "name"), (str "target"), (str "user_tag")
        );

        /// Whether a tracer looks at `span-close` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace_tracing", "span__close", self, { return true });
            false
        }

        __sdt::discard!("dyntrace_tracing", "span__close");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(
            span_id: u64,
            name: __sdt::Text<'_>,
            target: __sdt::Text<'_>,
            user_tag: __sdt::Text<'_>,
        ) {
            let mut name_buffer = __sdt::Buffer::new();
            let mut target_buffer = __sdt::Buffer::new();
            let mut user_tag_buffer = __sdt::Buffer::new();
            __sdt::record!(
                (u64 span_id),
                (str name name_buffer),
                (str target target_buffer),
                (str user_tag user_tag_buffer),
            );
            __sdt::if_traced!("dyntrace_tracing", "span__close", {
                self::trace(span_id, name, target, user_tag);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(
            span_id: u64,
            name: __sdt::Text<'_>,
            target: __sdt::Text<'_>,
            user_tag: __sdt::Text<'_>,
        ) {
            let mut name_buffer = __sdt::Buffer::new();
            let name = name_buffer.encode(name);
            let mut target_buffer = __sdt::Buffer::new();
            let target = target_buffer.encode(target);
            let mut user_tag_buffer = __sdt::Buffer::new();
            let user_tag = user_tag_buffer.encode(user_tag);
            __sdt::site!(
                "dyntrace_tracing",
                "span__close",
                (u64 span_id "uint64_t")
                (str name "char *")
                (str target "char *")
                (str user_tag "char *")
            );
        }
    }
}

/// An event.
///
/// The probe `event` of the provider `dyntrace_tracing`.
/// `arguments` makes these values while a tracer looks at it, only then:
///
/// | argument | in D | in Rust | meaning |
/// |---|---|---|---|
/// | `level` | `int` | `i32` | 1 error, 2 warn, 3 info, 4 debug, 5 trace |
/// | `target` | `char *` | `Into<Text>` | its target, by default the path of the module |
/// | `message` | `char *` | `Into<Text>` | its message, or null |
/// | `fields` | `char *` | `Into<Text>` | its other fields as a JSON object; those that do not fit are left out, and `...` is their number |
/// | `user_tag` | `char *` | `Into<Text>` | user tag in force, or null |
/// | `number` | `int64_t` | `i64` | first field that is an integer; 0 without one, or if it has more than 64 bits |
/// | `span_id` | `uint64_t` | `u64` | number of the span that it is in, or 0 |
/// | `file` | `char *` | `Into<Text>` | path of the source file, or null |
/// | `line` | `uint32_t` | `u32` | line in the file, or 0 |
#[inline(always)]
#[allow(dead_code, named_asm_labels, clippy::type_complexity)]
pub fn event<'a, Target, Message, Fields, UserTag, File>(
    arguments: impl FnOnce() -> (i32, Target, Message, Fields, UserTag, i64, u64, File, u32),
) where
    Target: Into<__sdt::Text<'a>>,
    Message: Into<__sdt::Text<'a>>,
    Fields: Into<__sdt::Text<'a>>,
    UserTag: Into<__sdt::Text<'a>>,
    File: Into<__sdt::Text<'a>>,
{
    __sdt::if_enabled!("dyntrace_tracing", "event", event, {
        __sdt::return_if_discarded!(event);
        let (level, target, message, fields, user_tag, number, span_id, file, line) = arguments();
        event::fire(
            level,
            target.into(),
            message.into(),
            fields.into(),
            user_tag.into(),
            number,
            span_id,
            file.into(),
            line,
        );
    });
}

/// Whether `event` is traced, and its firing.
pub mod event {
    use super::__sdt;

    __sdt::declare!("dyntrace_tracing", "event");
    __sdt::describe!(
        "dyntrace_tracing", "event", (i32 "level"), (str "target"), (str "message"), (str "fields"), (str "user_tag"), (i64 "number"), (u64 "span_id"), (str "file"), (u32 "line")
    );

    /// Whether a tracer looks at `event` now.
    #[inline(always)]
    #[must_use]
    #[allow(dead_code, named_asm_labels)]
    pub fn is_enabled() -> bool {
        __sdt::if_enabled!("dyntrace_tracing", "event", self, { return true });
        false
    }

    __sdt::discard!("dyntrace_tracing", "event");

    #[cold]
    #[inline(never)]
    #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
    pub(super) fn fire(
        level: i32,
        target: __sdt::Text<'_>,
        message: __sdt::Text<'_>,
        fields: __sdt::Text<'_>,
        user_tag: __sdt::Text<'_>,
        number: i64,
        span_id: u64,
        file: __sdt::Text<'_>,
        line: u32,
    ) {
        let mut target_buffer = __sdt::Buffer::new();
        let mut message_buffer = __sdt::Buffer::new();
        let mut fields_buffer = __sdt::Buffer::new();
        let mut user_tag_buffer = __sdt::Buffer::new();
        let mut file_buffer = __sdt::Buffer::new();
        __sdt::record!(
            (i32 level),
            (str target target_buffer),
            (str message message_buffer),
            (str fields fields_buffer),
            (str user_tag user_tag_buffer),
            (i64 number),
            (u64 span_id),
            (str file file_buffer),
            (u32 line),
        );
        __sdt::if_traced!("dyntrace_tracing", "event", {
            self::trace(level, target, message, fields, user_tag, number, span_id, file, line);
        });
    }

    #[doc(hidden)]
    #[cold]
    #[inline(never)]
    #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
    pub fn trace(
        level: i32,
        target: __sdt::Text<'_>,
        message: __sdt::Text<'_>,
        fields: __sdt::Text<'_>,
        user_tag: __sdt::Text<'_>,
        number: i64,
        span_id: u64,
        file: __sdt::Text<'_>,
        line: u32,
    ) {
        let mut target_buffer = __sdt::Buffer::new();
        let target = target_buffer.encode(target);
        let mut message_buffer = __sdt::Buffer::new();
        let message = message_buffer.encode(message);
        let mut fields_buffer = __sdt::Buffer::new();
        let fields = fields_buffer.encode(fields);
        let mut user_tag_buffer = __sdt::Buffer::new();
        let user_tag = user_tag_buffer.encode(user_tag);
        let mut file_buffer = __sdt::Buffer::new();
        let file = file_buffer.encode(file);
        __sdt::site!(
            "dyntrace_tracing",
            "event",
            (i32 level "int")
            (str target "char *")
            (str message "char *")
            (str fields "char *")
            (str user_tag "char *")
            (i64 number "int64_t")
            (u64 span_id "uint64_t")
            (str file "char *")
            (u32 line "uint32_t")
        );
    }
}
