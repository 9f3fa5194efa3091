/*
 * The probes of dyntrace.
 *
 * This file defines their names, arguments, types and meaning. Tools show a
 * double underscore as a hyphen (efile_drv-entry). In Rust the part before it
 * is a module and the part after it a function (probes::efile_drv::entry).
 *
 * A string argument that is absent is a null pointer.
 */
provider dyntrace {

    /* Messages */

    /**
     * A process sends a message to another process of the same program.
     *
     * The size does not include binary data that the message only refers to.
     *
     * Stability: stable, with OTP's name and arguments.
     *
     * @param sender pid of the sender, as "<0.N.0>"
     * @param receiver pid of the receiver, as "<0.N.0>"
     * @param size size of the message, in machine words
     * @param token_label label of the sender's sequential trace token
     * @param token_previous previous count of that token
     * @param token_current current count of that token
     */
    probe message__send(char *sender, char *receiver, uint32_t size,
                        int token_label, int token_previous, int token_current);

    /**
     * A process sends a message to a process of another node.
     *
     * The size does not include binary data that the message only refers to.
     *
     * Stability: stable, with OTP's name and arguments.
     *
     * @param sender pid of the sender, as "<0.N.0>"
     * @param node_name name of the receiver's node
     * @param receiver pid or registered name of the receiver
     * @param size size of the message, in machine words
     * @param token_label label of the sender's sequential trace token
     * @param token_previous previous count of that token
     * @param token_current current count of that token
     */
    probe message__send__remote(char *sender, char *node_name, char *receiver,
                                uint32_t size,
                                int token_label, int token_previous, int token_current);

    /**
     * A message was put into the mailbox of a process of this program. Does
     * not fire when a process sends to itself.
     *
     * The size does not include binary data that the message only refers to.
     *
     * Stability: stable, with OTP's name and arguments.
     *
     * @param receiver pid of the receiver, as "<0.N.0>"
     * @param size size of the message, in machine words
     * @param queue_len length of the receiver's mailbox after the step
     * @param token_label label of the message's sequential trace token
     * @param token_previous previous count of that token
     * @param token_current current count of that token
     */
    probe message__queued(char *receiver, uint32_t size, uint32_t queue_len,
                          int token_label, int token_previous, int token_current);

    /**
     * A process took a message out of its mailbox.
     *
     * The size does not include binary data that the message only refers to.
     *
     * Stability: stable, with OTP's name and arguments.
     *
     * @param receiver pid of the receiver, as "<0.N.0>"
     * @param size size of the message, in machine words
     * @param queue_len length of the receiver's mailbox after the step
     * @param token_label label of the message's sequential trace token
     * @param token_previous previous count of that token
     * @param token_current current count of that token
     */
    probe message__receive(char *receiver, uint32_t size, uint32_t queue_len,
                           int token_label, int token_previous, int token_current);

    /* Other nodes */

    /**
     * A node came up or went down: a connection to it was made or ended.
     *
     * The nodedown of a connection comes after its nodeup. When a node reconnects,
     * the nodedown of the old connection comes before the new nodeup.
     *
     * Stability: stable, with OTP's name and arguments.
     *
     * @param node name of this node
     * @param what nodeup or nodedown
     * @param monitored_node name of the other node
     * @param type visible, or hidden for a node that its peers do not list in
     * nodes()
     * @param reason why the connection ended, as text; absent for nodeup
     */
    probe dist__monitor(char *node, char *what, char *monitored_node,
                        char *type, char *reason);

    /**
     * A process waits before it sends to another node, because that node reads
     * more slowly than this one writes. Fires once for each waiting message.
     *
     * Stability: stable, with OTP's name and arguments.
     *
     * @param node name of this node
     * @param port the connection, by the name of the other node
     * @param remote_node name of the other node
     * @param pid pid of the waiting process, as "<0.N.0>"
     */
    probe dist__port_busy(char *node, char *port, char *remote_node, char *pid);

    /**
     * A busy connection has room again. Fires once for all waiting processes. If
     * the connection ends while it is busy, dist-monitor fires with nodedown
     * instead.
     *
     * Stability: stable, with OTP's name and arguments.
     *
     * @param node name of this node
     * @param port the connection, by the name of the other node
     * @param remote_node name of the other node
     */
    probe dist__port_not_busy(char *node, char *port, char *remote_node);

    /**
     * A write call to a connection's socket took bytes: messages, signals and
     * ticks. Under TLS these are the bytes before encryption.
     *
     * Stability: stable, with OTP's name and arguments.
     *
     * @param node name of this node
     * @param port the connection, by the name of the other node
     * @param remote_node name of the other node
     * @param bytes number of bytes that the call took
     */
    probe dist__output(char *node, char *port, char *remote_node, int bytes);

    /* The pool of I/O threads */

    /**
     * A job was put into the queue of one of the pool's threads.
     *
     * Stability: stable, with OTP's name and arguments.
     *
     * @param port the port of the job, as "#Port<0.N>"
     * @param new_queue_length length of that queue after the step
     */
    probe aio_pool__add(char *port, int new_queue_length);

    /**
     * A job was taken out of the queue of one of the pool's threads.
     *
     * Stability: stable: OTP's name and arguments, and after them the lane; new ones would follow these.
     *
     * @param port the port of the job, as "#Port<0.N>"
     * @param new_queue_length length of that queue after the step
     * @param lane lane of the thread that owns the queue: 1 the fast lane, 2 the
     * slow lane
     */
    probe aio_pool__get(char *port, int new_queue_length, int lane);

    /**
     * The queues of a pool are full: this operation and later ones wait in line.
     * Does not fire again before port-not_busy has fired. A pool of more than 8
     * threads has several sets of queues, for which this holds one by one.
     *
     * Stability: stable, with OTP's name and arguments.
     *
     * @param port the port of the first waiting operation, as "#Port<0.N>"
     */
    probe port__busy(char *port);

    /**
     * The queues of a busy pool have room again: no operation waits in line. Also
     * fires when a busy pool is shut down.
     *
     * Stability: stable, with OTP's name and arguments.
     *
     * @param port the port of the port-busy that this one ends, as "#Port<0.N>"
     */
    probe port__not_busy(char *port);

    /* The file driver */

    /**
     * The file driver accepted an operation. {thread_id, tag} names it until
     * its efile_drv-return.
     *
     * The command defines the two strings and four integers; the table of
     * commands is in the documentation of the efile module.
     *
     * Only this probe has the port. Scripts look it up by {thread_id, tag}: a
     * further string would make the operation's other probes slower, and DTrace
     * on Linux has ten arguments.
     *
     * Stability: stable, with OTP's name and arguments; commands keep their numbers, and new ones get the next.
     *
     * @param thread_id number of the thread that submitted the operation
     * @param tag that thread's number for the operation
     * @param user_tag the user tag of the task that submitted it
     * @param command number of the command
     * @param s1 first string argument of the command
     * @param s2 second string argument of the command
     * @param i1 first integer argument of the command
     * @param i2 second integer argument of the command
     * @param i3 third integer argument of the command
     * @param i4 fourth integer argument of the command
     * @param port the port of the operation, as "#Port<0.N>"
     */
    probe efile_drv__entry(int thread_id, int tag, char *user_tag, int command,
                           char *s1, char *s2,
                           int64_t i1, int64_t i2, int64_t i3, int64_t i4,
                           char *port);

    /**
     * A thread starts an operation: an I/O thread its job, or the calling
     * thread an attempt to answer it from the system's caches. After an
     * attempt that missed, it fires again, for the job.
     *
     * Stability: stable, with OTP's name and arguments.
     *
     * @param thread_id number of the thread that submitted the operation
     * @param tag that thread's number for the operation
     * @param command number of the command
     */
    probe efile_drv__int_entry(int thread_id, int tag, int command);

    /**
     * The thread that started an operation ended it; fires at most once for
     * each efile_drv-entry.
     *
     * Stability: stable, with OTP's name and arguments.
     *
     * @param thread_id number of the thread that submitted the operation
     * @param tag that thread's number for the operation
     * @param command number of the command
     */
    probe efile_drv__int_return(int thread_id, int tag, int command);

    /**
     * The file driver returned an operation's result; fires once for each
     * efile_drv-entry.
     *
     * Stability: stable: OTP's name and arguments, and after them the bytes; new ones would follow these.
     *
     * @param thread_id number of the thread that submitted the operation
     * @param tag that thread's number for the operation
     * @param user_tag the user tag of the task that submitted it
     * @param command number of the command
     * @param success 1 for success, 0 for failure
     * @param errno errno of a failure, else 0
     * @param bytes the bytes of files that the operation read, wrote or copied
     */
    probe efile_drv__return(int thread_id, int tag, char *user_tag, int command,
                            int success, int errno, int64_t bytes);

    /**
     * A process with a sequential trace token submits an operation to the file
     * driver. Fires just before the operation's efile_drv-entry, if that probe is
     * enabled, too.
     *
     * Stability: stable: new arguments are added after the last one.
     *
     * @param thread_id number of the thread that submits the operation
     * @param tag that thread's number for the operation
     * @param proc pid of the process, as "<0.N.0>"
     * @param token_label label of the process's sequential trace token
     * @param token_previous previous count of that token
     * @param token_current current count of that token
     */
    probe seq_trace__operation(int thread_id, int tag, char *proc,
                               int token_label, int token_previous, int token_current);

    /* Processes: tasks and closures that were started with dyntrace's functions. In programs that are built with tokio_unstable, also all
     * other tasks of a runtime of dyntrace::runtime: the runtime tells neither their types nor how they end. */

    /**
     * A process was started.
     *
     * Stability: stable: OTP's name and arguments, and after them three of our own; new ones would follow these.
     *
     * @param proc pid of the new process, as "<0.N.0>"
     * @param fun type of its future or closure: the path of the function, with {{closure}} for each block or closure in it; ? for a task
     * that dyntrace did not start
     * @param parent pid of the process that started it, as "<0.N.0>"
     * @param place call that started it, as file:line
     * @param user_tag the user tag that it begins with
     */
    probe process__spawn(char *proc, char *fun, char *parent, char *place, char *user_tag);

    /**
     * A process has ended: its future or closure is dropped.
     *
     * Stability: stable, with OTP's name and arguments.
     *
     * @param proc pid of the process, as "<0.N.0>"
     * @param reason normal, cancelled (dropped before its end), or panic; panic: and the text of the panic, if process-scheduled or
     * process-unscheduled was traced, too; ended, in any of these ways, for a task that dyntrace did not start
     */
    probe process__exit(char *proc, char *reason);

    /**
     * A process begins to run on this thread: its future is polled, or its closure is called.
     *
     * Stability: stable, with OTP's name and arguments.
     *
     * @param proc pid of the process, as "<0.N.0>"
     * @param fun type of its future or closure, as in process-spawn
     */
    probe process__scheduled(char *proc, char *fun);

    /**
     * A process stops running on this thread: the poll, or the call, that process-scheduled has announced ends. For a task that dyntrace
     * did not start, process-scheduled may announce its next poll, on another thread, before that.
     *
     * Stability: stable: OTP's name and arguments, and after them two of our own; new ones would follow these.
     *
     * @param proc pid of the process, as "<0.N.0>"
     * @param polled nanoseconds that it ran
     * @param outcome pending (it waits), ready (it has ended), or panic; ended, in any way, for a task that dyntrace did not start
     */
    probe process__unscheduled(char *proc, uint64_t polled, char *outcome);

    /**
     * A process is woken: a waker of its last poll is called, just now, on this thread. Fires for each such call, also if the process is
     * awake already; so the first one after a process-scheduled brings about the next. Only for tasks that dyntrace started or made a
     * process, and only by wakers that they got while this probe was traced or the table of tasks was kept.
     *
     * Stability: evolving: wakers that cannot be named now may get names.
     *
     * @param waker what wakes it: the pid of a process, as "<0.N.0>", if that runs on this thread now, which is proc itself where a poll
     * wakes its own process; "task N", with tokio's id, for a task that is no process; "runtime thread NAME" outside of tasks on a thread
     * that is inside of a runtime: its driver of timers and of I/O, or the future of block_on; "thread NAME" on any other thread
     * @param proc pid of the process that is woken, as "<0.N.0>"
     */
    probe process__wake(char *waker, char *proc);

    /* What processes wait for */

    /**
     * A process begins to wait: the first poll of a future of dyntrace::wait, sync, time, net, mailbox or dist, or of a
     * task::JoinHandle, returned pending. If neither this probe nor process-resume was traced then, fires at the first later poll that
     * returns pending while it is.
     *
     * Stability: evolving: new kinds and resources appear with new things to wait for; the arguments stay.
     *
     * @param proc pid of the waiting process, as "<0.N.0>"
     * @param resource the resource that it waits for, as "#Ref<0.N>"; the name given to dyntrace::wait; timer or resolver; or the pid
     * of the process for whose end, or for room in whose mailbox, it waits, as "<0.N.0>": its own pid if it waits for a message
     * @param kind what it waits for: wait for dyntrace::wait, else type and operation, as Mutex::lock, TcpListener::accept,
     * mailbox::Sender::send or task::JoinHandle
     * @param place call that made the future, as file:line; for a oneshot::Receiver, the call that made the channel; for a
     * task::JoinHandle, the call that started the process; for reads and writes of a socket, the call that made the socket
     */
    probe process__wait(char *proc, char *resource, char *kind, char *place);

    /**
     * A wait has ended, for which process-wait fired or would have fired if it had been traced. Each process-wait has one
     * process-resume, with the same proc and resource, unless the future is forgotten. A process may wait for a resource several
     * times at once. A read or write of a socket that was given up ends with the next one, as dyntrace::net says.
     *
     * Stability: evolving: as process-wait.
     *
     * @param proc pid of the waiting process, as "<0.N.0>", also if another process ended the wait
     * @param resource the resource, as in process-wait
     * @param waited nanoseconds since process-wait
     * @param outcome ready, cancelled (the future was dropped while it waited), or panic
     * @param kind what it waited for, as in process-wait
     * @param place call that made the future, as in process-wait
     */
    probe process__resume(char *proc, char *resource, uint64_t waited, char *outcome, char *kind, char *place);

    /**
     * A resource of dyntrace::sync or net got its number: when it was made, or, if the probe was not traced then or the resource is a static,
     * before the first process-wait for it.
     *
     * Stability: evolving: new kinds appear with new resources; the arguments stay.
     *
     * @param resource the resource, as "#Ref<0.N>"
     * @param kind its type, as Mutex or TcpStream, or its channel, as mpsc
     * @param name the name that the program gave it; of a socket, its own address and the peer's, as "127.0.0.1:80 to 127.0.0.1:50123"
     * @param place call that made it, as file:line
     */
    probe resource__new(char *resource, char *kind, char *name, char *place);

    /**
     * A resource for which resource-new fired, or would have fired if it had been traced, is dropped: a channel with the last of its
     * halves.
     *
     * Stability: evolving: as resource-new.
     *
     * @param resource the resource, as "#Ref<0.N>"
     * @param kind its type or channel, as in resource-new
     */
    probe resource__drop(char *resource, char *kind);

    /* Blocking closures: those of dyntrace::spawn_blocking and of JoinSetExt, in the blocking pool of their runtime */

    /**
     * A blocking closure was given to its runtime. Each blocking-add has one blocking-done.
     *
     * Stability: stable: new arguments are added after the last one.
     *
     * @param proc pid of the closure's process, as "<0.N.0>"
     * @param fun type of the closure, as in process-spawn
     * @param queue_length number of blocking closures of the program that wait for a thread, after the step
     */
    probe blocking__add(char *proc, char *fun, uint32_t queue_length);

    /**
     * A thread of the runtime took a blocking closure, and calls it.
     *
     * Stability: stable: new arguments are added after the last one.
     *
     * @param proc pid of the closure's process, as "<0.N.0>"
     * @param fun type of the closure, as in process-spawn
     * @param queue_length number of blocking closures of the program that wait for a thread, after the step
     */
    probe blocking__get(char *proc, char *fun, uint32_t queue_length);

    /**
     * A blocking closure has ended.
     *
     * Stability: stable: new arguments are added after the last one.
     *
     * @param proc pid of the closure's process, as "<0.N.0>"
     * @param fun type of the closure, as in process-spawn
     * @param queue_length number of blocking closures of the program that wait for a thread, after the step
     * @param reason normal, panic, or cancelled (dropped before a thread took it)
     */
    probe blocking__done(char *proc, char *fun, uint32_t queue_length, char *reason);

    /* The monitor: dyntrace::monitor, DYNTRACE=monitor=, or dyntrace monitor */

    /**
     * A poll of a task lasts longer than the limit of the monitor. Fires once for each poll, while it lasts, on the thread of the
     * monitor.
     *
     * Stability: evolving: the wording of the state may change; the numbers stay.
     *
     * @param proc pid of the polled process, as "<0.N.0>"
     * @param fun type of its future, as in process-spawn; absent if the process was spawned before the monitor started
     * @param polled nanoseconds since the poll began
     * @param limit the limit, in nanoseconds
     * @param thread the kernel's id of the thread that polls it; 0 if the poll ended meanwhile
     * @param state the kernel's letter for the state of that thread, and the system call that it is in: "S, in futex"
     */
    probe system_monitor__long_schedule(char *proc, char *fun, uint64_t polled, uint64_t limit, int thread, char *state);

    /**
     * A wait of a process lasts longer than the limit of the monitor. Fires once for each wait, on the thread of the monitor.
     *
     * Stability: evolving: new kinds and resources appear, as of process-wait.
     *
     * @param proc pid of the waiting process, as "<0.N.0>"
     * @param resource the resource that it waits for, as in process-wait
     * @param kind what it waits for, as in process-wait
     * @param place call that made the future, as in process-wait
     * @param waited nanoseconds since the wait began
     * @param limit the limit, in nanoseconds
     */
    probe system_monitor__long_wait(char *proc, char *resource, char *kind, char *place, uint64_t waited, uint64_t limit);

    /**
     * A mailbox has more messages than the limit of the monitor. Fires again only after it had no more than that.
     *
     * Stability: stable: new arguments are added after the last one.
     *
     * @param proc pid of the process that receives, as "<0.N.0>"
     * @param queue_len length of its mailbox
     * @param limit the limit
     */
    probe system_monitor__long_message_queue(char *proc, uint64_t queue_len, uint64_t limit);

    /**
     * More jobs of a port have not started than the limit of the monitor. Fires again only after there were no more than that.
     *
     * Stability: stable: new arguments are added after the last one.
     *
     * @param port the port, as "#Port<0.N>"
     * @param queue_length number of these jobs
     * @param limit the limit
     */
    probe system_monitor__busy_port(char *port, uint64_t queue_length, uint64_t limit);

    /**
     * More blocking closures wait for a thread than the limit of the monitor. Fires again only after no more than that waited.
     *
     * Stability: stable: new arguments are added after the last one.
     *
     * @param queue_length number of closures that wait, as in blocking-add
     * @param limit the limit
     */
    probe system_monitor__long_blocking_queue(uint64_t queue_length, uint64_t limit);

    /**
     * The table of tasks has more tasks than the limit of the monitor. Fires again only after it had no more than that.
     *
     * Stability: stable: new arguments are added after the last one.
     *
     * @param tasks number of tasks
     * @param limit the limit
     */
    probe system_monitor__too_many_tasks(uint64_t tasks, uint64_t limit);

    /* The application's own events */

    /**
     * An event of the application with one string.
     *
     * Stability: stable, with OTP's name and arguments.
     *
     * @param message the string
     */
    probe user_trace__s1(char *message);

    /**
     * An event of the application with up to four integers and four strings.
     * Missing integers are 0, missing strings are null.
     *
     * Stability: stable, with OTP's name and arguments.
     *
     * @param proc pid of the process that fires the probe, as "<0.N.0>"
     * @param user_tag the user tag of that process
     * @param i1 first integer
     * @param i2 second integer
     * @param i3 third integer
     * @param i4 fourth integer
     * @param s1 first string
     * @param s2 second string
     * @param s3 third string
     * @param s4 fourth string
     */
    probe user_trace__i4s4(char *proc, char *user_tag,
                           int64_t i1, int64_t i2, int64_t i3, int64_t i4,
                           char *s1, char *s2, char *s3, char *s4);

    /* Traced functions */

    /**
     * A function with the attribute `traced` was called, and the call matches a
     * pattern of a dyntrace::trace session whose events go to the probes. The
     * first poll of an asynchronous function counts as its call.
     *
     * Fires once for each pattern that the call matches.
     *
     * Stability: evolving: the text of arguments follows the Debug of their types; the arguments stay.
     *
     * @param proc pid of the calling process, as "<0.N.0>"
     * @param function the function, as crate::module::Type::function/arity
     * @param arguments its arguments, as text; a cut argument ends with "..."
     * @param user_tag the user tag of that process
     * @param caller place of the call, if it is known and the pattern asks for it: file:line, or two addresses in object files, the
     * return address and an address in the function's code
     */
    probe function__entry(char *proc, char *function, char *arguments,
                          char *user_tag, char *caller);

    /**
     * A call that fired function-entry ended, and its pattern asks for this kind
     * of end.
     *
     * Stability: evolving: new kinds of ends may appear; the arguments stay.
     *
     * @param proc pid of the calling process, as "<0.N.0>"
     * @param function the function, as crate::module::Type::function/arity
     * @param value the returned value as text, the message of the panic, or the place the call returns to, as in function-entry; a
     * cut value ends with "..."
     * @param user_tag the user tag of that process
     * @param kind return, error (a returned Err, if the pattern asks for errors), return_to (fired after these, if asked for),
     * panic, or cancelled (an asynchronous call dropped before it completed)
     * @param took nanoseconds since the call
     * @param polled nanoseconds that it ran: fewer than took if an asynchronous function waited
     */
    probe function__return(char *proc, char *function, char *value,
                           char *user_tag, char *kind,
                           uint64_t took, uint64_t polled);

    /* Modules of code */

    /**
     * The first version of a module was loaded: it can be called from now on.
     *
     * Stability: stable: new arguments are added after the last one.
     *
     * @param module the module's name
     * @param version the version that the module declares
     * @param file the loaded file
     * @param start address of the version in memory
     * @param size its size in bytes
     */
    probe code__load(char *module, char *version, char *file,
                     uint64_t start, uint64_t size);

    /**
     * A new version of a module replaced the current one: new calls go to it.
     *
     * Stability: stable: new arguments are added after the last one.
     *
     * @param module the module's name
     * @param version the new version, as the module declares it
     * @param file the loaded file
     * @param start address of the new version in memory
     * @param size its size in bytes
     * @param old_version the version that served calls until now
     */
    probe code__upgrade(char *module, char *version, char *file,
                        uint64_t start, uint64_t size, char *old_version);

    /**
     * An old version of a module was purged: no thread runs its code any more.
     *
     * Stability: stable: new arguments are added after the last one.
     *
     * @param module the module's name
     * @param version the version, as the module declared it
     * @param start address that it had in memory
     * @param size its size in bytes
     */
    probe code__purge(char *module, char *version,
                      uint64_t start, uint64_t size);
};

#pragma D attributes Evolving/Evolving/Common provider dyntrace provider
#pragma D attributes Private/Private/Common provider dyntrace module
#pragma D attributes Private/Private/Common provider dyntrace function
#pragma D attributes Evolving/Evolving/Common provider dyntrace name
#pragma D attributes Evolving/Evolving/Common provider dyntrace args
