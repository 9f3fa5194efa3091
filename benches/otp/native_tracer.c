/*
 * A minimal Erlang tracer in native code that keeps its events: it writes each event, with the time, into a ring of the scheduler's
 * thread. The dyntrace recorder does at least the same.
 *
 * cc -O2 -shared -fPIC -I$ERLANG/usr/include native_tracer.c -o native_tracer.so
 */
#define _GNU_SOURCE
#include <erl_nif.h>
#include <stdint.h>
#include <time.h>
#include <x86intrin.h>

#define EVENTS (1 << 15)

struct event {
    uint64_t time;
    ErlNifPid process;
    ERL_NIF_TERM kind, module, function;
    ErlNifSInt64 a, b;
};

static _Thread_local struct event ring[EVENTS];
static _Thread_local uint64_t recorded;

static ERL_NIF_TERM atom_trace, atom_extra;

static int load(ErlNifEnv *env, void **data, ERL_NIF_TERM info)
{
    atom_trace = enif_make_atom(env, "trace");
    atom_extra = enif_make_atom(env, "extra");
    return 0;
}

/* enabled(Kind, State, Tracee) */
static ERL_NIF_TERM enabled(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    return atom_trace;
}

/* trace(Kind, State, Tracee, {Module, Function, Arguments or Arity}, Options) */
static ERL_NIF_TERM trace(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct event *event = &ring[recorded % EVENTS];
    const ERL_NIF_TERM *function;
    ERL_NIF_TERM value, arguments;
    int arity;
    event->time = __rdtsc();
    event->kind = argv[0];
    enif_get_local_pid(env, argv[2], &event->process);
    if (enif_get_tuple(env, argv[3], &arity, &function) && arity == 3) {
        event->module = function[0];
        event->function = function[1];
        arguments = function[2];
        if (enif_get_list_cell(env, arguments, &value, &arguments)) {
            enif_get_int64(env, value, &event->a);
            if (enif_get_list_cell(env, arguments, &value, &arguments))
                enif_get_int64(env, value, &event->b);
        } else if (enif_get_map_value(env, argv[4], atom_extra, &value)) {
            enif_get_int64(env, value, &event->a);
        }
    }
    recorded++;
    return argv[0];
}

/* Number of events recorded by the calling scheduler's thread. */
static ERL_NIF_TERM events(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    return enif_make_uint64(env, recorded);
}

/* CPU time of the calling scheduler's thread, in nanoseconds. */
static ERL_NIF_TERM cpu_ns(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return enif_make_uint64(env, time.tv_sec * 1000000000ull + time.tv_nsec);
}

static ErlNifFunc functions[] = {
    {"enabled", 3, enabled, 0},
    {"trace", 5, trace, 0},
    {"events", 0, events, 0},
    {"cpu_ns", 0, cpu_ns, 0},
};

ERL_NIF_INIT(native_tracer, functions, load, NULL, NULL, NULL)
