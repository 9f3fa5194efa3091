/*
 * aio_pool.d - jobs of each I/O thread of the pool, and queue lengths.
 *
 * Answers: do jobs pile up, in which lane, and when? Which I/O threads run them, and
 * is one busier than the others? At its end the script prints a table of the threads
 * that took jobs, the busiest last, and a table of queue lengths, for each second and
 * in total.
 *
 * USAGE
 *     dyntrace run --tracer dtrace aio_pool -- COMMAND...
 *     dtrace -s aio_pool.d -p PID
 *     dtrace -s aio_pool.d -c 'COMMAND...'
 *
 * FIELDS
 *     lane              fast: threads for jobs on cached data
 *                       slow: threads for jobs that wait
 *     worker            name of the thread
 *     thread            the system's number of the thread
 *     jobs              jobs that it took
 *     busy_us           time in jobs of the file driver, in microseconds, including
 *                       waits for a disk or a processor
 *
 *     second            seconds since the first job; `all` is the total
 *     jobs              added: put into a queue
 *                       fast, slow: taken out, by lane
 *     count             number of these jobs
 *     mean, max         average and maximum queue length with the job in it
 *     =1 <8 <64 more    jobs alone in their queue, jobs in a queue of two to seven,
 *                       and so on
 *
 * CAVEATS
 *     Each thread has its own queue. A job cancelled in its queue is still taken out.
 *     While the queues of a pool are full, jobs wait in line first and are added when
 *     there is room; the probes port-busy and port-not_busy mark that time.
 *     Single seconds are shown for the first ten minutes only.
 *     Other drivers have other probes: busy_us is 0 for their jobs.
 *     Linux cuts thread names after 15 bytes. Outside Linux DTrace
 *     shows the name of the program instead.
 */

#pragma D option quiet
#pragma D option strsize=512
#pragma D option bufsize=16m
#pragma D option switchrate=50hz
#pragma D option dynvarsize=16m

uint64_t began;
self uint64_t since;
self int lane;

dyntrace$target:::aio_pool-add,
dyntrace$target:::aio_pool-get
{
	began = began == 0 ? timestamp : began;
}

dyntrace$target:::aio_pool-add
{
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

/* Jobs that share a system call start and end together: one time, from the first start to the last end. */
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
/self->step == 1 && self->since && self->lane/
{
	@busy_us[self->lane == 1 ? "fast" : "slow", execname, tid] = sum((timestamp - self->since + 500) / 1000);
}

dyntrace$target:::efile_drv-int_return
/self->step == 1/
{
	self->step = 0;
	self->since = 0;
	self->lane = 0;
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
