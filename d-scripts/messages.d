/*
 * messages.d - messages between processes: sent, put into a mailbox, taken out.
 *
 * USAGE
 *     dyntrace run --tracer dtrace messages -- COMMAND...
 *     dtrace -s messages.d -p PID
 *     dtrace -s messages.d -c 'COMMAND...'
 *
 * FIELDS
 *     send              this process sends to that one (at that node, if it is of
 *                       another one)
 *     queued            the message is in the mailbox of this process
 *     receive           this process took it out
 *     label, token      label and {previous,current} counts of the sequential trace
 *                       token; zeros if there is none, and -2147483648 for a label
 *                       that is no 32-bit integer
 *     words             size of the message in machine words, without binary data
 *                       that it only refers to
 *     queue len         length of the mailbox after the step
 *
 * CAVEATS
 *     A process that sends to itself has a send line but no queued line.
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

dyntrace$target:::message-send
{
	printf("send:    %s label %d token {%d,%d} -> %s: %d words\n",
	    arg0 == 0 ? "" : copyinstr(arg0), arg3, arg4, arg5,
	    arg1 == 0 ? "" : copyinstr(arg1), arg2);
}

dyntrace$target:::message-send-remote
{
	printf("send:    %s label %d token {%d,%d} -> %s at %s: %d words\n",
	    arg0 == 0 ? "" : copyinstr(arg0), arg4, arg5, arg6,
	    arg2 == 0 ? "" : copyinstr(arg2),
	    arg1 == 0 ? "" : copyinstr(arg1), arg3);
}

dyntrace$target:::message-queued
{
	printf("queued:  %s label %d token {%d,%d}: %d words, queue len %d\n",
	    arg0 == 0 ? "" : copyinstr(arg0), arg3, arg4, arg5, arg1, arg2);
}

dyntrace$target:::message-receive
{
	printf("receive: %s label %d token {%d,%d}: %d words, queue len %d\n",
	    arg0 == 0 ? "" : copyinstr(arg0), arg3, arg4, arg5, arg1, arg2);
}
