/*
 * efile_drv.d - all operations of the file driver, from entry to return.
 *
 * The tag {thread,number} names an operation: the thread that submitted it, and
 * that thread's number for it. All lines of the operation have this tag: its
 * entry, start and end of the job on an I/O thread, and its return.
 *
 * USAGE
 *     dyntrace run --tracer dtrace efile_drv -- COMMAND...
 *     dtrace -s efile_drv.d -p PID
 *     dtrace -s efile_drv.d -c 'COMMAND...'
 *
 * FIELDS
 *     efile_drv enter   the driver accepted an operation
 *     async I/O worker  a thread started (int_entry) or ended (int_return) the
 *                       work: an I/O thread, or the calling thread
 *     efile_drv return  the driver returned the result
 *     tag={T,N}         the operation: thread and number
 *     user tag          the user tag of the submitting task; empty if it has none
 *     RENAME (12)       the command and its number
 *     args: S1 S2 , I1 I2
 *                       the two strings and the first two integers of the command
 *                       (table: documentation of dyntrace::efile); an absent
 *                       string is empty
 *     port              the port of the operation: one for each open file, one for
 *                       all operations on paths
 *     errno             errno of a failure, else 0
 *
 * CAVEATS
 *     The third and fourth integer of the command are not shown.
 *     Strings are cut after 511 bytes. Control characters are not escaped.
 *     Each processor has its own buffer, so lines from different processors may
 *     be out of order. When its buffers are full DTrace drops events and prints the
 *     count on standard error.
 *     Linux: DTrace has ten arguments and the port is the eleventh. It reads `?`.
 *     macOS on Apple silicon: DTrace has five arguments. S2, I1, I2, the port and errno
 *     come from registers; each reads `?` if the registers cannot be read.
 *     illumos, FreeBSD, macOS on Intel: all fields.
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
inline int64_t a7 = has_five ? uregs[7] : arg7;

/*
 * The eleventh argument: on Intel's processors the fifth word of the stack, where the program leaves it. (uregs[17] is the
 * stack pointer on illumos, FreeBSD and macOS. A typed args[10] does not compile for several processes.)
 */
inline uint64_t a10 = has_five ? uregs[10] : *(uint64_t *)copyin(uregs[17] + 32, 8);

BEGIN
{
	/* op map: made from efile::Command by tests/scripts.rs */
	op_map[1] = "OPEN";
	op_map[2] = "READ";
	op_map[3] = "LSEEK";
	op_map[4] = "WRITE";
	op_map[5] = "FSTAT";
	op_map[6] = "PWD";
	op_map[7] = "READDIR";
	op_map[8] = "CHDIR";
	op_map[9] = "FSYNC";
	op_map[10] = "MKDIR";
	op_map[11] = "DELETE";
	op_map[12] = "RENAME";
	op_map[13] = "RMDIR";
	op_map[14] = "TRUNCATE";
	op_map[15] = "READ_FILE";
	op_map[16] = "WRITE_INFO";
	op_map[19] = "LSTAT";
	op_map[20] = "READLINK";
	op_map[21] = "LINK";
	op_map[22] = "SYMLINK";
	op_map[23] = "CLOSE";
	op_map[24] = "PWRITEV";
	op_map[25] = "PREADV";
	op_map[26] = "SETOPT";
	op_map[27] = "IPREAD";
	op_map[28] = "ALTNAME";
	op_map[29] = "READ_LINE";
	op_map[30] = "FDATASYNC";
	op_map[31] = "FADVISE";
	op_map[64] = "CANONICALIZE";
	op_map[65] = "COPY";
	op_map[66] = "WRITE_FILE";
	op_map[67] = "MKDIR_ALL";
	op_map[68] = "RMDIR_ALL";
	/* end of op map */
}

dyntrace$target:::efile_drv-entry
{
	printf("efile_drv enter tag={%d,%d} user tag %s | %s (%d) | args: %s %s , %s %s (port %s)\n",
	    arg0, arg1,
	    arg2 == 0 ? "" : copyinstr(arg2),
	    op_map[arg3], arg3,
	    arg4 == 0 ? "" : copyinstr(arg4),
	    !has_all ? "?" : a5 == 0 ? "" : copyinstr(a5),
	    has_all ? lltostr(a6) : "?", has_all ? lltostr(a7) : "?",
	    ECANCELED == 125 || !has_all ? "?" : copyinstr(a10));
}

dyntrace$target:::efile_drv-int_entry
{
	printf("async I/O worker tag={%d,%d} | %s (%d) | efile_drv-int_entry\n",
	    arg0, arg1, op_map[arg2], arg2);
}

dyntrace$target:::efile_drv-int_return
{
	printf("async I/O worker tag={%d,%d} | %s (%d) | efile_drv-int_return\n",
	    arg0, arg1, op_map[arg2], arg2);
}

dyntrace$target:::efile_drv-return
{
	printf("efile_drv return tag={%d,%d} user tag %s | %s (%d) | errno %s\n",
	    arg0, arg1,
	    arg2 == 0 ? "" : copyinstr(arg2),
	    op_map[arg3], arg3, has_all ? lltostr(a5) : "?");
}
