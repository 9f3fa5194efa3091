/*
 * traced_loop for uftrace: `traced_loop CALLS` prints the CPU time of a call in nanoseconds.
 *
 * cc -O2 [-pg] traced_loop.c
 * uftrace record --no-libcall -A traced@arg1,arg2 [-R traced@retval] -d DIR traced_loop CALLS
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Only the function is recorded. */
#define UNTRACED __attribute__((no_instrument_function))

static UNTRACED double cpu_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

__attribute__((noinline, noclone)) long traced(long a, long b)
{
    __asm__ volatile("" : "+r"(a));
    return a ^ b;
}

static UNTRACED void run(long calls)
{
    for (long call = 0; call < calls; call++)
        traced(call, calls);
}

UNTRACED int main(int argc, char **argv)
{
    long calls = atol(argv[argc - 1]);
    run(calls / 10);
    double before = cpu_ns();
    run(calls);
    printf("%.2f\n", (cpu_ns() - before) / calls);
}
