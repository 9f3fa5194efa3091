/*
 * record_loop of LTTng-UST: `record_loop one|entry EVENTS THREADS` prints, for each thread, the CPU nanoseconds of an event.
 *
 * cc -O2 -I. record_loop.c -llttng-ust -ldl -lpthread
 */
#define _GNU_SOURCE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include <stdint.h>

/* A tracepoint takes at most ten arguments, so these eleven are in one structure. */
struct entry {
    int32_t thread_id, tag;
    const char *user_tag;
    int32_t command;
    const char *s1, *s2;
    int64_t i1, i2, i3, i4;
    const char *port;
};

#include "peers_lttng.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *payload;
static long events;
static pthread_barrier_t all_warm;

static double cpu_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static void fire(long passes)
{
    if (!strcmp(payload, "one")) {
        for (long pass = 0; pass < passes; pass++)
            lttng_ust_tracepoint(peers_lttng, one, pass);
    } else {
        for (long pass = 0; pass < passes; pass++) {
            struct entry entry = {1, pass, "req-1", 12, "/tmp/storm/1/old-name", "/tmp/storm/1/new-name", pass, 0, 0, 0, "#Port<0.1>"};
            lttng_ust_tracepoint(peers_lttng, entry, &entry);
        }
    }
}

static void *run(void *spent)
{
    fire(events / 10);
    pthread_barrier_wait(&all_warm);
    double before = cpu_ns();
    fire(events);
    *(double *)spent = (cpu_ns() - before) / events;
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: record_loop one|entry EVENTS THREADS\n");
        return 2;
    }
    payload = argv[1];
    events = atol(argv[2]);
    int threads = atoi(argv[3]);
    pthread_t ids[threads];
    double spent[threads];
    pthread_barrier_init(&all_warm, NULL, threads);
    for (int n = 0; n < threads; n++) {
        pthread_attr_t on_core;
        cpu_set_t core;
        CPU_ZERO(&core);
        CPU_SET(n, &core);
        pthread_attr_init(&on_core);
        pthread_attr_setaffinity_np(&on_core, sizeof core, &core);
        pthread_create(&ids[n], &on_core, run, &spent[n]);
    }
    for (int n = 0; n < threads; n++) {
        pthread_join(ids[n], NULL);
        printf("%.2f\n", spent[n]);
    }
    return 0;
}
