/*
 * messages.d - messages between processes: sent, put into a mailbox, taken out.
 *
 * USAGE
 *     dyntrace run --tracer dtrace messages -- COMMAND...
 *     dtrace -s messages.d -p PID
 *     dtrace -s messages.d -c 'COMMAND...'
 *
 * FIELDS
 *     send              SENDER -> RECEIVER
 *     send-remote       SENDER -> RECEIVER at NODE
 *     queued            the message is in the mailbox of this process
 *     receive           this process took it out
 *     words             size of the message in machine words, without binary data
 *                       that it only refers to
 *     queue             length of the mailbox after the step
 *     token             {label,previous,current} of the sequential trace token;
 *                       zeros if there is none
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
	printf("message send %s -> %s | %d words | token {%d,%d,%d}\n",
	    arg0 == 0 ? "" : copyinstr(arg0),
	    arg1 == 0 ? "" : copyinstr(arg1),
	    arg2, arg3, arg4, arg5);
}

dyntrace$target:::message-send-remote
{
	printf("message send-remote %s -> %s at %s | %d words | token {%d,%d,%d}\n",
	    arg0 == 0 ? "" : copyinstr(arg0),
	    arg2 == 0 ? "" : copyinstr(arg2),
	    arg1 == 0 ? "" : copyinstr(arg1),
	    arg3, arg4, arg5, arg6);
}

dyntrace$target:::message-queued
{
	printf("message queued %s | %d words | queue %d | token {%d,%d,%d}\n",
	    arg0 == 0 ? "" : copyinstr(arg0),
	    arg1, arg2, arg3, arg4, arg5);
}

dyntrace$target:::message-receive
{
	printf("message receive %s | %d words | queue %d | token {%d,%d,%d}\n",
	    arg0 == 0 ? "" : copyinstr(arg0),
	    arg1, arg2, arg3, arg4, arg5);
}
