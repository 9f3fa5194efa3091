/*
 * efile_by_tag.d - file operations of each user tag.
 *
 * Answers: how many operations does each user tag ask for, and how long do they take?
 * At its end the script prints a table with a line for each command and user tag.
 *
 * USAGE
 *     dyntrace run --tracer dtrace efile_by_tag -- COMMAND...
 *     dtrace -s efile_by_tag.d -p PID
 *     dtrace -s efile_by_tag.d -c 'COMMAND...'
 *
 * FIELDS
 *     command           the command of the file driver
 *     operations        operations that returned
 *     errors            those that failed
 *     bytes             bytes that they read, wrote or copied
 *     time_us           sum of their times from entry to return, in microseconds;
 *                       overlapping operations count in full
 *     user tag          user tag of the submitting tasks; empty if they have none
 *
 * CAVEATS
 *     Operations submitted before the script began, or still in flight when it ends,
 *     are not counted. If more than 16384 are in flight at once, some are not counted.
 *     Tags are cut after 511 bytes. Control characters are not escaped
 *     (dyntrace run escapes them).
 *     macOS on Apple silicon: DTrace has five arguments, and the bytes come from registers.
 *     If the registers cannot be read, bytes are 0 and their heading is `bytes: ?`.
 *     Linux, illumos, FreeBSD, macOS on Intel: all fields.
 *     When its buffers are full DTrace drops events and prints the count on standard
 *     error.
 */

#pragma D option quiet
#pragma D option strsize=512
#pragma D option bufsize=16m
#pragma D option switchrate=50hz
#pragma D option dynvarsize=16m
#pragma D option aggsortkey

/*
 * macOS on Apple silicon passes five arguments to a script. The program also leaves argument n
 * in register n; the script reads it there if the first five match their registers. (uregs[18]
 * is the stack segment on Intel's processors, always 35.)
 */
inline int has_five = ECANCELED == 89 && uregs[18] != 35;
inline int has_all = !has_five || (uregs[0] == arg0 && uregs[1] == arg1 &&
    uregs[2] == arg2 && uregs[3] == arg3 && uregs[4] == arg4);
inline int64_t a6 = has_five ? uregs[6] : arg6;

int is_unknown;

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
	since[pid, arg0, arg1] = timestamp;
}

dyntrace$target:::efile_drv-return
/since[pid, arg0, arg1]/
{
	this->tag = arg2 == 0 ? "" : copyinstr(arg2);
	@operations[op_map[arg3], this->tag] = count();
	@errors[op_map[arg3], this->tag] = sum(arg4 == 0);
	@bytes[op_map[arg3], this->tag] = sum(has_all ? a6 : 0);
	@time_us[op_map[arg3], this->tag] = sum((timestamp - since[pid, arg0, arg1]) / 1000);
	since[pid, arg0, arg1] = 0;
	is_unknown = is_unknown || !has_all;
}

END
{
	printf("%-13s %10s %8s %14s %12s  %s\n",
	    "command", "operations", "errors", is_unknown ? "bytes: ?" : "bytes", "time_us", "user tag");
	printa("%-13s %@10d %@8d %@14d %@12d  %s\n",
	    @operations, @errors, @bytes, @time_us);
}
