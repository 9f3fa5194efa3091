/*
 * aio_pool.d - who works in the pool of I/O threads, and how long its queues are.
 *
 * Answers: does work pile up, in which lane, and when? Which I/O threads do it, and
 * is one of them busier than the others? When the script ends it prints a table of
 * the threads that took jobs, the busiest at its end, and one of queue lengths,
 * second by second and in all.
 *
 * USAGE
 *     dyntrace run --tracer dtrace aio_pool -- COMMAND...
 *     dtrace -s aio_pool.d -p PID
 *     dtrace -s aio_pool.d -c 'COMMAND...'
 *
 * FIELDS
 *     lane              fast, slow: the pool's threads for work in memory, and for
 *                       work that waits
 *     worker            the name of the thread
 *     thread            its number in the system
 *     jobs              how many it took
 *     busy_us           how long the file driver's work kept it, in microseconds, the
 *                       time in which it waited for a disk or a processor included
 *
 *     second            how many seconds after the first job; `all` of them at the end
 *     jobs              added: those that were put into a queue
 *                       fast, slow: those that were taken out, by lane
 *     count             how many
 *     mean, max         how long the queue was with such a job in it: on average, at
 *                       most
 *     =1 <8 <64 more    how many jobs were alone in their queue, how many were two to
 *                       seven there, and so on
 *
 * CAVEATS
 *     Each thread has a queue of its own. A job that was cancelled in its queue is
 *     taken out all the same. Jobs of a pool whose queues were full stand in line
 *     first; they are added when there is room. The probes port-busy and
 *     port-not_busy tell when they do.
 *     Seconds have lines of their own during the first ten minutes; `all` is all.
 *     Drivers of other kinds have probes of their own: for their works busy_us is 0.
 *     Linux cuts the names of threads after 15 bytes. Only there does DTrace know them:
 *     elsewhere the worker is the name of the program.
 */

#pragma D option quiet
#pragma D option strsize=512
#pragma D option bufsize=16m
#pragma D option switchrate=50hz
#pragma D option dynvarsize=16m

uint64_t began;
self uint64_t since;
self int lane;

dyntrace$target:::aio_pool-add
{
	began = began == 0 ? timestamp : began;
	this->jobs = "added";
	this->length = arg1;
}

dyntrace$target:::aio_pool-get
{
	this->jobs = arg2 == 1 ? "fast" : "slow";
	this->length = arg1 + 1;
	@taken[this->jobs, execname, tid] = count();
	@busy_us[this->jobs, execname, tid] = sum(0);
	self->lane = arg2;
	self->step = 1;
}

dyntrace$target:::aio_pool-add,
dyntrace$target:::aio_pool-get
{
	this->second = timestamp > began ? (timestamp - began) / 1000000000 : 0;
	@all_count[this->jobs] = count();
	@all_mean[this->jobs] = avg(this->length);
	@all_max[this->jobs] = max(this->length);
	@all_1[this->jobs] = sum(this->length < 2);
	@all_below_8[this->jobs] = sum(this->length >= 2 && this->length < 8);
	@all_below_64[this->jobs] = sum(this->length >= 8 && this->length < 64);
	@all_more[this->jobs] = sum(this->length >= 64);
}

dyntrace$target:::aio_pool-add,
dyntrace$target:::aio_pool-get
/this->second < 600/
{
	@count[this->second, this->jobs] = count();
	@mean[this->second, this->jobs] = avg(this->length);
	@max[this->second, this->jobs] = max(this->length);
	@length_1[this->second, this->jobs] = sum(this->length < 2);
	@below_8[this->second, this->jobs] = sum(this->length >= 2 && this->length < 8);
	@below_64[this->second, this->jobs] = sum(this->length >= 8 && this->length < 64);
	@more[this->second, this->jobs] = sum(this->length >= 64);
}

/* Works that share a system call begin and end together: the time from the first to the last. */
dyntrace$target:::efile_drv-int_entry
/self->step > 0/
{
	self->since = self->step == 1 ? timestamp : self->since;
	self->step++;
}

dyntrace$target:::efile_drv-int_return
/self->step > 1/
{
	self->step--;
}

dyntrace$target:::efile_drv-int_return
/self->step == 1/
{
	@busy_us[self->lane == 1 ? "fast" : "slow", execname, tid] = sum((timestamp - self->since + 500) / 1000);
	self->step = 0;
}

END
{
	printf("%-5s %-15s %9s %9s %12s\n", "lane", "worker", "thread", "jobs", "busy_us");
	printa("%-5s %-15s %9d %@9d %@12d\n", @taken, @busy_us);
	printf("%6s %-6s %9s %6s %6s %9s %9s %9s %9s\n",
	    "second", "jobs", "count", "mean", "max", "=1", "<8", "<64", "more");
	setopt("aggsortkey");
	printa("%6d %-6s %@9d %@6d %@6d %@9d %@9d %@9d %@9d\n",
	    @count, @mean, @max, @length_1, @below_8, @below_64, @more);
	printa("   all %-6s %@9d %@6d %@6d %@9d %@9d %@9d %@9d\n",
	    @all_count, @all_mean, @all_max, @all_1, @all_below_8, @all_below_64, @all_more);
}
