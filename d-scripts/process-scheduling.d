/*
 * process-scheduling.d - when processes run on a thread, and for how long.
 *
 * USAGE
 *     dyntrace run --tracer dtrace process-scheduling -- COMMAND...
 *     dtrace -s process-scheduling.d -p PID
 *     dtrace -s process-scheduling.d -c 'COMMAND...'
 *
 * FIELDS
 *     Schedule          the process begins to run on this thread: its future is polled,
 *                       or its closure is called
 *     Unschedule        the poll, or the call, has ended
 *     pid               pid of the process
 *     mfa               the path of its function; {{closure}} stands for each block or
 *                       closure in it
 *     polled            how long it ran, in nanoseconds
 *     outcome           pending (it waits), ready (it has ended), or panic;
 *                       ended, for a task that dyntrace did not start
 *
 * CAVEATS
 *     A process that polls another, as with dyntrace::process::child, runs meanwhile:
 *     the lines of the inner one lie between its own.
 *     Each poll has two lines: of a busy server they are many.
 *     Strings are cut after 511 bytes. Control characters are not escaped.
 *     Each processor has its own buffer, so lines from different processors may
 *     be out of order. When its buffers are full DTrace drops events and prints the
 *     count on standard error.
 */

#pragma D option quiet
#pragma D option strsize=512
#pragma D option bufsize=16m
#pragma D option switchrate=50hz

dyntrace$target:::process-scheduled
{
	printf("  Schedule pid %s mfa %s\n",
	    arg0 == 0 ? "" : copyinstr(arg0), arg1 == 0 ? "" : copyinstr(arg1));
}

dyntrace$target:::process-unscheduled
{
	printf("Unschedule pid %s polled %d ns outcome %s\n",
	    arg0 == 0 ? "" : copyinstr(arg0), arg1, arg2 == 0 ? "" : copyinstr(arg2));
}
