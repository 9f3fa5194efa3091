/*
 * dist.d - connections to other nodes: up and down, bytes, and where senders wait.
 *
 * USAGE
 *     dyntrace run --tracer dtrace dist -- COMMAND...
 *     dtrace -s dist.d -p PID
 *     dtrace -s dist.d -c 'COMMAND...'
 *
 * FIELDS
 *     monitor           another node came up (nodeup) or went down (nodedown), whether
 *                       it is visible or hidden, this node, and why it went down
 *     output            a write call of this node to that one took so many bytes
 *     busy              this process waits until the connection has room again
 *     not busy          it has room: the processes that waited for it go on
 *
 * CAVEATS
 *     Nodes are those of the feature dist. A tick is an output of four
 *     bytes. Under TLS bytes are counted before encryption. A connection that ends
 *     while it is busy has a nodedown, and no line that it is not busy.
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
