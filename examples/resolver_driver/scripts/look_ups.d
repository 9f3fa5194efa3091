/*
 * look_ups.d - look-ups of names by user tag, with their times.
 *
 * Prints one line for each look-up when it returns. The probes of a look-up have
 * the same tag {thread,number}; the script keeps their times under that tag.
 *
 * USAGE
 *     dyntrace run examples/resolver_driver/scripts/look_ups.d -- target/release/resolver_driver localhost
 *     dtrace -s look_ups.d -p PID
 *     dtrace -s look_ups.d -c 'COMMAND...'
 *
 * FIELDS
 *     req-1        the user tag of the submitting task; empty if it has none
 *     ANY (1)      the command and its number
 *     localhost    the name that was looked up
 *     queue        time until an I/O thread started the look-up
 *     work         time of the look-up on the I/O thread
 *     answer       time until the task took the answer
 *     never ran    the look-up was dropped before an I/O thread took it
 *     last field   `ok` or the error
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
	op_map[1] = "ANY";
	op_map[2] = "IPV4";
	op_map[3] = "IPV6";
}

resolver$target:::resolver_drv-entry
{
	name[arg0, arg1] = copyinstr(arg4);
	entered[arg0, arg1] = timestamp;
}

resolver$target:::resolver_drv-int_entry
{
	begun[arg0, arg1] = timestamp;
}

resolver$target:::resolver_drv-int_return
{
	ended[arg0, arg1] = timestamp;
}

resolver$target:::resolver_drv-return
/begun[arg0, arg1] == 0/
{
	printf("%s | %s (%d) %s | %d addresses | never ran | %s\n",
	    arg2 == 0 ? "" : copyinstr(arg2),
	    op_map[arg3], arg3, name[arg0, arg1], arg5,
	    arg6 == 0 ? "ok" : copyinstr(arg6));
}

resolver$target:::resolver_drv-return
/begun[arg0, arg1] != 0/
{
	printf("%s | %s (%d) %s | %d addresses | queue %d us, work %d us, answer %d us | %s\n",
	    arg2 == 0 ? "" : copyinstr(arg2),
	    op_map[arg3], arg3, name[arg0, arg1], arg5,
	    (begun[arg0, arg1] - entered[arg0, arg1]) / 1000,
	    (ended[arg0, arg1] - begun[arg0, arg1]) / 1000,
	    (timestamp - ended[arg0, arg1]) / 1000,
	    arg6 == 0 ? "ok" : copyinstr(arg6));
}

resolver$target:::resolver_drv-return
{
	name[arg0, arg1] = 0;
	entered[arg0, arg1] = 0;
	begun[arg0, arg1] = 0;
	ended[arg0, arg1] = 0;
}
