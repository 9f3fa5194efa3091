/*
 * user-probe.d - the application's own events, p!(...).
 *
 * USAGE
 *     dyntrace run --tracer dtrace user-probe -- COMMAND...
 *     dtrace -s user-probe.d -p PID
 *     dtrace -s user-probe.d -c 'COMMAND...'
 *
 * FIELDS
 *     user_trace s1     an event of one string
 *     user_trace i4s4   an event of up to four integers and four strings: pid of
 *                       the process, its user tag (empty if it has none), the
 *                       integers (0 if not given), the strings (empty if not given)
 *
 * CAVEATS
 *     An empty string and an absent one look the same.
 *     Strings are cut after 511 bytes. Control characters are not escaped.
 *     macOS on Apple silicon: DTrace has five arguments. The fourth integer and the strings
 *     of i4s4 come from registers; each reads `?` if the registers cannot be read.
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
inline int64_t a7 = has_five ? uregs[7] : arg7;
inline int64_t a8 = has_five ? uregs[8] : arg8;
inline int64_t a9 = has_five ? uregs[9] : arg9;

dyntrace$target:::user_trace-s1
{
	printf("user_trace s1 | %s\n",
	    arg0 == 0 ? "" : copyinstr(arg0));
}

dyntrace$target:::user_trace-i4s4
{
	printf("user_trace i4s4 %s user tag %s | %d %d %d %s | %s | %s | %s | %s\n",
	    arg0 == 0 ? "" : copyinstr(arg0),
	    arg1 == 0 ? "" : copyinstr(arg1),
	    arg2, arg3, arg4, has_all ? lltostr(a5) : "?",
	    !has_all ? "?" : a6 == 0 ? "" : copyinstr(a6),
	    !has_all ? "?" : a7 == 0 ? "" : copyinstr(a7),
	    !has_all ? "?" : a8 == 0 ? "" : copyinstr(a8),
	    !has_all ? "?" : a9 == 0 ? "" : copyinstr(a9));
}
