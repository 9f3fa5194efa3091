/*
 * messages.d - messages between processes: sent, put into a mailbox, taken out.
 *
 * USAGE
 *     dyntrace run --tracer dtrace messages -- COMMAND...
 *     dtrace -s messages.d -p PID
 *     dtrace -s messages.d -c 'COMMAND...'
 *
 * FIELDS
 *     send              sender -> receiver (with its node, if that is another one)
 *     queued            the message was put into this process's mailbox
 *     receive           this process took the message out
 *     label, token      label and {previous,current} counts of the sequential trace
 *                       token; zeros if there is none, and -2147483648 for a label
 *                       that is no 32-bit integer
 *     words             size of the message in machine words, without binary data
 *                       that it only refers to
 *     queue len         length of the mailbox after the step
 *
 * CAVEATS
 *     A process that sends to itself has a send line but no queued line.
 *     Strings are cut after 511 bytes. Control characters are not escaped.
 *     macOS on Apple silicon: DTrace has five arguments. The current count of a token, and
 *     the previous one of a send to another node, come from registers; each reads `?` if
 *     the registers cannot be read.
 *     Linux, illumos, FreeBSD, macOS on Intel: all fields.
 *     Each processor has its own buffer, so lines from different processors may
 *     be out of order. When its buffers are full DTrace drops events and prints the
 *     count on standard error.
 */

#pragma D option quiet
#pragma D option strsize=512
#pragma D option bufsize=16m
#pragma D option switchrate=50hz

/*
 * macOS on Apple silicon passes five arguments to a script. The program also leaves argument n
 * in register n; the script reads it there if the first five match their registers. (uregs[18]
 * is the stack segment on Intel's processors, always 35.)
 */
inline int has_five = ECANCELED == 89 && uregs[18] != 35;
inline int has_all = !has_five || (uregs[0] == arg0 && uregs[1] == arg1 &&
    uregs[2] == arg2 && uregs[3] == arg3 && uregs[4] == arg4);
inline int64_t a5 = has_five ? uregs[5] : arg5;
inline int64_t a6 = has_five ? uregs[6] : arg6;

dyntrace$target:::message-send
{
	printf("send:    %s label %d token {%d,%s} -> %s: %d words\n",
	    arg0 == 0 ? "" : copyinstr(arg0), arg3, arg4, has_all ? lltostr(a5) : "?",
	    arg1 == 0 ? "" : copyinstr(arg1), arg2);
}

dyntrace$target:::message-send-remote
{
	printf("send:    %s label %d token {%s,%s} -> %s at %s: %d words\n",
	    arg0 == 0 ? "" : copyinstr(arg0), arg4,
	    has_all ? lltostr(a5) : "?", has_all ? lltostr(a6) : "?",
	    arg2 == 0 ? "" : copyinstr(arg2),
	    arg1 == 0 ? "" : copyinstr(arg1), arg3);
}

dyntrace$target:::message-queued
{
	printf("queued:  %s label %d token {%d,%s}: %d words, queue len %d\n",
	    arg0 == 0 ? "" : copyinstr(arg0), arg3, arg4, has_all ? lltostr(a5) : "?", arg1, arg2);
}

dyntrace$target:::message-receive
{
	printf("receive: %s label %d token {%d,%s}: %d words, queue len %d\n",
	    arg0 == 0 ? "" : copyinstr(arg0), arg3, arg4, has_all ? lltostr(a5) : "?", arg1, arg2);
}
