/*
 * efile_latency.d - the time of each command in queue, job and delivery.
 *
 * Answers: which commands are slow, and does the time go to the queue, the system
 * call, or the way back to the task? At its end the script prints a table with
 * three lines for each command.
 *
 * USAGE
 *     dyntrace run --tracer dtrace efile_latency -- COMMAND...
 *     dtrace -s efile_latency.d -p PID
 *     dtrace -s efile_latency.d -c 'COMMAND...'
 *
 * FIELDS
 *     command           the command of the file driver
 *     phase             in queue: from entry to int_entry, until a thread started (the
 *                       last int_entry, if an inline attempt missed)
 *                       service: from int_entry to int_return, the work itself
 *                       to answer: from int_return to return, until the task got the
 *                       result
 *     count             operations that went through this phase
 *     mean_us           their average time in this phase, in microseconds
 *     <1us ... more     histogram: operations that took less than this, and at least
 *                       the bound of the column to the left
 *
 * CAVEATS
 *     Operations submitted before the script began are not counted, nor phases after
 *     a lost event. If more than 16384 operations are in flight at once, some are not
 *     counted. One cancelled before its job started went through no phase.
 *     When its buffers are full DTrace drops events and prints the count on standard
 *     error.
 */

#pragma D option quiet
#pragma D option strsize=512
#pragma D option bufsize=16m
#pragma D option switchrate=50hz
#pragma D option dynvarsize=16m
#pragma D option aggsortkey

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
	/* Only an operation whose time has room gets to the next step. */
	since[pid, arg0, arg1] = timestamp;
	step[pid, arg0, arg1] = since[pid, arg0, arg1] != 0;
}

dyntrace$target:::efile_drv-int_entry
/step[pid, arg0, arg1] == 1 || step[pid, arg0, arg1] == 2/
{
	started[pid, arg0, arg1] = timestamp;
	step[pid, arg0, arg1] = started[pid, arg0, arg1] != 0 ? 2 : 0;
}

dyntrace$target:::efile_drv-int_return
/step[pid, arg0, arg1] == 2/
{
	this->phase = "in queue";
	this->took = started[pid, arg0, arg1] - since[pid, arg0, arg1];
	this->command = arg2;
}

dyntrace$target:::efile_drv-int_return
/step[pid, arg0, arg1] == 2/
{
	@count[op_map[this->command], this->phase] = count();
	@mean_us[op_map[this->command], this->phase] = avg(this->took / 1000);
	@below_1us[op_map[this->command], this->phase] = sum(this->took < 1000);
	@below_4us[op_map[this->command], this->phase] = sum(this->took >= 1000 && this->took < 4000);
	@below_16us[op_map[this->command], this->phase] = sum(this->took >= 4000 && this->took < 16000);
	@below_64us[op_map[this->command], this->phase] = sum(this->took >= 16000 && this->took < 64000);
	@below_256us[op_map[this->command], this->phase] = sum(this->took >= 64000 && this->took < 256000);
	@below_1ms[op_map[this->command], this->phase] = sum(this->took >= 256000 && this->took < 1000000);
	@below_4ms[op_map[this->command], this->phase] = sum(this->took >= 1000000 && this->took < 4000000);
	@below_16ms[op_map[this->command], this->phase] = sum(this->took >= 4000000 && this->took < 16000000);
	@below_64ms[op_map[this->command], this->phase] = sum(this->took >= 16000000 && this->took < 64000000);
	@below_256ms[op_map[this->command], this->phase] = sum(this->took >= 64000000 && this->took < 256000000);
	@below_1s[op_map[this->command], this->phase] = sum(this->took >= 256000000 && this->took < 1000000000);
	@more[op_map[this->command], this->phase] = sum(this->took >= 1000000000);
}

dyntrace$target:::efile_drv-int_return,
dyntrace$target:::efile_drv-return
{
	this->phase = "";
}

dyntrace$target:::efile_drv-int_return
/step[pid, arg0, arg1] == 2/
{
	this->phase = "service";
	this->took = timestamp - started[pid, arg0, arg1];
	step[pid, arg0, arg1] = 3;
	since[pid, arg0, arg1] = timestamp;
}

dyntrace$target:::efile_drv-return
/step[pid, arg0, arg1] == 3/
{
	this->phase = "to answer";
	this->took = timestamp - since[pid, arg0, arg1];
	this->command = arg3;
}

dyntrace$target:::efile_drv-return
{
	step[pid, arg0, arg1] = 0;
	since[pid, arg0, arg1] = 0;
	started[pid, arg0, arg1] = 0;
}

dyntrace$target:::efile_drv-int_return,
dyntrace$target:::efile_drv-return
/this->phase != ""/
{
	@count[op_map[this->command], this->phase] = count();
	@mean_us[op_map[this->command], this->phase] = avg(this->took / 1000);
	@below_1us[op_map[this->command], this->phase] = sum(this->took < 1000);
	@below_4us[op_map[this->command], this->phase] = sum(this->took >= 1000 && this->took < 4000);
	@below_16us[op_map[this->command], this->phase] = sum(this->took >= 4000 && this->took < 16000);
	@below_64us[op_map[this->command], this->phase] = sum(this->took >= 16000 && this->took < 64000);
	@below_256us[op_map[this->command], this->phase] = sum(this->took >= 64000 && this->took < 256000);
	@below_1ms[op_map[this->command], this->phase] = sum(this->took >= 256000 && this->took < 1000000);
	@below_4ms[op_map[this->command], this->phase] = sum(this->took >= 1000000 && this->took < 4000000);
	@below_16ms[op_map[this->command], this->phase] = sum(this->took >= 4000000 && this->took < 16000000);
	@below_64ms[op_map[this->command], this->phase] = sum(this->took >= 16000000 && this->took < 64000000);
	@below_256ms[op_map[this->command], this->phase] = sum(this->took >= 64000000 && this->took < 256000000);
	@below_1s[op_map[this->command], this->phase] = sum(this->took >= 256000000 && this->took < 1000000000);
	@more[op_map[this->command], this->phase] = sum(this->took >= 1000000000);
}

END
{
	printf("%-13s %-9s %7s %9s %6s %6s %6s %6s %6s %6s %6s %6s %6s %6s %6s %6s\n",
	    "command", "phase", "count", "mean_us",
	    "<1us", "<4us", "<16us", "<64us", "<256us", "<1ms",
	    "<4ms", "<16ms", "<64ms", "<256ms", "<1s", "more");
	printa("%-13s %-9s %@7d %@9d %@6d %@6d %@6d %@6d %@6d %@6d %@6d %@6d %@6d %@6d %@6d %@6d\n",
	    @count, @mean_us,
	    @below_1us, @below_4us, @below_16us, @below_64us, @below_256us, @below_1ms,
	    @below_4ms, @below_16ms, @below_64ms, @below_256ms, @below_1s, @more);
}
