/*
 * message_latency.d - waiting times and queue lengths of each receiver.
 *
 * Answers: how long do messages wait, and which process falls behind? At its end the
 * script prints a line for each process that received messages, the busiest last.
 *
 * USAGE
 *     dyntrace run --tracer dtrace message_latency -- COMMAND...
 *     dtrace -s message_latency.d -p PID
 *     dtrace -s message_latency.d -c 'COMMAND...'
 *
 * FIELDS
 *     process           process id of the program
 *     receiver          pid of the receiving process in it
 *     messages          messages that it received
 *     timed             those whose send was also seen
 *     mean_us, max_us   average and maximum time of these from send to receive, in
 *                       microseconds
 *     queue_max         the greatest length of its queue after a send or receive
 *     <1us ... more     histogram: messages that took less than this, and at least
 *                       the bound of the column to the left
 *
 * CAVEATS
 *     Messages have no id: each receive is matched with the oldest pending send to that
 *     receiver. Where messages overtake each other, in a selective receive or in two
 *     mailboxes of one process, single times are wrong, not the mean. Messages that were
 *     dropped unreceived make later ones look older.
 *     The time of a message from another node begins when it arrives at this one.
 *     Two sends to one process at once, on two processors, may count as one; then one
 *     message is not timed.
 *     When its buffers are full DTrace drops events and prints the count on standard
 *     error.
 */

#pragma D option quiet
#pragma D option strsize=64
#pragma D option bufsize=16m
#pragma D option switchrate=50hz
#pragma D option dynvarsize=16m

BEGIN
{
	/* DTrace must know the type of a variable before its first read. */
	sent[pid, ""] = 0;
	taken[pid, ""] = 0;
}

dyntrace$target:::message-send
{
	this->sender = arg0 == 0 ? "" : copyinstr(arg0);
	this->receiver = arg1 == 0 ? "" : copyinstr(arg1);
	this->is_sent = this->sender != this->receiver;
	self->is_sent = this->is_sent;
}

dyntrace$target:::message-queued
{
	this->receiver = arg0 == 0 ? "" : copyinstr(arg0);
	@queue_max[pid, this->receiver] = max(arg2);
}

/* A message that a process of this node sends, or another node. It has a number if DTrace has room for that. If DTrace has none for
   the sender's variable, its time begins in the queue. */
dyntrace$target:::message-send,
dyntrace$target:::message-queued
/probename == "message-send" ? self->is_sent == this->is_sent : !self->is_sent/
{
	this->number = sent[pid, this->receiver];
	sent[pid, this->receiver]++;
	since[pid, this->receiver, this->number] = sent[pid, this->receiver] > this->number ? timestamp : 0;
}

dyntrace$target:::message-queued
{
	self->is_sent = 0;
}

dyntrace$target:::message-receive
{
	this->receiver = arg0 == 0 ? "" : copyinstr(arg0);
	this->oldest = taken[pid, this->receiver];
	/* If every known message is still in the queue, this one was sent before the script began. */
	this->is_known = sent[pid, this->receiver] - this->oldest > arg2;
	this->since = this->is_known ? since[pid, this->receiver, this->oldest] : 0;
	/* DTrace had no room for others. */
	this->is_timed = this->since != 0 && this->since <= timestamp;
	@messages[pid, this->receiver] = count();
	@timed[pid, this->receiver] = sum(this->is_timed);
	@queue_max[pid, this->receiver] = max(arg2);
}

dyntrace$target:::message-receive
/this->is_known/
{
	since[pid, this->receiver, this->oldest] = 0;
	taken[pid, this->receiver] = this->oldest + 1;
}

dyntrace$target:::message-receive
/this->is_timed/
{
	this->took = timestamp - this->since;
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
