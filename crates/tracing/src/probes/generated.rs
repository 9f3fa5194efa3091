// UPDATE_GOLDEN=1 cargo test -p dyntrace-build --test definitions makes this file anew.
// Made of the provider definition `dyntrace_tracing` by dyntrace-build; changes belong there.

/// The probes `span-*` of the provider `dyntrace_tracing`.
pub mod span {
    use super::__sdt;

    __sdt::probe! {
        /// A span was made.
        "dyntrace_tracing" "span__new" "span-new"
        new<'a, Name, Target, UserTag, Fields, File>(arguments: impl FnOnce() -> (u64, Name, Target, UserTag, Fields, u64, i32, File, u32))
        (span_id: u64, u64 "span_id", u64 "uint64_t"; "number of the span; numbers of closed spans come again")
        (name: Name, str "name", str "char *", name_buffer; "name of the span")
        (target: Target, str "target", str "char *", target_buffer; "its target, by default the path of the module")
        (user_tag: UserTag, str "user_tag", str "char *", user_tag_buffer; "user tag that the span puts in force while it is entered, or null")
        (fields: Fields, str "fields", str "char *", fields_buffer; "its fields as a JSON object; those that do not fit are left out, and `...` is their number")
        (parent_id: u64, u64 "parent_id", u64 "uint64_t"; "number of its parent, 0 for a root")
        (level: i32, i32 "level", i32 "int"; "1 error, 2 warn, 3 info, 4 debug, 5 trace")
        (file: File, str "file", str "char *", file_buffer; "path of the source file, or null")
        (line: u32, u32 "line", u32 "uint32_t"; "line in the file, or 0")
    }

    __sdt::probe! {
        /// A thread enters a span: for a future, at each poll.
        "dyntrace_tracing" "span__enter" "span-enter"
        enter<'a, Name, Target, UserTag>(arguments: impl FnOnce() -> (u64, Name, Target, UserTag))
        (span_id: u64, u64 "span_id", u64 "uint64_t"; "number of the span")
        (name: Name, str "name", str "char *", name_buffer; "name of the span")
        (target: Target, str "target", str "char *", target_buffer; "its target")
        (user_tag: UserTag, str "user_tag", str "char *", user_tag_buffer; "user tag in force in the span, or null")
    }

    __sdt::probe! {
        /// A thread leaves a span.
        "dyntrace_tracing" "span__exit" "span-exit"
        exit<'a, Name, Target, UserTag>(arguments: impl FnOnce() -> (u64, Name, Target, UserTag, u64))
        (span_id: u64, u64 "span_id", u64 "uint64_t"; "number of the span")
        (name: Name, str "name", str "char *", name_buffer; "name of the span")
        (target: Target, str "target", str "char *", target_buffer; "its target")
        (user_tag: UserTag, str "user_tag", str "char *", user_tag_buffer; "user tag that was in force in the span, or null")
        (busy_ns: u64, u64 "busy_ns", u64 "uint64_t"; "time since the span was entered; 0 if the probe was not enabled then")
    }

    __sdt::probe! {
        /// A span ended: nothing refers to it any more.
        "dyntrace_tracing" "span__close" "span-close"
        close<'a, Name, Target, UserTag>(arguments: impl FnOnce() -> (u64, Name, Target, UserTag))
        (span_id: u64, u64 "span_id", u64 "uint64_t"; "number of the span")
        (name: Name, str "name", str "char *", name_buffer; "name of the span")
        (target: Target, str "target", str "char *", target_buffer; "its target")
        (user_tag: UserTag, str "user_tag", str "char *", user_tag_buffer; "user tag of the span, or null")
    }
}

__sdt::probe! {
    /// An event.
    "dyntrace_tracing" "event" "event"
    event<'a, Target, Message, Fields, UserTag, File>(arguments: impl FnOnce() -> (i32, Target, Message, Fields, UserTag, i64, u64, File, u32))
    (level: i32, i32 "level", i32 "int"; "1 error, 2 warn, 3 info, 4 debug, 5 trace")
    (target: Target, str "target", str "char *", target_buffer; "its target, by default the path of the module")
    (message: Message, str "message", str "char *", message_buffer; "its message, or null")
    (fields: Fields, str "fields", str "char *", fields_buffer; "its other fields as a JSON object; those that do not fit are left out, and `...` is their number")
    (user_tag: UserTag, str "user_tag", str "char *", user_tag_buffer; "user tag in force, or null")
    (number: i64, i64 "number", i64 "int64_t"; "first field that is an integer; 0 without one, or if it has more than 64 bits")
    (span_id: u64, u64 "span_id", u64 "uint64_t"; "number of the span that it is in, or 0")
    (file: File, str "file", str "char *", file_buffer; "path of the source file, or null")
    (line: u32, u32 "line", u32 "uint32_t"; "line in the file, or 0")
}
