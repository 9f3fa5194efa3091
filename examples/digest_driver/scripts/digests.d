/*
 * digests.d - all operations of the digest driver, from entry to return.
 *
 * The tag {thread,number} names an operation: the thread that submitted it, and
 * that thread's number for it. All lines of the operation have this tag: its
 * entry, start and end of the job on an I/O thread, and its return.
 *
 * USAGE
 *     dyntrace run examples/digest_driver/scripts/digests.d -- target/release/digest_driver ci
 *     dtrace -s digests.d -p PID
 *     dtrace -s digests.d -c 'COMMAND...'
 *
 * FIELDS
 *     digest_drv enter  the driver accepted an operation
 *     async I/O worker  an I/O thread started (int_entry) or ended (int_return)
 *                       the job
 *     digest_drv return the driver returned the result: bytes in the digest, and
 *                       `ok` or the error
 *     tag={T,N}         the operation: thread and number
 *     user tag          the user tag of the submitting task; empty if it has none
 *     SHA256 (1)        the command and its number
 *     port              the port of the driver
 *
 * CAVEATS
 *     Control characters in names are not escaped.
 *     Each processor has its own buffer, so lines from different processors may
 *     be out of order.
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
