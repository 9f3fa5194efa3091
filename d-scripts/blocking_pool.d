/*
 * blocking_pool.d - jobs of the blocking pool: time in the queue, and time of running.
 *
 * Answers: which functions keep the threads of the blocking pool, and for how long do
 * jobs wait for one? How long did the queue get? Which jobs were cancelled, panicked, or
 * have not ended? At its end the script prints a line for each function and the place
 * that started it, the busiest last.
 *
 * USAGE
 *     dyntrace run --tracer dtrace blocking_pool -- COMMAND...
 *     dtrace -s blocking_pool.d -p PID
 *     dtrace -s blocking_pool.d -c 'COMMAND...'
 *
 * FIELDS
 *     busy_us           sum of the times of jobs that ended, from the call of the closure
 *                       to its end, in microseconds
 *     jobs              these jobs
 *     mean_us, max_us   average and maximum time of these
 *     <1us ... more     histogram: jobs that took less than this, and at least the bound
 *                       of the column to the left
 *     panicked          those of these jobs that panicked
 *     running           jobs that run when the script ends
 *     taken             jobs that a thread took
 *     queue_us          average time of these in the queue, in microseconds
 *     queue_max         the longest of these times
 *     length            the longest queue after one of the jobs was added, with the jobs
 *                       of other functions
 *     cancelled         jobs that were dropped before a thread took them
 *     queued            jobs that wait for a thread when the script ends
 *     function          path of the function; {{closure}} stands for each block or
 *                       closure in it
 *     place             the call that started the job, as file:line
 *
 * CAVEATS
 *     Jobs are the closures of dyntrace::spawn_blocking and of JoinSetExt. A program that
 *     calls tokio's spawn_blocking has other jobs in the same queue.
 *     A job that was added before the script began is not counted, only its part of
 *     `length`.
 *     Functions and places are cut after 199 bytes. Control characters are not escaped
 *     (dyntrace run escapes them).
 *     When its buffers are full DTrace drops events and prints the count on standard
 *     error.
 */

#pragma D option quiet
#pragma D option strsize=200
#pragma D option bufsize=16m
#pragma D option switchrate=50hz
#pragma D option dynvarsize=16m

BEGIN
{
	/* DTrace must know the type of a variable before its first read. */
	place_of[pid, ""] = "";
	job_place[pid, ""] = "";
}

dyntrace$target:::process-spawn
{
	this->proc = arg0 == 0 ? "" : copyinstr(arg0);
	place_of[pid, this->proc] = arg3 == 0 ? "" : copyinstr(arg3);
	has_place[pid, this->proc] = arg3 != 0;
}

dyntrace$target:::process-exit
{
	this->proc = arg0 == 0 ? "" : copyinstr(arg0);
	has_place[pid, this->proc] = 0;
	place_of[pid, this->proc] = 0;
}

dyntrace$target:::blocking-add
{
	this->proc = arg0 == 0 ? "" : copyinstr(arg0);
	this->function = arg1 == 0 ? "" : copyinstr(arg1);
	this->place = has_place[pid, this->proc] ? place_of[pid, this->proc] : "";
	job_place[pid, this->proc] = this->place;
	queued_at[pid, this->proc] = timestamp;
	@busy_us[this->function, this->place] = sum(0);
	@length[this->function, this->place] = max(arg2);
	@queued[this->function, this->place] = sum(queued_at[pid, this->proc] != 0);
}

dyntrace$target:::blocking-get
{
	this->proc = arg0 == 0 ? "" : copyinstr(arg0);
	this->since = queued_at[pid, this->proc];
	queued_at[pid, this->proc] = 0;
}

dyntrace$target:::blocking-get
/this->since != 0/
{
	this->function = arg1 == 0 ? "" : copyinstr(arg1);
	this->place = job_place[pid, this->proc];
	this->took = (timestamp - this->since) / 1000;
	@queued[this->function, this->place] = sum(-1);
	@taken[this->function, this->place] = count();
	@queue_us[this->function, this->place] = avg(this->took);
	@queue_max[this->function, this->place] = max(this->took);
	/* DTrace leaves a clause at a variable that it has no room for. */
	began_at[pid, this->proc] = timestamp;
	@running[this->function, this->place] = sum(began_at[pid, this->proc] != 0);
}

dyntrace$target:::blocking-done
{
	this->proc = arg0 == 0 ? "" : copyinstr(arg0);
	this->function = arg1 == 0 ? "" : copyinstr(arg1);
	this->queued = queued_at[pid, this->proc];
	this->since = began_at[pid, this->proc];
	queued_at[pid, this->proc] = 0;
	began_at[pid, this->proc] = 0;
}

dyntrace$target:::blocking-done
/this->queued != 0/
{
	this->place = job_place[pid, this->proc];
	job_place[pid, this->proc] = 0;
	@queued[this->function, this->place] = sum(-1);
	@cancelled[this->function, this->place] = count();
}

dyntrace$target:::blocking-done
/this->since != 0/
{
	this->place = job_place[pid, this->proc];
	job_place[pid, this->proc] = 0;
	this->took = timestamp - this->since;
	@running[this->function, this->place] = sum(-1);
	@busy_us[this->function, this->place] = sum(this->took);
	@jobs[this->function, this->place] = count();
	@mean_us[this->function, this->place] = avg(this->took);
	@max_us[this->function, this->place] = max(this->took / 1000);
	@below_1us[this->function, this->place] = sum(this->took < 1000);
	@below_4us[this->function, this->place] = sum(this->took >= 1000 && this->took < 4000);
	@below_16us[this->function, this->place] = sum(this->took >= 4000 && this->took < 16000);
	@below_64us[this->function, this->place] = sum(this->took >= 16000 && this->took < 64000);
	@below_256us[this->function, this->place] = sum(this->took >= 64000 && this->took < 256000);
	@below_1ms[this->function, this->place] = sum(this->took >= 256000 && this->took < 1000000);
	@below_4ms[this->function, this->place] = sum(this->took >= 1000000 && this->took < 4000000);
	@below_16ms[this->function, this->place] = sum(this->took >= 4000000 && this->took < 16000000);
	@below_64ms[this->function, this->place] = sum(this->took >= 16000000 && this->took < 64000000);
	@below_256ms[this->function, this->place] = sum(this->took >= 64000000 && this->took < 256000000);
	@below_1s[this->function, this->place] = sum(this->took >= 256000000 && this->took < 1000000000);
	@more[this->function, this->place] = sum(this->took >= 1000000000);
	@panicked[this->function, this->place] = sum(arg3 != 0 && copyinstr(arg3) == "panic");
}

END
{
	printf("%10s %8s %9s %9s %6s %6s %6s %6s %6s %6s %6s %6s %6s %6s %6s %6s %8s %7s %8s %9s %9s %6s %9s %6s  %s\n",
	    "busy_us", "jobs", "mean_us", "max_us",
	    "<1us", "<4us", "<16us", "<64us", "<256us", "<1ms",
	    "<4ms", "<16ms", "<64ms", "<256ms", "<1s", "more",
	    "panicked", "running", "taken", "queue_us", "queue_max", "length", "cancelled", "queued",
	    "function | place");
	normalize(@busy_us, 1000);
	normalize(@mean_us, 1000);
	printa("%@10d %@8d %@9d %@9d %@6d %@6d %@6d %@6d %@6d %@6d %@6d %@6d %@6d %@6d %@6d %@6d %@8d %@7d %@8d %@9d %@9d %@6d %@9d %@6d  %s | %s\n",
	    @busy_us, @jobs, @mean_us, @max_us,
	    @below_1us, @below_4us, @below_16us, @below_64us, @below_256us, @below_1ms,
	    @below_4ms, @below_16ms, @below_64ms, @below_256ms, @below_1s, @more,
	    @panicked, @running, @taken, @queue_us, @queue_max, @length, @cancelled, @queued);
}
