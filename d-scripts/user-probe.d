/*
 * user-probe.d - what the application says through its own events, p!(...).
 *
 * USAGE
 *     dyntrace run --tracer dtrace user-probe -- COMMAND...
 *     dtrace -s user-probe.d -p PID
 *     dtrace -s user-probe.d -c 'COMMAND...'
 *
 * FIELDS
 *     user_trace s1     an event of one string
 *     user_trace i4s4   an event of up to four integers and four strings: pid of
 *                       the process, its user tag (empty if it has none), the
 *                       integers (0 if not given), the strings (empty if not given)
 *
 * CAVEATS
 *     An empty string and an absent one look the same.
 *     Strings are cut after 511 bytes and shown as they are, control characters
 *     included.
 *     Each processor has a buffer of its own: lines from different processors
 *     may be out of order. When events come too fast DTrace drops some and says
 *     how many on standard error.
 */

#pragma D option quiet
#pragma D option strsize=512
#pragma D option bufsize=16m
#pragma D option switchrate=50hz

dyntrace$target:::user_trace-s1
{
	printf("user_trace s1 | %s\n",
	    arg0 == 0 ? "" : copyinstr(arg0));
}

dyntrace$target:::user_trace-i4s4
{
	printf("user_trace i4s4 %s user tag %s | %d %d %d %d | %s | %s | %s | %s\n",
	    arg0 == 0 ? "" : copyinstr(arg0),
	    arg1 == 0 ? "" : copyinstr(arg1),
	    arg2, arg3, arg4, arg5,
	    arg6 == 0 ? "" : copyinstr(arg6),
	    arg7 == 0 ? "" : copyinstr(arg7),
	    arg8 == 0 ? "" : copyinstr(arg8),
	    arg9 == 0 ? "" : copyinstr(arg9));
}
