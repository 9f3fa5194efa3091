/*
 * efile_errors.d - failed operations of the file driver, one line each.
 *
 * Answers: which operation failed, on which file, why, and for which user tag?
 *
 * USAGE
 *     dyntrace run --tracer dtrace efile_errors -- COMMAND...
 *     dtrace -s efile_errors.d -p PID
 *     dtrace -s efile_errors.d -c 'COMMAND...'
 *
 * FIELDS
 *     tag={T,N}         the operation: the submitting thread, and its number for it
 *     user tag          the user tag of the submitting task; empty if it has none
 *     RENAME (12)       the command and its number
 *     ENOENT (2)        the error and its number
 *     args: S1 S2 , I1 I2
 *                       the two strings and the first two integers of the command
 *                       (table: documentation of dyntrace::efile): the path, or I1
 *                       as the number of an open file
 *
 * CAVEATS
 *     Operations submitted before the script began are not shown. If more than 16384
 *     are in flight at once, some are not shown.
 *     Errors that are not file errors have a number and no name.
 *     Strings are cut after 511 bytes. Control characters are not escaped
 *     (dyntrace run escapes them).
 *     macOS on Apple silicon: DTrace has five arguments. The error, S2, I1 and I2 come from
 *     registers; each reads `?` if the registers cannot be read.
 *     Linux, illumos, FreeBSD, macOS on Intel: all fields.
 *     When its buffers are full DTrace drops events and prints the count on standard
 *     error.
 */

#pragma D option quiet
#pragma D option strsize=512
#pragma D option bufsize=16m
#pragma D option switchrate=50hz
#pragma D option dynvarsize=64m

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

	/* errno map: made from the system's numbers by tests/scripts.rs */
	errno_map[EPERM] = "EPERM";
	errno_map[ENOENT] = "ENOENT";
	errno_map[EINTR] = "EINTR";
	errno_map[EIO] = "EIO";
	errno_map[ENXIO] = "ENXIO";
	errno_map[E2BIG] = "E2BIG";
	errno_map[EBADF] = "EBADF";
	errno_map[EAGAIN] = "EAGAIN";
	errno_map[ENOMEM] = "ENOMEM";
	errno_map[EACCES] = "EACCES";
	errno_map[EFAULT] = "EFAULT";
	errno_map[EBUSY] = "EBUSY";
	errno_map[EEXIST] = "EEXIST";
	errno_map[EXDEV] = "EXDEV";
	errno_map[ENODEV] = "ENODEV";
	errno_map[ENOTDIR] = "ENOTDIR";
	errno_map[EISDIR] = "EISDIR";
	errno_map[EINVAL] = "EINVAL";
	errno_map[ENFILE] = "ENFILE";
	errno_map[EMFILE] = "EMFILE";
	errno_map[ENOTTY] = "ENOTTY";
	errno_map[ETXTBSY] = "ETXTBSY";
	errno_map[EFBIG] = "EFBIG";
	errno_map[ENOSPC] = "ENOSPC";
	errno_map[ESPIPE] = "ESPIPE";
	errno_map[EROFS] = "EROFS";
	errno_map[EMLINK] = "EMLINK";
	errno_map[EPIPE] = "EPIPE";
	errno_map[EDOM] = "EDOM";
	errno_map[ERANGE] = "ERANGE";
	errno_map[EDEADLK] = "EDEADLK";
	errno_map[ENAMETOOLONG] = "ENAMETOOLONG";
	errno_map[ENOLCK] = "ENOLCK";
	errno_map[ENOSYS] = "ENOSYS";
	errno_map[ENOTEMPTY] = "ENOTEMPTY";
	errno_map[ELOOP] = "ELOOP";
	errno_map[EOVERFLOW] = "EOVERFLOW";
	errno_map[EILSEQ] = "EILSEQ";
	errno_map[ENOTSUP] = "ENOTSUP";
	errno_map[EOPNOTSUPP] = "EOPNOTSUPP";
	errno_map[ETIMEDOUT] = "ETIMEDOUT";
	errno_map[ESTALE] = "ESTALE";
	errno_map[EDQUOT] = "EDQUOT";
	errno_map[ECANCELED] = "ECANCELED";
	/* end of errno map */
}

dyntrace$target:::efile_drv-entry
{
	s1[pid, arg0, arg1] = arg4 == 0 ? "" : copyinstr(arg4);
	s2[pid, arg0, arg1] = !has_all ? "?" : a5 == 0 ? "" : copyinstr(a5);
	i1[pid, arg0, arg1] = a6;
	i2[pid, arg0, arg1] = a7;
	/* DTrace leaves a clause at a variable that it has no room for: only an operation with all of them gets there. */
	entered[pid, arg0, arg1] = has_all ? 1 : 2;
}

dyntrace$target:::efile_drv-return
/arg4 == 0 && entered[pid, arg0, arg1]/
{
	printf("efile_drv error tag={%d,%d} user tag %s | %s (%d) | %s (%s) | args: %s %s , %s %s\n",
	    arg0, arg1,
	    arg2 == 0 ? "" : copyinstr(arg2),
	    op_map[arg3], arg3, has_all ? errno_map[a5] : "?", has_all ? lltostr(a5) : "?",
	    s1[pid, arg0, arg1], s2[pid, arg0, arg1],
	    entered[pid, arg0, arg1] == 1 ? lltostr(i1[pid, arg0, arg1]) : "?",
	    entered[pid, arg0, arg1] == 1 ? lltostr(i2[pid, arg0, arg1]) : "?");
}

dyntrace$target:::efile_drv-return
{
	entered[pid, arg0, arg1] = 0;
	s1[pid, arg0, arg1] = 0;
	s2[pid, arg0, arg1] = 0;
	i1[pid, arg0, arg1] = 0;
	i2[pid, arg0, arg1] = 0;
}
