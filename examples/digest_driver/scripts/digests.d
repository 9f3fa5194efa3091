/*
 * digests.d - every operation of the digest driver, from request to answer.
 *
 * An operation is known by its tag {thread,number}: the thread that asked for
 * it, and that thread's number for it. All its lines carry this tag: the
 * request, begin and end of the work on an I/O thread, and the answer.
 *
 * USAGE
 *     dyntrace run examples/digest_driver/scripts/digests.d -- target/release/digest_driver ci
 *     dtrace -s digests.d -p PID
 *     dtrace -s digests.d -c 'COMMAND...'
 *
 * FIELDS
 *     digest_drv enter  the driver accepted an operation
 *     async I/O worker  an I/O thread begins (int_entry) or has ended (int_return)
 *                       the work
 *     digest_drv return the driver answered: how many bytes went into the digest,
 *                       and `ok` or what went wrong
 *     tag={T,N}         which operation: thread and number
 *     user tag          the tag of the task that asked; empty if it has none
 *     SHA256 (1)        the command and its number
 *     port              the port of the driver
 *
 * CAVEATS
 *     Names are shown as they are, control characters included.
 *     Each processor has a buffer of its own: lines from different processors
 *     may be out of order.
 */

#pragma D option quiet
#pragma D option strsize=512
#pragma D option switchrate=50hz

BEGIN
{
	op_map[1] = "SHA256";
	op_map[2] = "SHA512";
}

digest$target:::digest_drv-entry
{
	printf("digest_drv enter tag={%d,%d} user tag %s | %s (%d) | %s (port %s)\n",
	    arg0, arg1,
	    arg2 == 0 ? "" : copyinstr(arg2),
	    op_map[arg3], arg3, copyinstr(arg4), copyinstr(arg5));
}

digest$target:::digest_drv-int_entry
{
	printf("async I/O worker tag={%d,%d} | %s (%d) | digest_drv-int_entry\n",
	    arg0, arg1, op_map[arg2], arg2);
}

digest$target:::digest_drv-int_return
{
	printf("async I/O worker tag={%d,%d} | %s (%d) | digest_drv-int_return\n",
	    arg0, arg1, op_map[arg2], arg2);
}

digest$target:::digest_drv-return
{
	printf("digest_drv return tag={%d,%d} user tag %s | %s (%d) | %d bytes, %s\n",
	    arg0, arg1,
	    arg2 == 0 ? "" : copyinstr(arg2),
	    op_map[arg3], arg3, arg5,
	    arg6 == 0 ? "ok" : copyinstr(arg6));
}
