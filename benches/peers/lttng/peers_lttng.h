/* The events of record_loop, as tracepoints of LTTng-UST. The file is included repeatedly, so `struct entry` cannot be here. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER peers_lttng
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./peers_lttng.h"

#if !defined(PEERS_LTTNG_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define PEERS_LTTNG_H

#include <lttng/tracepoint.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(peers_lttng, one,
    LTTNG_UST_TP_ARGS(int64_t, value),
    LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int64_t, value, value))
)

LTTNG_UST_TRACEPOINT_EVENT(peers_lttng, entry,
    LTTNG_UST_TP_ARGS(const struct entry *, entry),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_integer(int32_t, thread_id, entry->thread_id)
        lttng_ust_field_integer(int32_t, tag, entry->tag)
        lttng_ust_field_string(user_tag, entry->user_tag)
        lttng_ust_field_integer(int32_t, command, entry->command)
        lttng_ust_field_string(s1, entry->s1)
        lttng_ust_field_string(s2, entry->s2)
        lttng_ust_field_integer(int64_t, i1, entry->i1)
        lttng_ust_field_integer(int64_t, i2, entry->i2)
        lttng_ust_field_integer(int64_t, i3, entry->i3)
        lttng_ust_field_integer(int64_t, i4, entry->i4)
        lttng_ust_field_string(port, entry->port)
    )
)

#endif

#include <lttng/tracepoint-event.h>
