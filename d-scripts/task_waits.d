/*
 * task_waits.d - what tasks wait for, for how long, and which tasks wait.
 *
 * Answers: where do tasks wait, for which locks, channels and timers, and for how long?
 * Which waits are given up, and which still last? At its end the script prints three
 * tables, the longest waits last: a line for each kind and place of a wait, one for each
 * resource, and one for each function and user tag.
 *
 * USAGE
 *     dyntrace run --tracer dtrace task_waits -- COMMAND...
 *     dtrace -s task_waits.d -p PID
 *     dtrace -s task_waits.d -c 'COMMAND...'
 *
 * FIELDS
 *     waits             waits that ended, those that still last, and those that began
 *                       when DTrace had no memory to follow them: they count only if
 *                       they end
 *
 *     waited_us         sum of the times of waits that ended, from the first poll that
 *                       returned pending to the end, in microseconds
 *     waits             these waits
 *     mean_us, max_us   average and maximum time of these
 *     <1us ... more     histogram: waits that took less than this, and at least the bound
 *                       of the column to the left
 *     cancelled         those of these waits whose future was dropped meanwhile
 *     panicked          those whose future panicked
 *     waiting           waits that began and have not ended when the script ends
 *     kind              type and operation, as Mutex::lock or time::sleep; wait for
 *                       dyntrace::wait
 *     place             the call that made the future, as file:line
 *     process           process id of the program
 *     resource          number of the resource in it, as #Ref<0.N>; the name given to
 *                       dyntrace::wait; timer; or the pid of the process that is waited
 *                       for: for its end, or for room in its mailbox
 *     function          path of the function of the process that waits; {{closure}} stands
 *                       for each block or closure in it. The pid of the process if its
 *                       spawn was not seen: it began before the script, or it is a thread
 *     user tag          the user tag that the process began with; empty if it has none,
 *                       or if its spawn was not seen
 *
 * CAVEATS
 *     A wait that began before the script counts when it ends, with its whole time.
 *     The tables of resources and of functions have a line for each of the first 1000;
 *     further ones are `others`.
 *     With --tag, a wait that outlasts its process counts as waiting.
 *     Strings are cut after 199 bytes. Control characters are not escaped (dyntrace run
 *     escapes them).
 *     macOS on Apple silicon: DTrace has five arguments. The place of a wait that ended
 *     comes from a register. If that cannot be read, the place is `?`, and the `waiting`
 *     of its line is negative.
 *     When its buffers are full DTrace drops events and prints the count on standard
 *     error.
 */

#pragma D option quiet
#pragma D option strsize=200
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

BEGIN
{
	/* DTrace must know the type of a variable before its first read. */
	function_of[pid, ""] = "";
	tag_of[pid, ""] = "";
	lasting[pid, "", ""] = 0;
	is_resource[pid, "", ""] = 0;
	is_waiter[pid, "", ""] = 0;
	resources = 0;
	waiters = 0;
	@ended = sum(0);
	@last = sum(0);
	@unfollowed = sum(0);
}

dyntrace$target:::process-spawn
{
	this->proc = arg0 == 0 ? "" : copyinstr(arg0);
	function_of[pid, this->proc] = arg1 == 0 ? "" : copyinstr(arg1);
	has_function[pid, this->proc] = arg1 != 0;
	tag_of[pid, this->proc] = arg4 == 0 ? "" : copyinstr(arg4);
	has_tag[pid, this->proc] = arg4 != 0;
}

dyntrace$target:::process-exit
{
	this->proc = arg0 == 0 ? "" : copyinstr(arg0);
	has_function[pid, this->proc] = 0;
	function_of[pid, this->proc] = 0;
	has_tag[pid, this->proc] = 0;
	tag_of[pid, this->proc] = 0;
}

dyntrace$target:::process-wait
{
	this->proc = arg0 == 0 ? "" : copyinstr(arg0);
	this->name = arg1 == 0 ? "" : copyinstr(arg1);
	/* DTrace leaves a clause at a variable that it has no room for, and the next clause keeps the values of an earlier event. */
	this->is_followed = 0;
	@unfollowed = sum(1);
	lasting[pid, this->proc, this->name]++;
	this->is_followed = lasting[pid, this->proc, this->name] > 0;
	@unfollowed = sum(this->is_followed ? -1 : 0);
}

dyntrace$target:::process-wait
/this->is_followed/
{
	this->kind = arg2 == 0 ? "" : copyinstr(arg2);
	this->place = arg3 == 0 ? "" : copyinstr(arg3);
	this->is_known = is_resource[pid, this->name, this->kind];
	this->resource = this->is_known || resources < 1000 ? this->name : "others";
	resources += !this->is_known && resources < 1000;
	@last = sum(1);
	@waited_us[this->kind, this->place] = sum(0);
	@waiting[this->kind, this->place] = sum(1);
	@resource_us[pid, this->resource, this->kind] = sum(0);
	@resource_waiting[pid, this->resource, this->kind] = sum(1);
	is_resource[pid, this->resource, this->kind] = 1;
}

dyntrace$target:::process-resume
{
	this->proc = arg0 == 0 ? "" : copyinstr(arg0);
	this->name = arg1 == 0 ? "" : copyinstr(arg1);
	this->outcome = arg3 == 0 ? "" : copyinstr(arg3);
	this->kind = arg4 == 0 ? "" : copyinstr(arg4);
	this->place = !has_all ? "?" : a5 == 0 ? "" : copyinstr(a5);
	@ended = sum(1);
	@waited_us[this->kind, this->place] = sum(arg2);
	@waits[this->kind, this->place] = count();
	@mean_us[this->kind, this->place] = avg(arg2);
	@max_us[this->kind, this->place] = max(arg2 / 1000);
	@below_1us[this->kind, this->place] = sum(arg2 < 1000);
	@below_4us[this->kind, this->place] = sum(arg2 >= 1000 && arg2 < 4000);
	@below_16us[this->kind, this->place] = sum(arg2 >= 4000 && arg2 < 16000);
	@below_64us[this->kind, this->place] = sum(arg2 >= 16000 && arg2 < 64000);
	@below_256us[this->kind, this->place] = sum(arg2 >= 64000 && arg2 < 256000);
	@below_1ms[this->kind, this->place] = sum(arg2 >= 256000 && arg2 < 1000000);
	@below_4ms[this->kind, this->place] = sum(arg2 >= 1000000 && arg2 < 4000000);
	@below_16ms[this->kind, this->place] = sum(arg2 >= 4000000 && arg2 < 16000000);
	@below_64ms[this->kind, this->place] = sum(arg2 >= 16000000 && arg2 < 64000000);
	@below_256ms[this->kind, this->place] = sum(arg2 >= 64000000 && arg2 < 256000000);
	@below_1s[this->kind, this->place] = sum(arg2 >= 256000000 && arg2 < 1000000000);
	@more[this->kind, this->place] = sum(arg2 >= 1000000000);
	@cancelled[this->kind, this->place] = sum(this->outcome == "cancelled");
	@panicked[this->kind, this->place] = sum(this->outcome == "panic");
}

dyntrace$target:::process-resume
{
	this->is_known = is_resource[pid, this->name, this->kind];
	this->resource = this->is_known || resources < 1000 ? this->name : "others";
	resources += !this->is_known && resources < 1000;
	@resource_us[pid, this->resource, this->kind] = sum(arg2);
	@resource_waits[pid, this->resource, this->kind] = count();
	@resource_max[pid, this->resource, this->kind] = max(arg2 / 1000);
	is_resource[pid, this->resource, this->kind] = 1;
}

dyntrace$target:::process-resume
{
	this->function = has_function[pid, this->proc] ? function_of[pid, this->proc] : this->proc;
	this->tag = has_tag[pid, this->proc] ? tag_of[pid, this->proc] : "";
	this->is_known = is_waiter[pid, this->function, this->tag];
	this->is_row = this->is_known || waiters < 1000;
	waiters += !this->is_known && waiters < 1000;
	this->function = this->is_row ? this->function : "others";
	this->tag = this->is_row ? this->tag : "";
	@waiter_us[pid, this->function, this->tag] = sum(arg2);
	@waiter_waits[pid, this->function, this->tag] = count();
	@waiter_max[pid, this->function, this->tag] = max(arg2 / 1000);
	is_waiter[pid, this->function, this->tag] = 1;
}

dyntrace$target:::process-resume
/lasting[pid, this->proc, this->name] > 0/
{
	/* Other waits began before the script. */
	lasting[pid, this->proc, this->name]--;
	@last = sum(-1);
	@waiting[this->kind, this->place] = sum(-1);
	@resource_waiting[pid, this->resource, this->kind] = sum(-1);
}

END
{
	printa("waits: %@d ended, %@d last, %@d not followed\n", @ended, @last, @unfollowed);
	printf("\n");
	printf("%10s %8s %9s %9s %6s %6s %6s %6s %6s %6s %6s %6s %6s %6s %6s %6s %9s %8s %7s  %s\n",
	    "waited_us", "waits", "mean_us", "max_us",
	    "<1us", "<4us", "<16us", "<64us", "<256us", "<1ms",
	    "<4ms", "<16ms", "<64ms", "<256ms", "<1s", "more",
	    "cancelled", "panicked", "waiting", "kind | place");
	normalize(@waited_us, 1000);
	normalize(@mean_us, 1000);
	printa("%@10d %@8d %@9d %@9d %@6d %@6d %@6d %@6d %@6d %@6d %@6d %@6d %@6d %@6d %@6d %@6d %@9d %@8d %@7d  %s | %s\n",
	    @waited_us, @waits, @mean_us, @max_us,
	    @below_1us, @below_4us, @below_16us, @below_64us, @below_256us, @below_1ms,
	    @below_4ms, @below_16ms, @below_64ms, @below_256ms, @below_1s, @more,
	    @cancelled, @panicked, @waiting);
	printf("\n");
	printf("%7s %10s %8s %9s %7s  %s\n", "process", "waited_us", "waits", "max_us", "waiting", "resource | kind");
	normalize(@resource_us, 1000);
	printa("%7d %@10d %@8d %@9d %@7d  %s | %s\n", @resource_us, @resource_waits, @resource_max, @resource_waiting);
	printf("\n");
	printf("%7s %10s %8s %9s  %s\n", "process", "waited_us", "waits", "max_us", "function | user tag");
	normalize(@waiter_us, 1000);
	printa("%7d %@10d %@8d %@9d  %s | %s\n", @waiter_us, @waiter_waits, @waiter_max);
}
