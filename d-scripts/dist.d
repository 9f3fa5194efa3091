/*
 * dist.d - connections to other nodes: up and down, bytes, waiting senders.
 *
 * USAGE
 *     dyntrace run --tracer dtrace dist -- COMMAND...
 *     dtrace -s dist.d -p PID
 *     dtrace -s dist.d -c 'COMMAND...'
 *
 * FIELDS
 *     monitor           another node came up (nodeup) or went down (nodedown); visible
 *                       or hidden; this node; the reason for nodedown
 *     output            bytes that one write call of this node sent to the other one
 *     busy              this process waits until the connection has room
 *     not busy          the connection has room: the waiting processes go on
 *
 * CAVEATS
 *     Needs the feature dist. A tick is an output of four bytes. Under TLS, bytes are
 *     counted before encryption. A connection that ends while it is busy has a
 *     nodedown and no "not busy".
 *     Strings are cut after 511 bytes. Control characters are not escaped.
 *     Each processor has its own buffer, so lines from different processors may
 *     be out of order. When its buffers are full DTrace drops events and prints the
 *     count on standard error.
 */

#pragma D option quiet
#pragma D option strsize=512
#pragma D option bufsize=16m
#pragma D option switchrate=50hz

dyntrace$target:::dist-monitor
{
	printf("monitor:  %s %s (%s) at %s: %s\n",
	    arg1 == 0 ? "" : copyinstr(arg1),
	    arg2 == 0 ? "" : copyinstr(arg2),
	    arg3 == 0 ? "" : copyinstr(arg3),
	    arg0 == 0 ? "" : copyinstr(arg0),
	    arg4 == 0 ? "" : copyinstr(arg4));
}

dyntrace$target:::dist-output
{
	printf("output:   %s -> %s: %d bytes\n",
	    arg0 == 0 ? "" : copyinstr(arg0),
	    arg2 == 0 ? "" : copyinstr(arg2),
	    arg3);
}

dyntrace$target:::dist-port_busy
{
	printf("busy:     %s -> %s: %s waits\n",
	    arg0 == 0 ? "" : copyinstr(arg0),
	    arg2 == 0 ? "" : copyinstr(arg2),
	    arg3 == 0 ? "" : copyinstr(arg3));
}

dyntrace$target:::dist-port_not_busy
{
	printf("not busy: %s -> %s\n",
	    arg0 == 0 ? "" : copyinstr(arg0),
	    arg2 == 0 ? "" : copyinstr(arg2));
}
