/*
 * task_latency.d - poll times of each function, and slow polls.
 *
 * Answers: which functions keep their threads, for how long, and for which user tags?
 * How long do new tasks wait for their first poll, and woken ones for the next? Each slow
 * poll is a line as soon as it ends. At its end the script prints a line for each function
 * and user tag, the busiest last.
 *
 * USAGE
 *     dyntrace run --tracer dtrace task_latency -- COMMAND...
 *     dtrace -s task_latency.d -p PID
 *     dtrace -s task_latency.d -c 'COMMAND...'
 *
 * FIELDS
 *     slow              a poll of 10 ms (`slow_ns`) or longer: the pid of its process,
 *                       its time in microseconds, how it ended (pending, ready or panic),
 *                       the function and the user tag
 *
 *     busy_us           sum of the times of all polls, in microseconds
 *     polls             polls that ended; the call of a closure counts as one
 *     mean_us, max_us   average and maximum time of these
 *     slow              those that were slow
 *     <1us ... more     histogram: polls that took less than this, and at least the
 *                       bound of the column to the left
 *     started           processes whose spawn and first poll were both seen
 *     start_us          average time of these from spawn to first poll, in microseconds
 *     start_max         the longest of these times
 *     woken             polls whose wake was seen, by process-wake
 *     wake_us           average time from the first wake since the poll before to such a
 *                       poll, in microseconds
 *     wake_max          the longest of these times
 *     function          path of the function; {{closure}} stands for each block or
 *                       closure in it
 *     user tag          the user tag that the process began with; empty if it has none,
 *                       or if it was spawned before the script began
 *
 * CAVEATS
 *     dyntrace run --slow DURATION sets another bound of slow polls. By hand, add
 *     the number of nanoseconds at the end of the command.
 *     A process that polls another, as with dyntrace::process::child, is busy meanwhile,
 *     too. A poll that began before the script or has not ended is not counted.
 *     Functions and tags are cut after 199 bytes. Control characters are not escaped
 *     (dyntrace run escapes them).
 *     When its buffers are full DTrace drops events and prints the count on standard
 *     error.
 */

#pragma D option quiet
#pragma D option strsize=200
#pragma D option bufsize=16m
#pragma D option switchrate=50hz
#pragma D option dynvarsize=16m
#pragma D option defaultargs

/* A poll of this many nanoseconds or more is slow. */
inline int64_t slow_ns = $1 == 0 ? 10000000 : $1;

BEGIN
{
	/* DTrace must know the type of a variable before its first read. */
	function_of[pid, ""] = "";
	tag_of[pid, ""] = "";
	woken_at[pid, ""] = (uint64_t)0;
}

dyntrace$target:::process-spawn
{
	this->proc = arg0 == 0 ? "" : copyinstr(arg0);
	spawned[pid, this->proc] = timestamp;
	tag_of[pid, this->proc] = arg4 == 0 ? "" : copyinstr(arg4);
	has_tag[pid, this->proc] = arg4 != 0;
}

dyntrace$target:::process-wake
{
	this->proc = arg1 == 0 ? "" : copyinstr(arg1);
	woken_at[pid, this->proc] = woken_at[pid, this->proc] ? woken_at[pid, this->proc] : timestamp;
}

dyntrace$target:::process-scheduled
{
	this->proc = arg0 == 0 ? "" : copyinstr(arg0);
	this->function = arg1 == 0 ? "" : copyinstr(arg1);
	this->tag = has_tag[pid, this->proc] ? tag_of[pid, this->proc] : "";
	this->since = spawned[pid, this->proc];
	spawned[pid, this->proc] = 0;
	this->woken = woken_at[pid, this->proc];
	woken_at[pid, this->proc] = 0;
	@busy_us[this->function, this->tag] = sum(0);
	@started[this->function, this->tag] = sum(this->since != 0);
	@woken[this->function, this->tag] = sum(this->woken != 0);
	/* DTrace leaves a clause at a variable that it has no room for. */
	function_of[pid, this->proc] = this->function;
	is_polled[pid, this->proc] = 1;
}

dyntrace$target:::process-scheduled
/this->since != 0/
{
	this->took = (timestamp - this->since) / 1000;
	@start_us[this->function, this->tag] = avg(this->took);
	@start_max[this->function, this->tag] = max(this->took);
}

dyntrace$target:::process-scheduled
/this->woken != 0/
{
	this->waited = (timestamp - this->woken) / 1000;
	@wake_us[this->function, this->tag] = avg(this->waited);
	@wake_max[this->function, this->tag] = max(this->waited);
}

dyntrace$target:::process-unscheduled
{
	this->proc = arg0 == 0 ? "" : copyinstr(arg0);
	this->is_known = is_polled[pid, this->proc];
	is_polled[pid, this->proc] = 0;
}

dyntrace$target:::process-unscheduled
/this->is_known/
{
	this->function = function_of[pid, this->proc];
	this->tag = has_tag[pid, this->proc] ? tag_of[pid, this->proc] : "";
	@busy_us[this->function, this->tag] = sum(arg1);
	@polls[this->function, this->tag] = count();
	@mean_us[this->function, this->tag] = avg(arg1);
	@max_us[this->function, this->tag] = max(arg1 / 1000);
	@slow[this->function, this->tag] = sum(arg1 >= slow_ns);
	@below_1us[this->function, this->tag] = sum(arg1 < 1000);
	@below_4us[this->function, this->tag] = sum(arg1 >= 1000 && arg1 < 4000);
	@below_16us[this->function, this->tag] = sum(arg1 >= 4000 && arg1 < 16000);
	@below_64us[this->function, this->tag] = sum(arg1 >= 16000 && arg1 < 64000);
	@below_256us[this->function, this->tag] = sum(arg1 >= 64000 && arg1 < 256000);
	@below_1ms[this->function, this->tag] = sum(arg1 >= 256000 && arg1 < 1000000);
	@below_4ms[this->function, this->tag] = sum(arg1 >= 1000000 && arg1 < 4000000);
	@below_16ms[this->function, this->tag] = sum(arg1 >= 4000000 && arg1 < 16000000);
	@below_64ms[this->function, this->tag] = sum(arg1 >= 16000000 && arg1 < 64000000);
	@below_256ms[this->function, this->tag] = sum(arg1 >= 64000000 && arg1 < 256000000);
	@below_1s[this->function, this->tag] = sum(arg1 >= 256000000 && arg1 < 1000000000);
	@more[this->function, this->tag] = sum(arg1 >= 1000000000);
}

dyntrace$target:::process-unscheduled
/this->is_known && arg1 >= slow_ns/
{
	printf("slow: %s polled %d us outcome %s: %s | %s\n",
	    this->proc, arg1 / 1000, arg2 == 0 ? "" : copyinstr(arg2), this->function, this->tag);
}

dyntrace$target:::process-exit
{
	this->proc = arg0 == 0 ? "" : copyinstr(arg0);
	spawned[pid, this->proc] = 0;
	woken_at[pid, this->proc] = 0;
	has_tag[pid, this->proc] = 0;
	function_of[pid, this->proc] = 0;
	tag_of[pid, this->proc] = 0;
}

END
{
	printf("%10s %8s %9s %9s %6s %6s %6s %6s %6s %6s %6s %6s %6s %6s %6s %6s %6s %8s %9s %9s %8s %9s %9s  %s\n",
	    "busy_us", "polls", "mean_us", "max_us", "slow",
	    "<1us", "<4us", "<16us", "<64us", "<256us", "<1ms",
	    "<4ms", "<16ms", "<64ms", "<256ms", "<1s", "more",
	    "started", "start_us", "start_max", "woken", "wake_us", "wake_max", "function | user tag");
	normalize(@busy_us, 1000);
	normalize(@mean_us, 1000);
	printa("%@10d %@8d %@9d %@9d %@6d %@6d %@6d %@6d %@6d %@6d %@6d %@6d %@6d %@6d %@6d %@6d %@6d %@8d %@9d %@9d %@8d %@9d %@9d  %s | %s\n",
	    @busy_us, @polls, @mean_us, @max_us, @slow,
	    @below_1us, @below_4us, @below_16us, @below_64us, @below_256us, @below_1ms,
	    @below_4ms, @below_16ms, @below_64ms, @below_256ms, @below_1s, @more,
	    @started, @start_us, @start_max, @woken, @wake_us, @wake_max);
}
