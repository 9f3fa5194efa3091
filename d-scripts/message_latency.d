/*
 * message_latency.d - how long messages wait, and how long queues get, by receiver.
 *
 * Answers: whose messages wait, and how long; who falls behind? When the script ends
 * it prints a line for each process that received messages, the busiest at its end.
 *
 * USAGE
 *     dyntrace run --tracer dtrace message_latency -- COMMAND...
 *     dtrace -s message_latency.d -p PID
 *     dtrace -s message_latency.d -c 'COMMAND...'
 *
 * FIELDS
 *     process           the number of the program's process
 *     receiver          the process in it that received
 *     messages          how many it received
 *     timed             how many of them were seen on their way
 *     mean_us, max_us   how long these took from send to receive, on average and at
 *                       most, in microseconds
 *     queue_max         the longest that its queue was seen, after a step
 *     <1us ... more     the histogram: how many took less than this, and not less
 *                       than what stands to the left
 *
 * CAVEATS
 *     Messages have no names: each one received is taken for the oldest that was sent
 *     to its receiver. Where they overtake each other, in a selective receive or in
 *     two mailboxes of one process, that changes single times, not the mean. Messages
 *     that were dropped unreceived make later ones look older.
 *     A message of another node is on its way from when it came to this one.
 *     Senders to one process on two processors may count as one message: the other
 *     one is not timed then.
 *     When events come too fast DTrace drops some and says how many on standard
 *     error.
 */

#pragma D option quiet
#pragma D option strsize=64
#pragma D option bufsize=16m
#pragma D option switchrate=50hz
#pragma D option dynvarsize=16m

BEGIN
{
	/* What is read before it is written must be known. */
	sent[pid, ""] = 0;
	taken[pid, ""] = 0;
}

dyntrace$target:::message-send
{
	this->sender = arg0 == 0 ? "" : copyinstr(arg0);
	this->receiver = arg1 == 0 ? "" : copyinstr(arg1);
	self->is_sent = this->sender != this->receiver;
	since[pid, this->receiver, sent[pid, this->receiver]] = timestamp;
	sent[pid, this->receiver]++;
}

dyntrace$target:::message-queued
{
	this->receiver = arg0 == 0 ? "" : copyinstr(arg0);
	@queue_max[pid, this->receiver] = max(arg2);
}

/* Of another node. */
dyntrace$target:::message-queued
/!self->is_sent/
{
	since[pid, this->receiver, sent[pid, this->receiver]] = timestamp;
	sent[pid, this->receiver]++;
}

dyntrace$target:::message-queued
{
	self->is_sent = 0;
}

dyntrace$target:::message-receive
{
	this->receiver = arg0 == 0 ? "" : copyinstr(arg0);
	this->oldest = taken[pid, this->receiver];
	/* If all that are known are still in the queue, this one was sent before the script began. */
	this->is_timed = sent[pid, this->receiver] - this->oldest > arg2;
	@messages[pid, this->receiver] = count();
	@timed[pid, this->receiver] = sum(this->is_timed);
	@queue_max[pid, this->receiver] = max(arg2);
}

dyntrace$target:::message-receive
/this->is_timed/
{
	this->took = timestamp - since[pid, this->receiver, this->oldest];
	since[pid, this->receiver, this->oldest] = 0;
	taken[pid, this->receiver] = this->oldest + 1;
	@mean_us[pid, this->receiver] = avg(this->took / 1000);
	@max_us[pid, this->receiver] = max(this->took / 1000);
	@below_1us[pid, this->receiver] = sum(this->took < 1000);
	@below_4us[pid, this->receiver] = sum(this->took >= 1000 && this->took < 4000);
	@below_16us[pid, this->receiver] = sum(this->took >= 4000 && this->took < 16000);
	@below_64us[pid, this->receiver] = sum(this->took >= 16000 && this->took < 64000);
	@below_256us[pid, this->receiver] = sum(this->took >= 64000 && this->took < 256000);
	@below_1ms[pid, this->receiver] = sum(this->took >= 256000 && this->took < 1000000);
	@below_4ms[pid, this->receiver] = sum(this->took >= 1000000 && this->took < 4000000);
	@below_16ms[pid, this->receiver] = sum(this->took >= 4000000 && this->took < 16000000);
	@below_64ms[pid, this->receiver] = sum(this->took >= 16000000 && this->took < 64000000);
	@below_256ms[pid, this->receiver] = sum(this->took >= 64000000 && this->took < 256000000);
	@below_1s[pid, this->receiver] = sum(this->took >= 256000000 && this->took < 1000000000);
	@more[pid, this->receiver] = sum(this->took >= 1000000000);
}

END
{
	printf("%7s %-12s %9s %9s %9s %9s %9s %6s %6s %6s %6s %6s %6s %6s %6s %6s %6s %6s %6s\n",
	    "process", "receiver", "messages", "timed", "mean_us", "max_us", "queue_max",
	    "<1us", "<4us", "<16us", "<64us", "<256us", "<1ms",
	    "<4ms", "<16ms", "<64ms", "<256ms", "<1s", "more");
	printa("%7d %-12s %@9d %@9d %@9d %@9d %@9d %@6d %@6d %@6d %@6d %@6d %@6d %@6d %@6d %@6d %@6d %@6d %@6d\n",
	    @messages, @timed, @mean_us, @max_us, @queue_max,
	    @below_1us, @below_4us, @below_16us, @below_64us, @below_256us, @below_1ms,
	    @below_4ms, @below_16ms, @below_64ms, @below_256ms, @below_1s, @more);
}
