/** Spans and events of the crate `tracing`. */
provider dyntrace_tracing {
    /**
     * A span was made.
     *
     * @param span_id number of the span; numbers of closed spans come again
     * @param name name of the span
     * @param target its target, by default the path of the module
     * @param user_tag user tag that the span puts in force while it is entered, or null
     * @param fields its fields as a JSON object; those that do not fit are left out, and `...` is their number
     * @param parent_id number of its parent, 0 for a root
     * @param level 1 error, 2 warn, 3 info, 4 debug, 5 trace
     * @param file path of the source file, or null
     * @param line line in the file, or 0
     */
    probe span__new(uint64_t span_id, char *name, char *target, char *user_tag, char *fields, uint64_t parent_id, int level, char *file, uint32_t line);

    /**
     * A thread enters a span: for a future, at each poll.
     *
     * @param span_id number of the span
     * @param name name of the span
     * @param target its target
     * @param user_tag user tag in force in the span, or null
     */
    probe span__enter(uint64_t span_id, char *name, char *target, char *user_tag);

    /**
     * A thread leaves a span.
     *
     * @param span_id number of the span
     * @param name name of the span
     * @param target its target
     * @param user_tag user tag that was in force in the span, or null
     * @param busy_ns time since the span was entered; 0 if the probe was not enabled then
     */
    probe span__exit(uint64_t span_id, char *name, char *target, char *user_tag, uint64_t busy_ns);

    /**
     * A span ended: nothing refers to it any more.
     *
     * @param span_id number of the span
     * @param name name of the span
     * @param target its target
     * @param user_tag user tag of the span, or null
     */
    probe span__close(uint64_t span_id, char *name, char *target, char *user_tag);

    /**
     * An event.
     *
     * @param level 1 error, 2 warn, 3 info, 4 debug, 5 trace
     * @param target its target, by default the path of the module
     * @param message its message, or null
     * @param fields its other fields as a JSON object; those that do not fit are left out, and `...` is their number
     * @param user_tag user tag in force, or null
     * @param number first field that is an integer; 0 without one, or if it has more than 64 bits
     * @param span_id number of the span that it is in, or 0
     * @param file path of the source file, or null
     * @param line line in the file, or 0
     */
    probe event(int level, char *target, char *message, char *fields, char *user_tag, int64_t number, uint64_t span_id, char *file, uint32_t line);
};
