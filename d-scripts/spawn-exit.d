/*
 * spawn-exit.d - processes that start and end, with the reason of the end.
 *
 * USAGE
 *     dyntrace run --tracer dtrace spawn-exit -- COMMAND...
 *     dtrace -s spawn-exit.d -p PID
 *     dtrace -s spawn-exit.d -c 'COMMAND...'
 *
 * FIELDS
 *     pid               pid of the process: a task or closure that one of dyntrace's
 *                       functions started
 *     mfa               the path of its function; {{closure}} stands for each block or
 *                       closure in it
 *     parent            pid of the process that started it
 *     place             the call that started it
 *     user tag          the user tag that it begins with; empty if it has none
 *     reason            normal, cancelled (dropped before its end), or panic;
 *                       ended, for a task that dyntrace did not start
 *
 * CAVEATS
 *     Of a panic the text is in the reason only while another tracer looks at the
 *     probes process-scheduled or process-unscheduled.
 *     A process that started before the script began has an exit line only.
 *     Strings are cut after 511 bytes. Control characters are not escaped.
 *     Each processor has its own buffer, so lines from different processors may
 *     be out of order. When its buffers are full DTrace drops events and prints the
 *     count on standard error.
 */

#pragma D option quiet
#pragma D option strsize=512
#pragma D option bufsize=16m
#pragma D option switchrate=50hz

dyntrace$target:::process-spawn
{
	printf("pid %s mfa %s parent %s place %s user tag %s\n",
	    arg0 == 0 ? "" : copyinstr(arg0),
	    arg1 == 0 ? "" : copyinstr(arg1),
	    arg2 == 0 ? "" : copyinstr(arg2),
	    arg3 == 0 ? "" : copyinstr(arg3),
	    arg4 == 0 ? "" : copyinstr(arg4));
}

dyntrace$target:::process-exit
{
	printf("pid %s reason %s\n",
	    arg0 == 0 ? "" : copyinstr(arg0), arg1 == 0 ? "" : copyinstr(arg1));
}
