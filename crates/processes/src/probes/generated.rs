// UPDATE_GOLDEN=1 cargo test -p dyntrace-build --test definitions makes this file anew.
// Made of the provider definition `dyntrace` by dyntrace-build; changes belong there.

/// The probes `message-*` of the provider `dyntrace`.
pub mod message {
    use super::__sdt;

    __sdt::probe! {
        /// A process sends a message to another process of the same program.
        ///
        /// The size does not include binary data that the message only refers to.
        ///
        /// Stability: stable, with OTP's name and arguments.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "message__send" "message-send"
        send<'a, Sender, Receiver>(arguments: impl FnOnce() -> (Sender, Receiver, u32, i32, i32, i32))
        (sender: Sender, process "sender", str "char *", sender_buffer; "pid of the sender, as \"\\<0.N.0\\>\"")
        (receiver: Receiver, process "receiver", str "char *", receiver_buffer; "pid of the receiver, as \"\\<0.N.0\\>\"")
        (size: u32, u32 "size", u32 "uint32_t"; "size of the message, in machine words")
        (token_label: i32, i32 "token_label", i32 "int"; "label of the sender's sequential trace token")
        (token_previous: i32, i32 "token_previous", i32 "int"; "previous count of that token")
        (token_current: i32, i32 "token_current", i32 "int"; "current count of that token")
    }

    __sdt::probe! {
        /// A process sends a message to a process of another node.
        ///
        /// The size does not include binary data that the message only refers to.
        ///
        /// Stability: stable, with OTP's name and arguments.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "message__send__remote" "message-send-remote"
        send_remote<'a, Sender, NodeName, Receiver>(arguments: impl FnOnce() -> (Sender, NodeName, Receiver, u32, i32, i32, i32))
        (sender: Sender, process "sender", str "char *", sender_buffer; "pid of the sender, as \"\\<0.N.0\\>\"")
        (node_name: NodeName, str "node_name", str "char *", node_name_buffer; "name of the receiver's node")
        (receiver: Receiver, str "receiver", str "char *", receiver_buffer; "pid or registered name of the receiver")
        (size: u32, u32 "size", u32 "uint32_t"; "size of the message, in machine words")
        (token_label: i32, i32 "token_label", i32 "int"; "label of the sender's sequential trace token")
        (token_previous: i32, i32 "token_previous", i32 "int"; "previous count of that token")
        (token_current: i32, i32 "token_current", i32 "int"; "current count of that token")
    }

    __sdt::probe! {
        /// A message was put into the mailbox of a process of this program. Does
        /// not fire when a process sends to itself.
        ///
        /// The size does not include binary data that the message only refers to.
        ///
        /// Stability: stable, with OTP's name and arguments.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "message__queued" "message-queued"
        queued<'a, Receiver>(arguments: impl FnOnce() -> (Receiver, u32, u32, i32, i32, i32))
        (receiver: Receiver, process "receiver", str "char *", receiver_buffer; "pid of the receiver, as \"\\<0.N.0\\>\"")
        (size: u32, u32 "size", u32 "uint32_t"; "size of the message, in machine words")
        (queue_len: u32, u32 "queue_len", u32 "uint32_t"; "length of the receiver's mailbox after the step")
        (token_label: i32, i32 "token_label", i32 "int"; "label of the message's sequential trace token")
        (token_previous: i32, i32 "token_previous", i32 "int"; "previous count of that token")
        (token_current: i32, i32 "token_current", i32 "int"; "current count of that token")
    }

    __sdt::probe! {
        /// A process took a message out of its mailbox.
        ///
        /// The size does not include binary data that the message only refers to.
        ///
        /// Stability: stable, with OTP's name and arguments.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "message__receive" "message-receive"
        receive<'a, Receiver>(arguments: impl FnOnce() -> (Receiver, u32, u32, i32, i32, i32))
        (receiver: Receiver, process "receiver", str "char *", receiver_buffer; "pid of the receiver, as \"\\<0.N.0\\>\"")
        (size: u32, u32 "size", u32 "uint32_t"; "size of the message, in machine words")
        (queue_len: u32, u32 "queue_len", u32 "uint32_t"; "length of the receiver's mailbox after the step")
        (token_label: i32, i32 "token_label", i32 "int"; "label of the message's sequential trace token")
        (token_previous: i32, i32 "token_previous", i32 "int"; "previous count of that token")
        (token_current: i32, i32 "token_current", i32 "int"; "current count of that token")
    }
}

/// The probes `dist-*` of the provider `dyntrace`.
pub mod dist {
    use super::__sdt;

    __sdt::probe! {
        /// A node came up or went down: a connection to it was made or ended.
        ///
        /// The nodedown of a connection comes after its nodeup. When a node reconnects,
        /// the nodedown of the old connection comes before the new nodeup.
        ///
        /// Stability: stable, with OTP's name and arguments.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "dist__monitor" "dist-monitor"
        monitor<'a, Node, What, MonitoredNode, Type, Reason>(arguments: impl FnOnce() -> (Node, What, MonitoredNode, Type, Reason))
        (node: Node, str "node", str "char *", node_buffer; "name of this node")
        (what: What, str "what", str "char *", what_buffer; "nodeup or nodedown")
        (monitored_node: MonitoredNode, str "monitored_node", str "char *", monitored_node_buffer; "name of the other node")
        (r#type: Type, str "type", str "char *", type_buffer; "visible, or hidden for a node that its peers do not list in nodes()")
        (reason: Reason, str "reason", str "char *", reason_buffer; "why the connection ended, as text; absent for nodeup")
    }

    __sdt::probe! {
        /// A process waits before it sends to another node, because that node reads
        /// more slowly than this one writes. Fires once for each waiting message.
        ///
        /// Stability: stable, with OTP's name and arguments.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "dist__port_busy" "dist-port_busy"
        port_busy<'a, Node, Port, RemoteNode, Pid>(arguments: impl FnOnce() -> (Node, Port, RemoteNode, Pid))
        (node: Node, str "node", str "char *", node_buffer; "name of this node")
        (port: Port, str "port", str "char *", port_buffer; "the connection, by the name of the other node")
        (remote_node: RemoteNode, str "remote_node", str "char *", remote_node_buffer; "name of the other node")
        (pid: Pid, process "pid", str "char *", pid_buffer; "pid of the waiting process, as \"\\<0.N.0\\>\"")
    }

    __sdt::probe! {
        /// A busy connection has room again. Fires once for all waiting processes. If
        /// the connection ends while it is busy, dist-monitor fires with nodedown
        /// instead.
        ///
        /// Stability: stable, with OTP's name and arguments.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "dist__port_not_busy" "dist-port_not_busy"
        port_not_busy<'a, Node, Port, RemoteNode>(arguments: impl FnOnce() -> (Node, Port, RemoteNode))
        (node: Node, str "node", str "char *", node_buffer; "name of this node")
        (port: Port, str "port", str "char *", port_buffer; "the connection, by the name of the other node")
        (remote_node: RemoteNode, str "remote_node", str "char *", remote_node_buffer; "name of the other node")
    }

    __sdt::probe! {
        /// A write call to a connection's socket took bytes: messages, signals and
        /// ticks. Under TLS these are the bytes before encryption.
        ///
        /// Stability: stable, with OTP's name and arguments.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "dist__output" "dist-output"
        output<'a, Node, Port, RemoteNode>(arguments: impl FnOnce() -> (Node, Port, RemoteNode, i32))
        (node: Node, str "node", str "char *", node_buffer; "name of this node")
        (port: Port, str "port", str "char *", port_buffer; "the connection, by the name of the other node")
        (remote_node: RemoteNode, str "remote_node", str "char *", remote_node_buffer; "name of the other node")
        (bytes: i32, i32 "bytes", i32 "int"; "number of bytes that the call took")
    }
}

/// The probes `aio_pool-*` of the provider `dyntrace`.
pub mod aio_pool {
    use super::__sdt;

    __sdt::probe! {
        /// A job was put into the queue of one of the pool's threads.
        ///
        /// Stability: stable, with OTP's name and arguments.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "aio_pool__add" "aio_pool-add"
        add<'a, Port>(arguments: impl FnOnce() -> (Port, i32))
        (port: Port, port "port", str "char *", port_buffer; "the port of the job, as \"#Port\\<0.N\\>\"")
        (new_queue_length: i32, i32 "new_queue_length", i32 "int"; "length of that queue after the step")
    }

    __sdt::probe! {
        /// A job was taken out of the queue of one of the pool's threads.
        ///
        /// Stability: stable: OTP's name and arguments, and after them the lane; new ones would follow these.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "aio_pool__get" "aio_pool-get"
        get<'a, Port>(arguments: impl FnOnce() -> (Port, i32, i32))
        (port: Port, port "port", str "char *", port_buffer; "the port of the job, as \"#Port\\<0.N\\>\"")
        (new_queue_length: i32, i32 "new_queue_length", i32 "int"; "length of that queue after the step")
        (lane: i32, small "lane", i32 "int"; "lane of the thread that owns the queue: 1 the fast lane, 2 the slow lane")
    }
}

/// The probes `port-*` of the provider `dyntrace`.
pub mod port {
    use super::__sdt;

    __sdt::probe! {
        /// The queues of a pool are full: this operation and later ones wait in line.
        /// Does not fire again before port-not_busy has fired. A pool of more than 8
        /// threads has several sets of queues, for which this holds one by one.
        ///
        /// Stability: stable, with OTP's name and arguments.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "port__busy" "port-busy"
        busy<'a, Port>(arguments: impl FnOnce() -> Port)
        (port: Port, port "port", str "char *", port_buffer; "the port of the first waiting operation, as \"#Port\\<0.N\\>\"")
    }

    __sdt::probe! {
        /// The queues of a busy pool have room again: no operation waits in line. Also
        /// fires when a busy pool is shut down.
        ///
        /// Stability: stable, with OTP's name and arguments.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "port__not_busy" "port-not_busy"
        not_busy<'a, Port>(arguments: impl FnOnce() -> Port)
        (port: Port, port "port", str "char *", port_buffer; "the port of the port-busy that this one ends, as \"#Port\\<0.N\\>\"")
    }
}

/// The probes `efile_drv-*` of the provider `dyntrace`.
pub mod efile_drv {
    use super::__sdt;

    __sdt::probe! {
        /// The file driver accepted an operation. {thread_id, tag} names it until
        /// its efile_drv-return.
        ///
        /// The command defines the two strings and four integers; the table of
        /// commands is in the documentation of the efile module.
        ///
        /// Only this probe has the port. Scripts look it up by {thread_id, tag}: a
        /// further string would make the operation's other probes slower, and DTrace
        /// on Linux has ten arguments.
        ///
        /// Stability: stable, with OTP's name and arguments; commands keep their numbers, and new ones get the next.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "efile_drv__entry" "efile_drv-entry"
        entry<'a, UserTag, S1, S2, Port>(arguments: impl FnOnce() -> (i32, i32, UserTag, i32, S1, S2, i64, i64, i64, i64, Port))
        (thread_id: i32, i32 "thread_id", i32 "int"; "number of the thread that submitted the operation")
        (tag: i32, count "tag", i32 "int"; "that thread's number for the operation")
        (user_tag: UserTag, str "user_tag", str "char *", user_tag_buffer; "the user tag of the task that submitted it")
        (command: i32, small "command", i32 "int"; "number of the command")
        (s1: S1, str "s1", str "char *", s1_buffer; "first string argument of the command")
        (s2: S2, str "s2", str "char *", s2_buffer; "second string argument of the command")
        (i1: i64, i64 "i1", i64 "int64_t"; "first integer argument of the command")
        (i2: i64, i64 "i2", i64 "int64_t"; "second integer argument of the command")
        (i3: i64, i64 "i3", i64 "int64_t"; "third integer argument of the command")
        (i4: i64, i64 "i4", i64 "int64_t"; "fourth integer argument of the command")
        (port: Port, port "port", str "char *", port_buffer; "the port of the operation, as \"#Port\\<0.N\\>\"")
    }

    __sdt::probe! {
        /// A thread starts an operation: an I/O thread its job, or the calling
        /// thread an attempt to answer it from the system's caches. After an
        /// attempt that missed, it fires again, for the job.
        ///
        /// Stability: stable, with OTP's name and arguments.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "efile_drv__int_entry" "efile_drv-int_entry"
        int_entry(arguments: impl FnOnce() -> (i32, i32, i32))
        (thread_id: i32, i32 "thread_id", i32 "int"; "number of the thread that submitted the operation")
        (tag: i32, count "tag", i32 "int"; "that thread's number for the operation")
        (command: i32, small "command", i32 "int"; "number of the command")
    }

    __sdt::probe! {
        /// The thread that started an operation ended it; fires at most once for
        /// each efile_drv-entry.
        ///
        /// Stability: stable, with OTP's name and arguments.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "efile_drv__int_return" "efile_drv-int_return"
        int_return(arguments: impl FnOnce() -> (i32, i32, i32))
        (thread_id: i32, i32 "thread_id", i32 "int"; "number of the thread that submitted the operation")
        (tag: i32, count "tag", i32 "int"; "that thread's number for the operation")
        (command: i32, small "command", i32 "int"; "number of the command")
    }

    __sdt::probe! {
        /// The file driver returned an operation's result; fires once for each
        /// efile_drv-entry.
        ///
        /// Stability: stable: OTP's name and arguments, and after them the bytes; new ones would follow these.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "efile_drv__return" "efile_drv-return"
        r#return<'a, UserTag>(arguments: impl FnOnce() -> (i32, i32, UserTag, i32, i32, i32, i64))
        (thread_id: i32, i32 "thread_id", i32 "int"; "number of the thread that submitted the operation")
        (tag: i32, count "tag", i32 "int"; "that thread's number for the operation")
        (user_tag: UserTag, str "user_tag", str "char *", user_tag_buffer; "the user tag of the task that submitted it")
        (command: i32, small "command", i32 "int"; "number of the command")
        (success: i32, small "success", i32 "int"; "1 for success, 0 for failure")
        (errno: i32, i32 "errno", i32 "int"; "errno of a failure, else 0")
        (bytes: i64, i64 "bytes", i64 "int64_t"; "the bytes of files that the operation read, wrote or copied")
    }
}

/// The probes `seq_trace-*` of the provider `dyntrace`.
pub mod seq_trace {
    use super::__sdt;

    __sdt::probe! {
        /// A process with a sequential trace token submits an operation to the file
        /// driver. Fires just before the operation's efile_drv-entry, if that probe is
        /// enabled, too.
        ///
        /// Stability: stable: new arguments are added after the last one.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "seq_trace__operation" "seq_trace-operation"
        operation<'a, Proc>(arguments: impl FnOnce() -> (i32, i32, Proc, i32, i32, i32))
        (thread_id: i32, i32 "thread_id", i32 "int"; "number of the thread that submits the operation")
        (tag: i32, count "tag", i32 "int"; "that thread's number for the operation")
        (proc: Proc, process "proc", str "char *", proc_buffer; "pid of the process, as \"\\<0.N.0\\>\"")
        (token_label: i32, i32 "token_label", i32 "int"; "label of the process's sequential trace token")
        (token_previous: i32, i32 "token_previous", i32 "int"; "previous count of that token")
        (token_current: i32, i32 "token_current", i32 "int"; "current count of that token")
    }
}

/// The probes `process-*` of the provider `dyntrace`.
pub mod process {
    use super::__sdt;

    __sdt::probe! {
        /// A process was started.
        ///
        /// Stability: stable: OTP's name and arguments, and after them three of our own; new ones would follow these.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "process__spawn" "process-spawn"
        spawn<'a, Proc, Fun, Parent, Place, UserTag>(arguments: impl FnOnce() -> (Proc, Fun, Parent, Place, UserTag))
        (proc: Proc, process "proc", str "char *", proc_buffer; "pid of the new process, as \"\\<0.N.0\\>\"")
        (fun: Fun, str "fun", str "char *", fun_buffer; "type of its future or closure: the path of the function, with {{closure}} for each block or closure in it; ? for a task that dyntrace did not start")
        (parent: Parent, process "parent", str "char *", parent_buffer; "pid of the process that started it, as \"\\<0.N.0\\>\"")
        (place: Place, str "place", str "char *", place_buffer; "call that started it, as file:line")
        (user_tag: UserTag, str "user_tag", str "char *", user_tag_buffer; "the user tag that it begins with")
    }

    __sdt::probe! {
        /// A process has ended: its future or closure is dropped.
        ///
        /// Stability: stable, with OTP's name and arguments.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "process__exit" "process-exit"
        exit<'a, Proc, Reason>(arguments: impl FnOnce() -> (Proc, Reason))
        (proc: Proc, process "proc", str "char *", proc_buffer; "pid of the process, as \"\\<0.N.0\\>\"")
        (reason: Reason, str "reason", str "char *", reason_buffer; "normal, cancelled (dropped before its end), or panic; panic: and the text of the panic, if process-scheduled or process-unscheduled was traced, too; ended, in any of these ways, for a task that dyntrace did not start")
    }

    __sdt::probe! {
        /// A process begins to run on this thread: its future is polled, or its closure is called.
        ///
        /// Stability: stable, with OTP's name and arguments.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "process__scheduled" "process-scheduled"
        scheduled<'a, Proc, Fun>(arguments: impl FnOnce() -> (Proc, Fun))
        (proc: Proc, process "proc", str "char *", proc_buffer; "pid of the process, as \"\\<0.N.0\\>\"")
        (fun: Fun, str "fun", str "char *", fun_buffer; "type of its future or closure, as in process-spawn")
    }

    __sdt::probe! {
        /// A process stops running on this thread: the poll, or the call, that process-scheduled has announced ends. For a task that dyntrace
        /// did not start, process-scheduled may announce its next poll, on another thread, before that.
        ///
        /// Stability: stable: OTP's name and arguments, and after them two of our own; new ones would follow these.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "process__unscheduled" "process-unscheduled"
        unscheduled<'a, Proc, Outcome>(arguments: impl FnOnce() -> (Proc, u64, Outcome))
        (proc: Proc, process "proc", str "char *", proc_buffer; "pid of the process, as \"\\<0.N.0\\>\"")
        (polled: u64, u64 "polled", u64 "uint64_t"; "nanoseconds that it ran")
        (outcome: Outcome, str "outcome", str "char *", outcome_buffer; "pending (it waits), ready (it has ended), or panic; ended, in any way, for a task that dyntrace did not start")
    }

    __sdt::probe! {
        /// A process is woken: a waker of its last poll is called, just now, on this thread. Fires for each such call, also if the process is
        /// awake already; so the first one after a process-scheduled brings about the next. Only for tasks that dyntrace started or made a
        /// process, and only by wakers that they got while this probe was traced or the table of tasks was kept.
        ///
        /// Stability: evolving: wakers that cannot be named now may get names.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "process__wake" "process-wake"
        wake<'a, Waker, Proc>(arguments: impl FnOnce() -> (Waker, Proc))
        (waker: Waker, str "waker", str "char *", waker_buffer; "what wakes it: the pid of a process, as \"\\<0.N.0\\>\", if that runs on this thread now, which is proc itself where a poll wakes its own process; \"task N\", with tokio's id, for a task that is no process; \"runtime thread NAME\" outside of tasks on a thread that is inside of a runtime: its driver of timers and of I/O, or the future of block_on; \"thread NAME\" on any other thread")
        (proc: Proc, process "proc", str "char *", proc_buffer; "pid of the process that is woken, as \"\\<0.N.0\\>\"")
    }

    __sdt::probe! {
        /// A process begins to wait: the first poll of a future of dyntrace::wait, sync, time, net, mailbox or dist, or of a
        /// task::JoinHandle, returned pending. If neither this probe nor process-resume was traced then, fires at the first later poll that
        /// returns pending while it is.
        ///
        /// Stability: evolving: new kinds and resources appear with new things to wait for; the arguments stay.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "process__wait" "process-wait"
        wait<'a, Proc, Resource, Kind, Place>(arguments: impl FnOnce() -> (Proc, Resource, Kind, Place))
        (proc: Proc, process "proc", str "char *", proc_buffer; "pid of the waiting process, as \"\\<0.N.0\\>\"")
        (resource: Resource, str "resource", str "char *", resource_buffer; "the resource that it waits for, as \"#Ref\\<0.N\\>\"; the name given to dyntrace::wait; timer or resolver; or the pid of the process for whose end, or for room in whose mailbox, it waits, as \"\\<0.N.0\\>\": its own pid if it waits for a message")
        (kind: Kind, str "kind", str "char *", kind_buffer; "what it waits for: wait for dyntrace::wait, else type and operation, as Mutex::lock, TcpListener::accept, mailbox::Sender::send or task::JoinHandle")
        (place: Place, str "place", str "char *", place_buffer; "call that made the future, as file:line; for a oneshot::Receiver, the call that made the channel; for a task::JoinHandle, the call that started the process; for reads and writes of a socket, the call that made the socket")
    }

    __sdt::probe! {
        /// A wait has ended, for which process-wait fired or would have fired if it had been traced. Each process-wait has one
        /// process-resume, with the same proc and resource, unless the future is forgotten. A process may wait for a resource several
        /// times at once. A read or write of a socket that was given up ends with the next one, as dyntrace::net says.
        ///
        /// Stability: evolving: as process-wait.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "process__resume" "process-resume"
        resume<'a, Proc, Resource, Outcome, Kind, Place>(arguments: impl FnOnce() -> (Proc, Resource, u64, Outcome, Kind, Place))
        (proc: Proc, str "proc", str "char *", proc_buffer; "pid of the waiting process, as \"\\<0.N.0\\>\", also if another process ended the wait")
        (resource: Resource, str "resource", str "char *", resource_buffer; "the resource, as in process-wait")
        (waited: u64, u64 "waited", u64 "uint64_t"; "nanoseconds since process-wait")
        (outcome: Outcome, str "outcome", str "char *", outcome_buffer; "ready, cancelled (the future was dropped while it waited), or panic")
        (kind: Kind, str "kind", str "char *", kind_buffer; "what it waited for, as in process-wait")
        (place: Place, str "place", str "char *", place_buffer; "call that made the future, as in process-wait")
    }
}

/// The probes `resource-*` of the provider `dyntrace`.
pub mod resource {
    use super::__sdt;

    __sdt::probe! {
        /// A resource of dyntrace::sync or net got its number: when it was made, or, if the probe was not traced then or the resource is a static,
        /// before the first process-wait for it.
        ///
        /// Stability: evolving: new kinds appear with new resources; the arguments stay.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "resource__new" "resource-new"
        new<'a, Resource, Kind, Name, Place>(arguments: impl FnOnce() -> (Resource, Kind, Name, Place))
        (resource: Resource, str "resource", str "char *", resource_buffer; "the resource, as \"#Ref\\<0.N\\>\"")
        (kind: Kind, str "kind", str "char *", kind_buffer; "its type, as Mutex or TcpStream, or its channel, as mpsc")
        (name: Name, str "name", str "char *", name_buffer; "the name that the program gave it; of a socket, its own address and the peer's, as \"127.0.0.1:80 to 127.0.0.1:50123\"")
        (place: Place, str "place", str "char *", place_buffer; "call that made it, as file:line")
    }

    __sdt::probe! {
        /// A resource for which resource-new fired, or would have fired if it had been traced, is dropped: a channel with the last of its
        /// halves.
        ///
        /// Stability: evolving: as resource-new.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "resource__drop" "resource-drop"
        drop<'a, Resource, Kind>(arguments: impl FnOnce() -> (Resource, Kind))
        (resource: Resource, str "resource", str "char *", resource_buffer; "the resource, as \"#Ref\\<0.N\\>\"")
        (kind: Kind, str "kind", str "char *", kind_buffer; "its type or channel, as in resource-new")
    }
}

/// The probes `blocking-*` of the provider `dyntrace`.
pub mod blocking {
    use super::__sdt;

    __sdt::probe! {
        /// A blocking closure was given to its runtime. Each blocking-add has one blocking-done.
        ///
        /// Stability: stable: new arguments are added after the last one.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "blocking__add" "blocking-add"
        add<'a, Proc, Fun>(arguments: impl FnOnce() -> (Proc, Fun, u32))
        (proc: Proc, process "proc", str "char *", proc_buffer; "pid of the closure's process, as \"\\<0.N.0\\>\"")
        (fun: Fun, str "fun", str "char *", fun_buffer; "type of the closure, as in process-spawn")
        (queue_length: u32, u32 "queue_length", u32 "uint32_t"; "number of blocking closures of the program that wait for a thread, after the step")
    }

    __sdt::probe! {
        /// A thread of the runtime took a blocking closure, and calls it.
        ///
        /// Stability: stable: new arguments are added after the last one.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "blocking__get" "blocking-get"
        get<'a, Proc, Fun>(arguments: impl FnOnce() -> (Proc, Fun, u32))
        (proc: Proc, process "proc", str "char *", proc_buffer; "pid of the closure's process, as \"\\<0.N.0\\>\"")
        (fun: Fun, str "fun", str "char *", fun_buffer; "type of the closure, as in process-spawn")
        (queue_length: u32, u32 "queue_length", u32 "uint32_t"; "number of blocking closures of the program that wait for a thread, after the step")
    }

    __sdt::probe! {
        /// A blocking closure has ended.
        ///
        /// Stability: stable: new arguments are added after the last one.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "blocking__done" "blocking-done"
        done<'a, Proc, Fun, Reason>(arguments: impl FnOnce() -> (Proc, Fun, u32, Reason))
        (proc: Proc, process "proc", str "char *", proc_buffer; "pid of the closure's process, as \"\\<0.N.0\\>\"")
        (fun: Fun, str "fun", str "char *", fun_buffer; "type of the closure, as in process-spawn")
        (queue_length: u32, u32 "queue_length", u32 "uint32_t"; "number of blocking closures of the program that wait for a thread, after the step")
        (reason: Reason, str "reason", str "char *", reason_buffer; "normal, panic, or cancelled (dropped before a thread took it)")
    }
}

/// The probes `system_monitor-*` of the provider `dyntrace`.
pub mod system_monitor {
    use super::__sdt;

    __sdt::probe! {
        /// A poll of a task lasts longer than the limit of the monitor. Fires once for each poll, while it lasts, on the thread of the
        /// monitor.
        ///
        /// Stability: evolving: the wording of the state may change; the numbers stay.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "system_monitor__long_schedule" "system_monitor-long_schedule"
        long_schedule<'a, Proc, Fun, State>(arguments: impl FnOnce() -> (Proc, Fun, u64, u64, i32, State))
        (proc: Proc, process "proc", str "char *", proc_buffer; "pid of the polled process, as \"\\<0.N.0\\>\"")
        (fun: Fun, str "fun", str "char *", fun_buffer; "type of its future, as in process-spawn; absent if the process was spawned before the monitor started")
        (polled: u64, u64 "polled", u64 "uint64_t"; "nanoseconds since the poll began")
        (limit: u64, u64 "limit", u64 "uint64_t"; "the limit, in nanoseconds")
        (thread: i32, i32 "thread", i32 "int"; "the kernel's id of the thread that polls it; 0 if the poll ended meanwhile")
        (state: State, str "state", str "char *", state_buffer; "the kernel's letter for the state of that thread, and the system call that it is in: \"S, in futex\"")
    }

    __sdt::probe! {
        /// A wait of a process lasts longer than the limit of the monitor. Fires once for each wait, on the thread of the monitor.
        ///
        /// Stability: evolving: new kinds and resources appear, as of process-wait.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "system_monitor__long_wait" "system_monitor-long_wait"
        long_wait<'a, Proc, Resource, Kind, Place>(arguments: impl FnOnce() -> (Proc, Resource, Kind, Place, u64, u64))
        (proc: Proc, process "proc", str "char *", proc_buffer; "pid of the waiting process, as \"\\<0.N.0\\>\"")
        (resource: Resource, str "resource", str "char *", resource_buffer; "the resource that it waits for, as in process-wait")
        (kind: Kind, str "kind", str "char *", kind_buffer; "what it waits for, as in process-wait")
        (place: Place, str "place", str "char *", place_buffer; "call that made the future, as in process-wait")
        (waited: u64, u64 "waited", u64 "uint64_t"; "nanoseconds since the wait began")
        (limit: u64, u64 "limit", u64 "uint64_t"; "the limit, in nanoseconds")
    }

    __sdt::probe! {
        /// A mailbox has more messages than the limit of the monitor. Fires again only after it had no more than that.
        ///
        /// Stability: stable: new arguments are added after the last one.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "system_monitor__long_message_queue" "system_monitor-long_message_queue"
        long_message_queue<'a, Proc>(arguments: impl FnOnce() -> (Proc, u64, u64))
        (proc: Proc, process "proc", str "char *", proc_buffer; "pid of the process that receives, as \"\\<0.N.0\\>\"")
        (queue_len: u64, u64 "queue_len", u64 "uint64_t"; "length of its mailbox")
        (limit: u64, u64 "limit", u64 "uint64_t"; "the limit")
    }

    __sdt::probe! {
        /// More jobs of a port have not started than the limit of the monitor. Fires again only after there were no more than that.
        ///
        /// Stability: stable: new arguments are added after the last one.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "system_monitor__busy_port" "system_monitor-busy_port"
        busy_port<'a, Port>(arguments: impl FnOnce() -> (Port, u64, u64))
        (port: Port, port "port", str "char *", port_buffer; "the port, as \"#Port\\<0.N\\>\"")
        (queue_length: u64, u64 "queue_length", u64 "uint64_t"; "number of these jobs")
        (limit: u64, u64 "limit", u64 "uint64_t"; "the limit")
    }

    __sdt::probe! {
        /// More blocking closures wait for a thread than the limit of the monitor. Fires again only after no more than that waited.
        ///
        /// Stability: stable: new arguments are added after the last one.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "system_monitor__long_blocking_queue" "system_monitor-long_blocking_queue"
        long_blocking_queue(arguments: impl FnOnce() -> (u64, u64))
        (queue_length: u64, u64 "queue_length", u64 "uint64_t"; "number of closures that wait, as in blocking-add")
        (limit: u64, u64 "limit", u64 "uint64_t"; "the limit")
    }

    __sdt::probe! {
        /// The table of tasks has more tasks than the limit of the monitor. Fires again only after it had no more than that.
        ///
        /// Stability: stable: new arguments are added after the last one.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "system_monitor__too_many_tasks" "system_monitor-too_many_tasks"
        too_many_tasks(arguments: impl FnOnce() -> (u64, u64))
        (tasks: u64, u64 "tasks", u64 "uint64_t"; "number of tasks")
        (limit: u64, u64 "limit", u64 "uint64_t"; "the limit")
    }
}

/// The probes `user_trace-*` of the provider `dyntrace`.
pub mod user_trace {
    use super::__sdt;

    __sdt::probe! {
        /// An event of the application with one string.
        ///
        /// Stability: stable, with OTP's name and arguments.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "user_trace__s1" "user_trace-s1"
        s1<'a, Message>(arguments: impl FnOnce() -> Message)
        (message: Message, str "message", str "char *", message_buffer; "the string")
    }

    __sdt::probe! {
        /// An event of the application with up to four integers and four strings.
        /// Missing integers are 0, missing strings are null.
        ///
        /// Stability: stable, with OTP's name and arguments.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "user_trace__i4s4" "user_trace-i4s4"
        i4s4<'a, Proc, UserTag, S1, S2, S3, S4>(arguments: impl FnOnce() -> (Proc, UserTag, i64, i64, i64, i64, S1, S2, S3, S4))
        (proc: Proc, process "proc", str "char *", proc_buffer; "pid of the process that fires the probe, as \"\\<0.N.0\\>\"")
        (user_tag: UserTag, str "user_tag", str "char *", user_tag_buffer; "the user tag of that process")
        (i1: i64, i64 "i1", i64 "int64_t"; "first integer")
        (i2: i64, i64 "i2", i64 "int64_t"; "second integer")
        (i3: i64, i64 "i3", i64 "int64_t"; "third integer")
        (i4: i64, i64 "i4", i64 "int64_t"; "fourth integer")
        (s1: S1, str "s1", str "char *", s1_buffer; "first string")
        (s2: S2, str "s2", str "char *", s2_buffer; "second string")
        (s3: S3, str "s3", str "char *", s3_buffer; "third string")
        (s4: S4, str "s4", str "char *", s4_buffer; "fourth string")
    }
}

/// The probes `function-*` of the provider `dyntrace`.
pub mod function {
    use super::__sdt;

    __sdt::probe! {
        /// A function with the attribute `traced` was called, and the call matches a
        /// pattern of a dyntrace::trace session whose events go to the probes. The
        /// first poll of an asynchronous function counts as its call.
        ///
        /// Fires once for each pattern that the call matches.
        ///
        /// Stability: evolving: the text of arguments follows the Debug of their types; the arguments stay.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "function__entry" "function-entry"
        entry<'a, Proc, Function, Arguments, UserTag, Caller>(arguments: impl FnOnce() -> (Proc, Function, Arguments, UserTag, Caller))
        (proc: Proc, process "proc", str "char *", proc_buffer; "pid of the calling process, as \"\\<0.N.0\\>\"")
        (function: Function, str "function", str "char *", function_buffer; "the function, as crate::module::Type::function/arity")
        (arguments: Arguments, str "arguments", str "char *", arguments_buffer; "its arguments, as text; a cut argument ends with \"...\"")
        (user_tag: UserTag, str "user_tag", str "char *", user_tag_buffer; "the user tag of that process")
        (caller: Caller, str "caller", str "char *", caller_buffer; "place of the call, if it is known and the pattern asks for it: file:line, or two addresses in object files, the return address and an address in the function's code")
    }

    __sdt::probe! {
        /// A call that fired function-entry ended, and its pattern asks for this kind
        /// of end.
        ///
        /// Stability: evolving: new kinds of ends may appear; the arguments stay.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "function__return" "function-return"
        r#return<'a, Proc, Function, Value, UserTag, Kind>(arguments: impl FnOnce() -> (Proc, Function, Value, UserTag, Kind, u64, u64))
        (proc: Proc, process "proc", str "char *", proc_buffer; "pid of the calling process, as \"\\<0.N.0\\>\"")
        (function: Function, str "function", str "char *", function_buffer; "the function, as crate::module::Type::function/arity")
        (value: Value, str "value", str "char *", value_buffer; "the returned value as text, the message of the panic, or the place the call returns to, as in function-entry; a cut value ends with \"...\"")
        (user_tag: UserTag, str "user_tag", str "char *", user_tag_buffer; "the user tag of that process")
        (kind: Kind, str "kind", str "char *", kind_buffer; "return, error (a returned Err, if the pattern asks for errors), return_to (fired after these, if asked for), panic, or cancelled (an asynchronous call dropped before it completed)")
        (took: u64, u64 "took", u64 "uint64_t"; "nanoseconds since the call")
        (polled: u64, u64 "polled", u64 "uint64_t"; "nanoseconds that it ran: fewer than took if an asynchronous function waited")
    }
}

/// The probes `code-*` of the provider `dyntrace`.
pub mod code {
    use super::__sdt;

    __sdt::probe! {
        /// The first version of a module was loaded: it can be called from now on.
        ///
        /// Stability: stable: new arguments are added after the last one.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "code__load" "code-load"
        load<'a, Module, Version, File>(arguments: impl FnOnce() -> (Module, Version, File, u64, u64))
        (module: Module, str "module", str "char *", module_buffer; "the module's name")
        (version: Version, str "version", str "char *", version_buffer; "the version that the module declares")
        (file: File, str "file", str "char *", file_buffer; "the loaded file")
        (start: u64, u64 "start", u64 "uint64_t"; "address of the version in memory")
        (size: u64, u64 "size", u64 "uint64_t"; "its size in bytes")
    }

    __sdt::probe! {
        /// A new version of a module replaced the current one: new calls go to it.
        ///
        /// Stability: stable: new arguments are added after the last one.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "code__upgrade" "code-upgrade"
        upgrade<'a, Module, Version, File, OldVersion>(arguments: impl FnOnce() -> (Module, Version, File, u64, u64, OldVersion))
        (module: Module, str "module", str "char *", module_buffer; "the module's name")
        (version: Version, str "version", str "char *", version_buffer; "the new version, as the module declares it")
        (file: File, str "file", str "char *", file_buffer; "the loaded file")
        (start: u64, u64 "start", u64 "uint64_t"; "address of the new version in memory")
        (size: u64, u64 "size", u64 "uint64_t"; "its size in bytes")
        (old_version: OldVersion, str "old_version", str "char *", old_version_buffer; "the version that served calls until now")
    }

    __sdt::probe! {
        /// An old version of a module was purged: no thread runs its code any more.
        ///
        /// Stability: stable: new arguments are added after the last one.
        ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"] "dyntrace" "code__purge" "code-purge"
        purge<'a, Module, Version>(arguments: impl FnOnce() -> (Module, Version, u64, u64))
        (module: Module, str "module", str "char *", module_buffer; "the module's name")
        (version: Version, str "version", str "char *", version_buffer; "the version, as the module declared it")
        (start: u64, u64 "start", u64 "uint64_t"; "address that it had in memory")
        (size: u64, u64 "size", u64 "uint64_t"; "its size in bytes")
    }
}
