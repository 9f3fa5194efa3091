// UPDATE_GOLDEN=1 cargo test -p dyntrace-build --test definitions makes this file anew.
// Made of the provider definition `dyntrace` by dyntrace-build; changes belong there.

/// The probes `message-*` of the provider `dyntrace`.
pub mod message {
    use super::__sdt;

    /// A process sends a message to another process of the same program.
    ///
    /// The size does not include binary data that the message only refers to.
    ///
    /// Stability: stable, with OTP's name and arguments.
    ///
    /// The probe `message-send` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `sender` | `char *` | `Into<Text>` | pid of the sender, as "\<0.N.0\>" |
    /// | `receiver` | `char *` | `Into<Text>` | pid of the receiver, as "\<0.N.0\>" |
    /// | `size` | `uint32_t` | `u32` | size of the message, in machine words |
    /// | `token_label` | `int` | `i32` | label of the sender's sequential trace token |
    /// | `token_previous` | `int` | `i32` | previous count of that token |
    /// | `token_current` | `int` | `i32` | current count of that token |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn send<'a, Sender, Receiver>(
        arguments: impl FnOnce() -> (Sender, Receiver, u32, i32, i32, i32),
    ) where
        Sender: Into<__sdt::Text<'a>>,
        Receiver: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "message__send", send, {
            __sdt::return_if_discarded!(send);
            let (sender, receiver, size, token_label, token_previous, token_current) = arguments();
            send::fire(
                sender.into(),
                receiver.into(),
                size,
                token_label,
                token_previous,
                token_current,
            );
        });
    }

    /// Whether `message-send` is traced, and its firing.
    pub mod send {
        use super::__sdt;

        __sdt::declare!("dyntrace", "message__send");
        __sdt::describe!(
            "dyntrace", "message__send", (process "sender"), (process "receiver"), (u32 "size"), (i32 "token_label"), (i32 "token_previous"), (i32 "token_current")
        );

        /// Whether a tracer looks at `message-send` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "message__send", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "message__send");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(
            sender: __sdt::Text<'_>,
            receiver: __sdt::Text<'_>,
            size: u32,
            token_label: i32,
            token_previous: i32,
            token_current: i32,
        ) {
            let mut sender_buffer = __sdt::Buffer::new();
            let mut receiver_buffer = __sdt::Buffer::new();
            __sdt::record!(
                (process sender sender_buffer),
                (process receiver receiver_buffer),
                (u32 size),
                (i32 token_label),
                (i32 token_previous),
                (i32 token_current),
            );
            __sdt::if_traced!("dyntrace", "message__send", {
                self::trace(sender, receiver, size, token_label, token_previous, token_current);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(
            sender: __sdt::Text<'_>,
            receiver: __sdt::Text<'_>,
            size: u32,
            token_label: i32,
            token_previous: i32,
            token_current: i32,
        ) {
            let mut sender_buffer = __sdt::Buffer::new();
            let sender = sender_buffer.encode(sender);
            let mut receiver_buffer = __sdt::Buffer::new();
            let receiver = receiver_buffer.encode(receiver);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "message__send",
                (str sender "char *")
                (str receiver "char *")
                (u32 size "uint32_t")
                (i32 token_label "int")
                (i32 token_previous "int")
                (i32 token_current "int")
            );
        }
    }

    /// A process sends a message to a process of another node.
    ///
    /// The size does not include binary data that the message only refers to.
    ///
    /// Stability: stable, with OTP's name and arguments.
    ///
    /// The probe `message-send-remote` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `sender` | `char *` | `Into<Text>` | pid of the sender, as "\<0.N.0\>" |
    /// | `node_name` | `char *` | `Into<Text>` | name of the receiver's node |
    /// | `receiver` | `char *` | `Into<Text>` | pid or registered name of the receiver |
    /// | `size` | `uint32_t` | `u32` | size of the message, in machine words |
    /// | `token_label` | `int` | `i32` | label of the sender's sequential trace token |
    /// | `token_previous` | `int` | `i32` | previous count of that token |
    /// | `token_current` | `int` | `i32` | current count of that token |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn send_remote<'a, Sender, NodeName, Receiver>(
        arguments: impl FnOnce() -> (Sender, NodeName, Receiver, u32, i32, i32, i32),
    ) where
        Sender: Into<__sdt::Text<'a>>,
        NodeName: Into<__sdt::Text<'a>>,
        Receiver: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "message__send__remote", send_remote, {
            __sdt::return_if_discarded!(send_remote);
            let (
                sender,
                node_name,
                receiver,
                size,
                token_label,
                token_previous,
                token_current,
            ) = arguments();
            send_remote::fire(
                sender.into(),
                node_name.into(),
                receiver.into(),
                size,
                token_label,
                token_previous,
                token_current,
            );
        });
    }

    /// Whether `message-send-remote` is traced, and its firing.
    pub mod send_remote {
        use super::__sdt;

        __sdt::declare!("dyntrace", "message__send__remote");
        __sdt::describe!(
            "dyntrace", "message__send__remote", (process "sender"), (str "node_name"), (str "receiver"), (u32 "size"), (i32 "token_label"), (i32 "token_previous"), (i32 "token_current")
        );

        /// Whether a tracer looks at `message-send-remote` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "message__send__remote", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "message__send__remote");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(
            sender: __sdt::Text<'_>,
            node_name: __sdt::Text<'_>,
            receiver: __sdt::Text<'_>,
            size: u32,
            token_label: i32,
            token_previous: i32,
            token_current: i32,
        ) {
            let mut sender_buffer = __sdt::Buffer::new();
            let mut node_name_buffer = __sdt::Buffer::new();
            let mut receiver_buffer = __sdt::Buffer::new();
            __sdt::record!(
                (process sender sender_buffer),
                (str node_name node_name_buffer),
                (str receiver receiver_buffer),
                (u32 size),
                (i32 token_label),
                (i32 token_previous),
                (i32 token_current),
            );
            __sdt::if_traced!("dyntrace", "message__send__remote", {
                self::trace(
                    sender,
                    node_name,
                    receiver,
                    size,
                    token_label,
                    token_previous,
                    token_current,
                );
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(
            sender: __sdt::Text<'_>,
            node_name: __sdt::Text<'_>,
            receiver: __sdt::Text<'_>,
            size: u32,
            token_label: i32,
            token_previous: i32,
            token_current: i32,
        ) {
            let mut sender_buffer = __sdt::Buffer::new();
            let sender = sender_buffer.encode(sender);
            let mut node_name_buffer = __sdt::Buffer::new();
            let node_name = node_name_buffer.encode(node_name);
            let mut receiver_buffer = __sdt::Buffer::new();
            let receiver = receiver_buffer.encode(receiver);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "message__send__remote",
                (str sender "char *")
                (str node_name "char *")
                (str receiver "char *")
                (u32 size "uint32_t")
                (i32 token_label "int")
                (i32 token_previous "int")
                (i32 token_current "int")
            );
        }
    }

    /// A message was put into the mailbox of a process of this program. Does
    /// not fire when a process sends to itself.
    ///
    /// The size does not include binary data that the message only refers to.
    ///
    /// Stability: stable, with OTP's name and arguments.
    ///
    /// The probe `message-queued` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `receiver` | `char *` | `Into<Text>` | pid of the receiver, as "\<0.N.0\>" |
    /// | `size` | `uint32_t` | `u32` | size of the message, in machine words |
    /// | `queue_len` | `uint32_t` | `u32` | length of the receiver's mailbox after the step |
    /// | `token_label` | `int` | `i32` | label of the message's sequential trace token |
    /// | `token_previous` | `int` | `i32` | previous count of that token |
    /// | `token_current` | `int` | `i32` | current count of that token |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn queued<'a, Receiver>(
        arguments: impl FnOnce() -> (Receiver, u32, u32, i32, i32, i32),
    ) where
        Receiver: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "message__queued", queued, {
            __sdt::return_if_discarded!(queued);
            let (
                receiver,
                size,
                queue_len,
                token_label,
                token_previous,
                token_current,
            ) = arguments();
            queued::fire(
                receiver.into(),
                size,
                queue_len,
                token_label,
                token_previous,
                token_current,
            );
        });
    }

    /// Whether `message-queued` is traced, and its firing.
    pub mod queued {
        use super::__sdt;

        __sdt::declare!("dyntrace", "message__queued");
        __sdt::describe!(
            "dyntrace", "message__queued", (process "receiver"), (u32 "size"), (u32 "queue_len"), (i32 "token_label"), (i32 "token_previous"), (i32 "token_current")
        );

        /// Whether a tracer looks at `message-queued` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "message__queued", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "message__queued");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(
            receiver: __sdt::Text<'_>,
            size: u32,
            queue_len: u32,
            token_label: i32,
            token_previous: i32,
            token_current: i32,
        ) {
            let mut receiver_buffer = __sdt::Buffer::new();
            __sdt::record!(
                (process receiver receiver_buffer),
                (u32 size),
                (u32 queue_len),
                (i32 token_label),
                (i32 token_previous),
                (i32 token_current),
            );
            __sdt::if_traced!("dyntrace", "message__queued", {
                self::trace(receiver, size, queue_len, token_label, token_previous, token_current);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(
            receiver: __sdt::Text<'_>,
            size: u32,
            queue_len: u32,
            token_label: i32,
            token_previous: i32,
            token_current: i32,
        ) {
            let mut receiver_buffer = __sdt::Buffer::new();
            let receiver = receiver_buffer.encode(receiver);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "message__queued",
                (str receiver "char *")
                (u32 size "uint32_t")
                (u32 queue_len "uint32_t")
                (i32 token_label "int")
                (i32 token_previous "int")
                (i32 token_current "int")
            );
        }
    }

    /// A process took a message out of its mailbox.
    ///
    /// The size does not include binary data that the message only refers to.
    ///
    /// Stability: stable, with OTP's name and arguments.
    ///
    /// The probe `message-receive` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `receiver` | `char *` | `Into<Text>` | pid of the receiver, as "\<0.N.0\>" |
    /// | `size` | `uint32_t` | `u32` | size of the message, in machine words |
    /// | `queue_len` | `uint32_t` | `u32` | length of the receiver's mailbox after the step |
    /// | `token_label` | `int` | `i32` | label of the message's sequential trace token |
    /// | `token_previous` | `int` | `i32` | previous count of that token |
    /// | `token_current` | `int` | `i32` | current count of that token |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn receive<'a, Receiver>(
        arguments: impl FnOnce() -> (Receiver, u32, u32, i32, i32, i32),
    ) where
        Receiver: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "message__receive", receive, {
            __sdt::return_if_discarded!(receive);
            let (
                receiver,
                size,
                queue_len,
                token_label,
                token_previous,
                token_current,
            ) = arguments();
            receive::fire(
                receiver.into(),
                size,
                queue_len,
                token_label,
                token_previous,
                token_current,
            );
        });
    }

    /// Whether `message-receive` is traced, and its firing.
    pub mod receive {
        use super::__sdt;

        __sdt::declare!("dyntrace", "message__receive");
        __sdt::describe!(
            "dyntrace", "message__receive", (process "receiver"), (u32 "size"), (u32 "queue_len"), (i32 "token_label"), (i32 "token_previous"), (i32 "token_current")
        );

        /// Whether a tracer looks at `message-receive` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "message__receive", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "message__receive");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(
            receiver: __sdt::Text<'_>,
            size: u32,
            queue_len: u32,
            token_label: i32,
            token_previous: i32,
            token_current: i32,
        ) {
            let mut receiver_buffer = __sdt::Buffer::new();
            __sdt::record!(
                (process receiver receiver_buffer),
                (u32 size),
                (u32 queue_len),
                (i32 token_label),
                (i32 token_previous),
                (i32 token_current),
            );
            __sdt::if_traced!("dyntrace", "message__receive", {
                self::trace(receiver, size, queue_len, token_label, token_previous, token_current);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(
            receiver: __sdt::Text<'_>,
            size: u32,
            queue_len: u32,
            token_label: i32,
            token_previous: i32,
            token_current: i32,
        ) {
            let mut receiver_buffer = __sdt::Buffer::new();
            let receiver = receiver_buffer.encode(receiver);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "message__receive",
                (str receiver "char *")
                (u32 size "uint32_t")
                (u32 queue_len "uint32_t")
                (i32 token_label "int")
                (i32 token_previous "int")
                (i32 token_current "int")
            );
        }
    }
}

/// The probes `dist-*` of the provider `dyntrace`.
pub mod dist {
    use super::__sdt;

    /// A node came up or went down: a connection to it was made or ended.
    ///
    /// The nodedown of a connection comes after its nodeup. When a node reconnects,
    /// the nodedown of the old connection comes before the new nodeup.
    ///
    /// Stability: stable, with OTP's name and arguments.
    ///
    /// The probe `dist-monitor` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `node` | `char *` | `Into<Text>` | name of this node |
    /// | `what` | `char *` | `Into<Text>` | nodeup or nodedown |
    /// | `monitored_node` | `char *` | `Into<Text>` | name of the other node |
    /// | `type` | `char *` | `Into<Text>` | visible, or hidden for a node that its peers do not list in nodes() |
    /// | `reason` | `char *` | `Into<Text>` | why the connection ended, as text; absent for nodeup |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn monitor<'a, Node, What, MonitoredNode, Type, Reason>(
        arguments: impl FnOnce() -> (Node, What, MonitoredNode, Type, Reason),
    ) where
        Node: Into<__sdt::Text<'a>>,
        What: Into<__sdt::Text<'a>>,
        MonitoredNode: Into<__sdt::Text<'a>>,
        Type: Into<__sdt::Text<'a>>,
        Reason: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "dist__monitor", monitor, {
            __sdt::return_if_discarded!(monitor);
            let (node, what, monitored_node, r#type, reason) = arguments();
            monitor::fire(
                node.into(),
                what.into(),
                monitored_node.into(),
                r#type.into(),
                reason.into(),
            );
        });
    }

    /// Whether `dist-monitor` is traced, and its firing.
    pub mod monitor {
        use super::__sdt;

        __sdt::declare!("dyntrace", "dist__monitor");
        __sdt::describe!(
            "dyntrace", "dist__monitor", (str "node"), (str "what"), (str "monitored_node"), (str "type"), (str "reason")
        );

        /// Whether a tracer looks at `dist-monitor` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "dist__monitor", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "dist__monitor");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(
            node: __sdt::Text<'_>,
            what: __sdt::Text<'_>,
            monitored_node: __sdt::Text<'_>,
            r#type: __sdt::Text<'_>,
            reason: __sdt::Text<'_>,
        ) {
            let mut node_buffer = __sdt::Buffer::new();
            let mut what_buffer = __sdt::Buffer::new();
            let mut monitored_node_buffer = __sdt::Buffer::new();
            let mut type_buffer = __sdt::Buffer::new();
            let mut reason_buffer = __sdt::Buffer::new();
            __sdt::record!(
                (str node node_buffer),
                (str what what_buffer),
                (str monitored_node monitored_node_buffer),
                (str r#type type_buffer),
                (str reason reason_buffer),
            );
            __sdt::if_traced!("dyntrace", "dist__monitor", {
                self::trace(node, what, monitored_node, r#type, reason);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(
            node: __sdt::Text<'_>,
            what: __sdt::Text<'_>,
            monitored_node: __sdt::Text<'_>,
            r#type: __sdt::Text<'_>,
            reason: __sdt::Text<'_>,
        ) {
            let mut node_buffer = __sdt::Buffer::new();
            let node = node_buffer.encode(node);
            let mut what_buffer = __sdt::Buffer::new();
            let what = what_buffer.encode(what);
            let mut monitored_node_buffer = __sdt::Buffer::new();
            let monitored_node = monitored_node_buffer.encode(monitored_node);
            let mut type_buffer = __sdt::Buffer::new();
            let r#type = type_buffer.encode(r#type);
            let mut reason_buffer = __sdt::Buffer::new();
            let reason = reason_buffer.encode(reason);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "dist__monitor",
                (str node "char *")
                (str what "char *")
                (str monitored_node "char *")
                (str r#type "char *")
                (str reason "char *")
            );
        }
    }

    /// A process waits before it sends to another node, because that node reads
    /// more slowly than this one writes. Fires once for each waiting message.
    ///
    /// Stability: stable, with OTP's name and arguments.
    ///
    /// The probe `dist-port_busy` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `node` | `char *` | `Into<Text>` | name of this node |
    /// | `port` | `char *` | `Into<Text>` | the connection, by the name of the other node |
    /// | `remote_node` | `char *` | `Into<Text>` | name of the other node |
    /// | `pid` | `char *` | `Into<Text>` | pid of the waiting process, as "\<0.N.0\>" |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn port_busy<'a, Node, Port, RemoteNode, Pid>(
        arguments: impl FnOnce() -> (Node, Port, RemoteNode, Pid),
    ) where
        Node: Into<__sdt::Text<'a>>,
        Port: Into<__sdt::Text<'a>>,
        RemoteNode: Into<__sdt::Text<'a>>,
        Pid: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "dist__port_busy", port_busy, {
            __sdt::return_if_discarded!(port_busy);
            let (node, port, remote_node, pid) = arguments();
            port_busy::fire(node.into(), port.into(), remote_node.into(), pid.into());
        });
    }

    /// Whether `dist-port_busy` is traced, and its firing.
    pub mod port_busy {
        use super::__sdt;

        __sdt::declare!("dyntrace", "dist__port_busy");
        __sdt::describe!(
            "dyntrace", "dist__port_busy", (str "node"), (str "port"), (str "remote_node"), (process "pid")
        );

        /// Whether a tracer looks at `dist-port_busy` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "dist__port_busy", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "dist__port_busy");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(
            node: __sdt::Text<'_>,
            port: __sdt::Text<'_>,
            remote_node: __sdt::Text<'_>,
            pid: __sdt::Text<'_>,
        ) {
            let mut node_buffer = __sdt::Buffer::new();
            let mut port_buffer = __sdt::Buffer::new();
            let mut remote_node_buffer = __sdt::Buffer::new();
            let mut pid_buffer = __sdt::Buffer::new();
            __sdt::record!(
                (str node node_buffer),
                (str port port_buffer),
                (str remote_node remote_node_buffer),
                (process pid pid_buffer),
            );
            __sdt::if_traced!("dyntrace", "dist__port_busy", {
                self::trace(node, port, remote_node, pid);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(
            node: __sdt::Text<'_>,
            port: __sdt::Text<'_>,
            remote_node: __sdt::Text<'_>,
            pid: __sdt::Text<'_>,
        ) {
            let mut node_buffer = __sdt::Buffer::new();
            let node = node_buffer.encode(node);
            let mut port_buffer = __sdt::Buffer::new();
            let port = port_buffer.encode(port);
            let mut remote_node_buffer = __sdt::Buffer::new();
            let remote_node = remote_node_buffer.encode(remote_node);
            let mut pid_buffer = __sdt::Buffer::new();
            let pid = pid_buffer.encode(pid);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "dist__port_busy",
                (str node "char *")
                (str port "char *")
                (str remote_node "char *")
                (str pid "char *")
            );
        }
    }

    /// A busy connection has room again. Fires once for all waiting processes. If
    /// the connection ends while it is busy, dist-monitor fires with nodedown
    /// instead.
    ///
    /// Stability: stable, with OTP's name and arguments.
    ///
    /// The probe `dist-port_not_busy` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `node` | `char *` | `Into<Text>` | name of this node |
    /// | `port` | `char *` | `Into<Text>` | the connection, by the name of the other node |
    /// | `remote_node` | `char *` | `Into<Text>` | name of the other node |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn port_not_busy<'a, Node, Port, RemoteNode>(
        arguments: impl FnOnce() -> (Node, Port, RemoteNode),
    ) where
        Node: Into<__sdt::Text<'a>>,
        Port: Into<__sdt::Text<'a>>,
        RemoteNode: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "dist__port_not_busy", port_not_busy, {
            __sdt::return_if_discarded!(port_not_busy);
            let (node, port, remote_node) = arguments();
            port_not_busy::fire(node.into(), port.into(), remote_node.into());
        });
    }

    /// Whether `dist-port_not_busy` is traced, and its firing.
    pub mod port_not_busy {
        use super::__sdt;

        __sdt::declare!("dyntrace", "dist__port_not_busy");
        __sdt::describe!(
            "dyntrace", "dist__port_not_busy", (str "node"), (str "port"), (str "remote_node")
        );

        /// Whether a tracer looks at `dist-port_not_busy` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "dist__port_not_busy", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "dist__port_not_busy");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(
            node: __sdt::Text<'_>,
            port: __sdt::Text<'_>,
            remote_node: __sdt::Text<'_>,
        ) {
            let mut node_buffer = __sdt::Buffer::new();
            let mut port_buffer = __sdt::Buffer::new();
            let mut remote_node_buffer = __sdt::Buffer::new();
            __sdt::record!(
                (str node node_buffer),
                (str port port_buffer),
                (str remote_node remote_node_buffer),
            );
            __sdt::if_traced!("dyntrace", "dist__port_not_busy", {
                self::trace(node, port, remote_node);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(node: __sdt::Text<'_>, port: __sdt::Text<'_>, remote_node: __sdt::Text<'_>) {
            let mut node_buffer = __sdt::Buffer::new();
            let node = node_buffer.encode(node);
            let mut port_buffer = __sdt::Buffer::new();
            let port = port_buffer.encode(port);
            let mut remote_node_buffer = __sdt::Buffer::new();
            let remote_node = remote_node_buffer.encode(remote_node);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "dist__port_not_busy",
                (str node "char *")
                (str port "char *")
                (str remote_node "char *")
            );
        }
    }

    /// A write call to a connection's socket took bytes: messages, signals and
    /// ticks. Under TLS these are the bytes before encryption.
    ///
    /// Stability: stable, with OTP's name and arguments.
    ///
    /// The probe `dist-output` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `node` | `char *` | `Into<Text>` | name of this node |
    /// | `port` | `char *` | `Into<Text>` | the connection, by the name of the other node |
    /// | `remote_node` | `char *` | `Into<Text>` | name of the other node |
    /// | `bytes` | `int` | `i32` | number of bytes that the call took |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn output<'a, Node, Port, RemoteNode>(
        arguments: impl FnOnce() -> (Node, Port, RemoteNode, i32),
    ) where
        Node: Into<__sdt::Text<'a>>,
        Port: Into<__sdt::Text<'a>>,
        RemoteNode: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "dist__output", output, {
            __sdt::return_if_discarded!(output);
            let (node, port, remote_node, bytes) = arguments();
            output::fire(node.into(), port.into(), remote_node.into(), bytes);
        });
    }

    /// Whether `dist-output` is traced, and its firing.
    pub mod output {
        use super::__sdt;

        __sdt::declare!("dyntrace", "dist__output");
        __sdt::describe!(
            "dyntrace", "dist__output", (str "node"), (str "port"), (str "remote_node"), (i32 "bytes")
        );

        /// Whether a tracer looks at `dist-output` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "dist__output", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "dist__output");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(
            node: __sdt::Text<'_>,
            port: __sdt::Text<'_>,
            remote_node: __sdt::Text<'_>,
            bytes: i32,
        ) {
            let mut node_buffer = __sdt::Buffer::new();
            let mut port_buffer = __sdt::Buffer::new();
            let mut remote_node_buffer = __sdt::Buffer::new();
            __sdt::record!(
                (str node node_buffer),
                (str port port_buffer),
                (str remote_node remote_node_buffer),
                (i32 bytes),
            );
            __sdt::if_traced!("dyntrace", "dist__output", {
                self::trace(node, port, remote_node, bytes);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(
            node: __sdt::Text<'_>,
            port: __sdt::Text<'_>,
            remote_node: __sdt::Text<'_>,
            bytes: i32,
        ) {
            let mut node_buffer = __sdt::Buffer::new();
            let node = node_buffer.encode(node);
            let mut port_buffer = __sdt::Buffer::new();
            let port = port_buffer.encode(port);
            let mut remote_node_buffer = __sdt::Buffer::new();
            let remote_node = remote_node_buffer.encode(remote_node);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "dist__output",
                (str node "char *")
                (str port "char *")
                (str remote_node "char *")
                (i32 bytes "int")
            );
        }
    }
}

/// The probes `aio_pool-*` of the provider `dyntrace`.
pub mod aio_pool {
    use super::__sdt;

    /// A job was put into the queue of one of the pool's threads.
    ///
    /// Stability: stable, with OTP's name and arguments.
    ///
    /// The probe `aio_pool-add` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `port` | `char *` | `Into<Text>` | the port of the job, as "#Port\<0.N\>" |
    /// | `new_queue_length` | `int` | `i32` | length of that queue after the step |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn add<'a, Port>(
        arguments: impl FnOnce() -> (Port, i32),
    ) where
        Port: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "aio_pool__add", add, {
            __sdt::return_if_discarded!(add);
            let (port, new_queue_length) = arguments();
            add::fire(port.into(), new_queue_length);
        });
    }

    /// Whether `aio_pool-add` is traced, and its firing.
    pub mod add {
        use super::__sdt;

        __sdt::declare!("dyntrace", "aio_pool__add");
        __sdt::describe!(
            "dyntrace", "aio_pool__add", (port "port"), (i32 "new_queue_length")
        );

        /// Whether a tracer looks at `aio_pool-add` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "aio_pool__add", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "aio_pool__add");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(port: __sdt::Text<'_>, new_queue_length: i32) {
            let mut port_buffer = __sdt::Buffer::new();
            __sdt::record!((port port port_buffer), (i32 new_queue_length));
            __sdt::if_traced!("dyntrace", "aio_pool__add", {
                self::trace(port, new_queue_length);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(port: __sdt::Text<'_>, new_queue_length: i32) {
            let mut port_buffer = __sdt::Buffer::new();
            let port = port_buffer.encode(port);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "aio_pool__add",
                (str port "char *")
                (i32 new_queue_length "int")
            );
        }
    }

    /// A job was taken out of the queue of one of the pool's threads.
    ///
    /// Stability: stable: OTP's name and arguments, and after them the lane; new ones would follow these.
    ///
    /// The probe `aio_pool-get` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `port` | `char *` | `Into<Text>` | the port of the job, as "#Port\<0.N\>" |
    /// | `new_queue_length` | `int` | `i32` | length of that queue after the step |
    /// | `lane` | `int` | `i32` | lane of the thread that owns the queue: 1 the fast lane, 2 the slow lane |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn get<'a, Port>(
        arguments: impl FnOnce() -> (Port, i32, i32),
    ) where
        Port: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "aio_pool__get", get, {
            __sdt::return_if_discarded!(get);
            let (port, new_queue_length, lane) = arguments();
            get::fire(port.into(), new_queue_length, lane);
        });
    }

    /// Whether `aio_pool-get` is traced, and its firing.
    pub mod get {
        use super::__sdt;

        __sdt::declare!("dyntrace", "aio_pool__get");
        __sdt::describe!(
            "dyntrace", "aio_pool__get", (port "port"), (i32 "new_queue_length"), (small "lane")
        );

        /// Whether a tracer looks at `aio_pool-get` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "aio_pool__get", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "aio_pool__get");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(port: __sdt::Text<'_>, new_queue_length: i32, lane: i32) {
            let mut port_buffer = __sdt::Buffer::new();
            __sdt::record!((port port port_buffer), (i32 new_queue_length), (small lane));
            __sdt::if_traced!("dyntrace", "aio_pool__get", {
                self::trace(port, new_queue_length, lane);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(port: __sdt::Text<'_>, new_queue_length: i32, lane: i32) {
            let mut port_buffer = __sdt::Buffer::new();
            let port = port_buffer.encode(port);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "aio_pool__get",
                (str port "char *")
                (i32 new_queue_length "int")
                (i32 lane "int")
            );
        }
    }
}

/// The probes `port-*` of the provider `dyntrace`.
pub mod port {
    use super::__sdt;

    /// The queues of a pool are full: this operation and later ones wait in line.
    /// Does not fire again before port-not_busy has fired. A pool of more than 8
    /// threads has several sets of queues, for which this holds one by one.
    ///
    /// Stability: stable, with OTP's name and arguments.
    ///
    /// The probe `port-busy` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `port` | `char *` | `Into<Text>` | the port of the first waiting operation, as "#Port\<0.N\>" |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn busy<'a, Port>(
        arguments: impl FnOnce() -> Port,
    ) where
        Port: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "port__busy", busy, {
            __sdt::return_if_discarded!(busy);
            let port = arguments();
            busy::fire(port.into());
        });
    }

    /// Whether `port-busy` is traced, and its firing.
    pub mod busy {
        use super::__sdt;

        __sdt::declare!("dyntrace", "port__busy");
        __sdt::describe!(
            "dyntrace", "port__busy", (port "port")
        );

        /// Whether a tracer looks at `port-busy` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "port__busy", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "port__busy");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(port: __sdt::Text<'_>) {
            let mut port_buffer = __sdt::Buffer::new();
            __sdt::record!((port port port_buffer));
            __sdt::if_traced!("dyntrace", "port__busy", {
                self::trace(port);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(port: __sdt::Text<'_>) {
            let mut port_buffer = __sdt::Buffer::new();
            let port = port_buffer.encode(port);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "port__busy",
                (str port "char *")
            );
        }
    }

    /// The queues of a busy pool have room again: no operation waits in line. Also
    /// fires when a busy pool is shut down.
    ///
    /// Stability: stable, with OTP's name and arguments.
    ///
    /// The probe `port-not_busy` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `port` | `char *` | `Into<Text>` | the port of the port-busy that this one ends, as "#Port\<0.N\>" |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn not_busy<'a, Port>(
        arguments: impl FnOnce() -> Port,
    ) where
        Port: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "port__not_busy", not_busy, {
            __sdt::return_if_discarded!(not_busy);
            let port = arguments();
            not_busy::fire(port.into());
        });
    }

    /// Whether `port-not_busy` is traced, and its firing.
    pub mod not_busy {
        use super::__sdt;

        __sdt::declare!("dyntrace", "port__not_busy");
        __sdt::describe!(
            "dyntrace", "port__not_busy", (port "port")
        );

        /// Whether a tracer looks at `port-not_busy` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "port__not_busy", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "port__not_busy");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(port: __sdt::Text<'_>) {
            let mut port_buffer = __sdt::Buffer::new();
            __sdt::record!((port port port_buffer));
            __sdt::if_traced!("dyntrace", "port__not_busy", {
                self::trace(port);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(port: __sdt::Text<'_>) {
            let mut port_buffer = __sdt::Buffer::new();
            let port = port_buffer.encode(port);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "port__not_busy",
                (str port "char *")
            );
        }
    }
}

/// The probes `efile_drv-*` of the provider `dyntrace`.
pub mod efile_drv {
    use super::__sdt;

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
    ///
    /// The probe `efile_drv-entry` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `thread_id` | `int` | `i32` | number of the thread that submitted the operation |
    /// | `tag` | `int` | `i32` | that thread's number for the operation |
    /// | `user_tag` | `char *` | `Into<Text>` | the user tag of the task that submitted it |
    /// | `command` | `int` | `i32` | number of the command |
    /// | `s1` | `char *` | `Into<Text>` | first string argument of the command |
    /// | `s2` | `char *` | `Into<Text>` | second string argument of the command |
    /// | `i1` | `int64_t` | `i64` | first integer argument of the command |
    /// | `i2` | `int64_t` | `i64` | second integer argument of the command |
    /// | `i3` | `int64_t` | `i64` | third integer argument of the command |
    /// | `i4` | `int64_t` | `i64` | fourth integer argument of the command |
    /// | `port` | `char *` | `Into<Text>` | the port of the operation, as "#Port\<0.N\>" |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn entry<'a, UserTag, S1, S2, Port>(
        arguments: impl FnOnce() -> (i32, i32, UserTag, i32, S1, S2, i64, i64, i64, i64, Port),
    ) where
        UserTag: Into<__sdt::Text<'a>>,
        S1: Into<__sdt::Text<'a>>,
        S2: Into<__sdt::Text<'a>>,
        Port: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "efile_drv__entry", entry, {
            __sdt::return_if_discarded!(entry);
            let (thread_id, tag, user_tag, command, s1, s2, i1, i2, i3, i4, port) = arguments();
            entry::fire(
                thread_id,
                tag,
                user_tag.into(),
                command,
                s1.into(),
                s2.into(),
                i1,
                i2,
                i3,
                i4,
                port.into(),
            );
        });
    }

    /// Whether `efile_drv-entry` is traced, and its firing.
    pub mod entry {
        use super::__sdt;

        __sdt::declare!("dyntrace", "efile_drv__entry");
        __sdt::describe!(
            "dyntrace", "efile_drv__entry", (i32 "thread_id"), (count "tag"), (str "user_tag"), (small "command"), (str "s1"), (str "s2"), (i64 "i1"), (i64 "i2"), (i64 "i3"), (i64 "i4"), (port "port")
        );

        /// Whether a tracer looks at `efile_drv-entry` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "efile_drv__entry", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "efile_drv__entry");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(
            thread_id: i32,
            tag: i32,
            user_tag: __sdt::Text<'_>,
            command: i32,
            s1: __sdt::Text<'_>,
            s2: __sdt::Text<'_>,
            i1: i64,
            i2: i64,
            i3: i64,
            i4: i64,
            port: __sdt::Text<'_>,
        ) {
            let mut user_tag_buffer = __sdt::Buffer::new();
            let mut s1_buffer = __sdt::Buffer::new();
            let mut s2_buffer = __sdt::Buffer::new();
            let mut port_buffer = __sdt::Buffer::new();
            __sdt::record!(
                (i32 thread_id),
                (count tag),
                (str user_tag user_tag_buffer),
                (small command),
                (str s1 s1_buffer),
                (str s2 s2_buffer),
                (i64 i1),
                (i64 i2),
                (i64 i3),
                (i64 i4),
                (port port port_buffer),
            );
            __sdt::if_traced!("dyntrace", "efile_drv__entry", {
                self::trace(thread_id, tag, user_tag, command, s1, s2, i1, i2, i3, i4, port);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(
            thread_id: i32,
            tag: i32,
            user_tag: __sdt::Text<'_>,
            command: i32,
            s1: __sdt::Text<'_>,
            s2: __sdt::Text<'_>,
            i1: i64,
            i2: i64,
            i3: i64,
            i4: i64,
            port: __sdt::Text<'_>,
        ) {
            let mut user_tag_buffer = __sdt::Buffer::new();
            let user_tag = user_tag_buffer.encode(user_tag);
            let mut s1_buffer = __sdt::Buffer::new();
            let s1 = s1_buffer.encode(s1);
            let mut s2_buffer = __sdt::Buffer::new();
            let s2 = s2_buffer.encode(s2);
            let mut port_buffer = __sdt::Buffer::new();
            let port = port_buffer.encode(port);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "efile_drv__entry",
                (i32 thread_id "int")
                (i32 tag "int")
                (str user_tag "char *")
                (i32 command "int")
                (str s1 "char *")
                (str s2 "char *")
                (i64 i1 "int64_t")
                (i64 i2 "int64_t")
                (i64 i3 "int64_t")
                (i64 i4 "int64_t")
                (str port "char *")
            );
        }
    }

    /// A thread starts an operation: an I/O thread its job, or the calling
    /// thread an attempt to answer it from the system's caches. After an
    /// attempt in vain it fires again, for the job.
    ///
    /// Stability: stable, with OTP's name and arguments.
    ///
    /// The probe `efile_drv-int_entry` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `thread_id` | `int` | `i32` | number of the thread that submitted the operation |
    /// | `tag` | `int` | `i32` | that thread's number for the operation |
    /// | `command` | `int` | `i32` | number of the command |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn int_entry(arguments: impl FnOnce() -> (i32, i32, i32)) {
        __sdt::if_enabled!("dyntrace", "efile_drv__int_entry", int_entry, {
            __sdt::return_if_discarded!(int_entry);
            let (thread_id, tag, command) = arguments();
            int_entry::fire(thread_id, tag, command);
        });
    }

    /// Whether `efile_drv-int_entry` is traced, and its firing.
    pub mod int_entry {
        use super::__sdt;

        __sdt::declare!("dyntrace", "efile_drv__int_entry");
        __sdt::describe!(
            "dyntrace", "efile_drv__int_entry", (i32 "thread_id"), (count "tag"), (small "command")
        );

        /// Whether a tracer looks at `efile_drv-int_entry` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "efile_drv__int_entry", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "efile_drv__int_entry");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(thread_id: i32, tag: i32, command: i32) {
            __sdt::record!((i32 thread_id), (count tag), (small command));
            __sdt::if_traced!("dyntrace", "efile_drv__int_entry", {
                self::trace(thread_id, tag, command);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(thread_id: i32, tag: i32, command: i32) {
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "efile_drv__int_entry",
                (i32 thread_id "int")
                (i32 tag "int")
                (i32 command "int")
            );
        }
    }

    /// The thread that started an operation ended it; fires at most once for
    /// each efile_drv-entry.
    ///
    /// Stability: stable, with OTP's name and arguments.
    ///
    /// The probe `efile_drv-int_return` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `thread_id` | `int` | `i32` | number of the thread that submitted the operation |
    /// | `tag` | `int` | `i32` | that thread's number for the operation |
    /// | `command` | `int` | `i32` | number of the command |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn int_return(arguments: impl FnOnce() -> (i32, i32, i32)) {
        __sdt::if_enabled!("dyntrace", "efile_drv__int_return", int_return, {
            __sdt::return_if_discarded!(int_return);
            let (thread_id, tag, command) = arguments();
            int_return::fire(thread_id, tag, command);
        });
    }

    /// Whether `efile_drv-int_return` is traced, and its firing.
    pub mod int_return {
        use super::__sdt;

        __sdt::declare!("dyntrace", "efile_drv__int_return");
        __sdt::describe!(
            "dyntrace", "efile_drv__int_return", (i32 "thread_id"), (count "tag"), (small "command")
        );

        /// Whether a tracer looks at `efile_drv-int_return` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "efile_drv__int_return", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "efile_drv__int_return");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(thread_id: i32, tag: i32, command: i32) {
            __sdt::record!((i32 thread_id), (count tag), (small command));
            __sdt::if_traced!("dyntrace", "efile_drv__int_return", {
                self::trace(thread_id, tag, command);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(thread_id: i32, tag: i32, command: i32) {
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "efile_drv__int_return",
                (i32 thread_id "int")
                (i32 tag "int")
                (i32 command "int")
            );
        }
    }

    /// The file driver returned an operation's result; fires once for each
    /// efile_drv-entry.
    ///
    /// Stability: stable: OTP's name and arguments, and after them the bytes; new ones would follow these.
    ///
    /// The probe `efile_drv-return` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `thread_id` | `int` | `i32` | number of the thread that submitted the operation |
    /// | `tag` | `int` | `i32` | that thread's number for the operation |
    /// | `user_tag` | `char *` | `Into<Text>` | the user tag of the task that submitted it |
    /// | `command` | `int` | `i32` | number of the command |
    /// | `success` | `int` | `i32` | 1 for success, 0 for failure |
    /// | `errno` | `int` | `i32` | errno of a failure, else 0 |
    /// | `bytes` | `int64_t` | `i64` | the bytes of files that the operation read, wrote or copied |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn r#return<'a, UserTag>(
        arguments: impl FnOnce() -> (i32, i32, UserTag, i32, i32, i32, i64),
    ) where
        UserTag: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "efile_drv__return", r#return, {
            __sdt::return_if_discarded!(r#return);
            let (thread_id, tag, user_tag, command, success, errno, bytes) = arguments();
            r#return::fire(thread_id, tag, user_tag.into(), command, success, errno, bytes);
        });
    }

    /// Whether `efile_drv-return` is traced, and its firing.
    pub mod r#return {
        use super::__sdt;

        __sdt::declare!("dyntrace", "efile_drv__return");
        __sdt::describe!(
            "dyntrace", "efile_drv__return", (i32 "thread_id"), (count "tag"), (str "user_tag"), (small "command"), (small "success"), (i32 "errno"), (i64 "bytes")
        );

        /// Whether a tracer looks at `efile_drv-return` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "efile_drv__return", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "efile_drv__return");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(
            thread_id: i32,
            tag: i32,
            user_tag: __sdt::Text<'_>,
            command: i32,
            success: i32,
            errno: i32,
            bytes: i64,
        ) {
            let mut user_tag_buffer = __sdt::Buffer::new();
            __sdt::record!(
                (i32 thread_id),
                (count tag),
                (str user_tag user_tag_buffer),
                (small command),
                (small success),
                (i32 errno),
                (i64 bytes),
            );
            __sdt::if_traced!("dyntrace", "efile_drv__return", {
                self::trace(thread_id, tag, user_tag, command, success, errno, bytes);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(
            thread_id: i32,
            tag: i32,
            user_tag: __sdt::Text<'_>,
            command: i32,
            success: i32,
            errno: i32,
            bytes: i64,
        ) {
            let mut user_tag_buffer = __sdt::Buffer::new();
            let user_tag = user_tag_buffer.encode(user_tag);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "efile_drv__return",
                (i32 thread_id "int")
                (i32 tag "int")
                (str user_tag "char *")
                (i32 command "int")
                (i32 success "int")
                (i32 errno "int")
                (i64 bytes "int64_t")
            );
        }
    }
}

/// The probes `seq_trace-*` of the provider `dyntrace`.
pub mod seq_trace {
    use super::__sdt;

    /// A process with a sequential trace token submits an operation to the file
    /// driver. Fires just before the operation's efile_drv-entry, if that probe is
    /// enabled, too.
    ///
    /// Stability: stable: new arguments are added after the last one.
    ///
    /// The probe `seq_trace-operation` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `thread_id` | `int` | `i32` | number of the thread that submits the operation |
    /// | `tag` | `int` | `i32` | that thread's number for the operation |
    /// | `proc` | `char *` | `Into<Text>` | pid of the process, as "\<0.N.0\>" |
    /// | `token_label` | `int` | `i32` | label of the process's sequential trace token |
    /// | `token_previous` | `int` | `i32` | previous count of that token |
    /// | `token_current` | `int` | `i32` | current count of that token |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn operation<'a, Proc>(
        arguments: impl FnOnce() -> (i32, i32, Proc, i32, i32, i32),
    ) where
        Proc: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "seq_trace__operation", operation, {
            __sdt::return_if_discarded!(operation);
            let (thread_id, tag, proc, token_label, token_previous, token_current) = arguments();
            operation::fire(
                thread_id,
                tag,
                proc.into(),
                token_label,
                token_previous,
                token_current,
            );
        });
    }

    /// Whether `seq_trace-operation` is traced, and its firing.
    pub mod operation {
        use super::__sdt;

        __sdt::declare!("dyntrace", "seq_trace__operation");
        __sdt::describe!(
            "dyntrace", "seq_trace__operation", (i32 "thread_id"), (count "tag"), (process "proc"), (i32 "token_label"), (i32 "token_previous"), (i32 "token_current")
        );

        /// Whether a tracer looks at `seq_trace-operation` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "seq_trace__operation", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "seq_trace__operation");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(
            thread_id: i32,
            tag: i32,
            proc: __sdt::Text<'_>,
            token_label: i32,
            token_previous: i32,
            token_current: i32,
        ) {
            let mut proc_buffer = __sdt::Buffer::new();
            __sdt::record!(
                (i32 thread_id),
                (count tag),
                (process proc proc_buffer),
                (i32 token_label),
                (i32 token_previous),
                (i32 token_current),
            );
            __sdt::if_traced!("dyntrace", "seq_trace__operation", {
                self::trace(thread_id, tag, proc, token_label, token_previous, token_current);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(
            thread_id: i32,
            tag: i32,
            proc: __sdt::Text<'_>,
            token_label: i32,
            token_previous: i32,
            token_current: i32,
        ) {
            let mut proc_buffer = __sdt::Buffer::new();
            let proc = proc_buffer.encode(proc);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "seq_trace__operation",
                (i32 thread_id "int")
                (i32 tag "int")
                (str proc "char *")
                (i32 token_label "int")
                (i32 token_previous "int")
                (i32 token_current "int")
            );
        }
    }
}

/// The probes `process-*` of the provider `dyntrace`.
pub mod process {
    use super::__sdt;

    /// A process was started.
    ///
    /// Stability: stable: OTP's name and arguments, and after them three of our own; new ones would follow these.
    ///
    /// The probe `process-spawn` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `proc` | `char *` | `Into<Text>` | pid of the new process, as "\<0.N.0\>" |
    /// | `fun` | `char *` | `Into<Text>` | type of its future or closure: the path of the function, with {{closure}} for each block or closure in it; ? for a task that dyntrace did not start |
    /// | `parent` | `char *` | `Into<Text>` | pid of the process that started it, as "\<0.N.0\>" |
    /// | `place` | `char *` | `Into<Text>` | call that started it, as file:line |
    /// | `user_tag` | `char *` | `Into<Text>` | the user tag that it begins with |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn spawn<'a, Proc, Fun, Parent, Place, UserTag>(
        arguments: impl FnOnce() -> (Proc, Fun, Parent, Place, UserTag),
    ) where
        Proc: Into<__sdt::Text<'a>>,
        Fun: Into<__sdt::Text<'a>>,
        Parent: Into<__sdt::Text<'a>>,
        Place: Into<__sdt::Text<'a>>,
        UserTag: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "process__spawn", spawn, {
            __sdt::return_if_discarded!(spawn);
            let (proc, fun, parent, place, user_tag) = arguments();
            spawn::fire(proc.into(), fun.into(), parent.into(), place.into(), user_tag.into());
        });
    }

    /// Whether `process-spawn` is traced, and its firing.
    pub mod spawn {
        use super::__sdt;

        __sdt::declare!("dyntrace", "process__spawn");
        __sdt::describe!(
            "dyntrace", "process__spawn", (process "proc"), (str "fun"), (process "parent"), (str "place"), (str "user_tag")
        );

        /// Whether a tracer looks at `process-spawn` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "process__spawn", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "process__spawn");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(
            proc: __sdt::Text<'_>,
            fun: __sdt::Text<'_>,
            parent: __sdt::Text<'_>,
            place: __sdt::Text<'_>,
            user_tag: __sdt::Text<'_>,
        ) {
            let mut proc_buffer = __sdt::Buffer::new();
            let mut fun_buffer = __sdt::Buffer::new();
            let mut parent_buffer = __sdt::Buffer::new();
            let mut place_buffer = __sdt::Buffer::new();
            let mut user_tag_buffer = __sdt::Buffer::new();
            __sdt::record!(
                (process proc proc_buffer),
                (str fun fun_buffer),
                (process parent parent_buffer),
                (str place place_buffer),
                (str user_tag user_tag_buffer),
            );
            __sdt::if_traced!("dyntrace", "process__spawn", {
                self::trace(proc, fun, parent, place, user_tag);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(
            proc: __sdt::Text<'_>,
            fun: __sdt::Text<'_>,
            parent: __sdt::Text<'_>,
            place: __sdt::Text<'_>,
            user_tag: __sdt::Text<'_>,
        ) {
            let mut proc_buffer = __sdt::Buffer::new();
            let proc = proc_buffer.encode(proc);
            let mut fun_buffer = __sdt::Buffer::new();
            let fun = fun_buffer.encode(fun);
            let mut parent_buffer = __sdt::Buffer::new();
            let parent = parent_buffer.encode(parent);
            let mut place_buffer = __sdt::Buffer::new();
            let place = place_buffer.encode(place);
            let mut user_tag_buffer = __sdt::Buffer::new();
            let user_tag = user_tag_buffer.encode(user_tag);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "process__spawn",
                (str proc "char *")
                (str fun "char *")
                (str parent "char *")
                (str place "char *")
                (str user_tag "char *")
            );
        }
    }

    /// A process has ended: its future or closure is dropped.
    ///
    /// Stability: stable, with OTP's name and arguments.
    ///
    /// The probe `process-exit` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `proc` | `char *` | `Into<Text>` | pid of the process, as "\<0.N.0\>" |
    /// | `reason` | `char *` | `Into<Text>` | normal, cancelled (dropped before its end), or panic; panic: and the text of the panic, if process-scheduled or process-unscheduled was traced, too; ended, in any of these ways, for a task that dyntrace did not start |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn exit<'a, Proc, Reason>(
        arguments: impl FnOnce() -> (Proc, Reason),
    ) where
        Proc: Into<__sdt::Text<'a>>,
        Reason: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "process__exit", exit, {
            __sdt::return_if_discarded!(exit);
            let (proc, reason) = arguments();
            exit::fire(proc.into(), reason.into());
        });
    }

    /// Whether `process-exit` is traced, and its firing.
    pub mod exit {
        use super::__sdt;

        __sdt::declare!("dyntrace", "process__exit");
        __sdt::describe!(
            "dyntrace", "process__exit", (process "proc"), (str "reason")
        );

        /// Whether a tracer looks at `process-exit` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "process__exit", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "process__exit");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(proc: __sdt::Text<'_>, reason: __sdt::Text<'_>) {
            let mut proc_buffer = __sdt::Buffer::new();
            let mut reason_buffer = __sdt::Buffer::new();
            __sdt::record!((process proc proc_buffer), (str reason reason_buffer));
            __sdt::if_traced!("dyntrace", "process__exit", {
                self::trace(proc, reason);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(proc: __sdt::Text<'_>, reason: __sdt::Text<'_>) {
            let mut proc_buffer = __sdt::Buffer::new();
            let proc = proc_buffer.encode(proc);
            let mut reason_buffer = __sdt::Buffer::new();
            let reason = reason_buffer.encode(reason);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "process__exit",
                (str proc "char *")
                (str reason "char *")
            );
        }
    }

    /// A process begins to run on this thread: its future is polled, or its closure is called.
    ///
    /// Stability: stable, with OTP's name and arguments.
    ///
    /// The probe `process-scheduled` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `proc` | `char *` | `Into<Text>` | pid of the process, as "\<0.N.0\>" |
    /// | `fun` | `char *` | `Into<Text>` | type of its future or closure, as in process-spawn |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn scheduled<'a, Proc, Fun>(
        arguments: impl FnOnce() -> (Proc, Fun),
    ) where
        Proc: Into<__sdt::Text<'a>>,
        Fun: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "process__scheduled", scheduled, {
            __sdt::return_if_discarded!(scheduled);
            let (proc, fun) = arguments();
            scheduled::fire(proc.into(), fun.into());
        });
    }

    /// Whether `process-scheduled` is traced, and its firing.
    pub mod scheduled {
        use super::__sdt;

        __sdt::declare!("dyntrace", "process__scheduled");
        __sdt::describe!(
            "dyntrace", "process__scheduled", (process "proc"), (str "fun")
        );

        /// Whether a tracer looks at `process-scheduled` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "process__scheduled", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "process__scheduled");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(proc: __sdt::Text<'_>, fun: __sdt::Text<'_>) {
            let mut proc_buffer = __sdt::Buffer::new();
            let mut fun_buffer = __sdt::Buffer::new();
            __sdt::record!((process proc proc_buffer), (str fun fun_buffer));
            __sdt::if_traced!("dyntrace", "process__scheduled", {
                self::trace(proc, fun);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(proc: __sdt::Text<'_>, fun: __sdt::Text<'_>) {
            let mut proc_buffer = __sdt::Buffer::new();
            let proc = proc_buffer.encode(proc);
            let mut fun_buffer = __sdt::Buffer::new();
            let fun = fun_buffer.encode(fun);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "process__scheduled",
                (str proc "char *")
                (str fun "char *")
            );
        }
    }

    /// A process stops running on this thread: the poll, or the call, that process-scheduled has announced ends. For a task that dyntrace
    /// did not start, process-scheduled may announce its next poll, on another thread, before that.
    ///
    /// Stability: stable: OTP's name and arguments, and after them two of our own; new ones would follow these.
    ///
    /// The probe `process-unscheduled` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `proc` | `char *` | `Into<Text>` | pid of the process, as "\<0.N.0\>" |
    /// | `polled` | `uint64_t` | `u64` | nanoseconds that it ran |
    /// | `outcome` | `char *` | `Into<Text>` | pending (it waits), ready (it has ended), or panic; ended, in any way, for a task that dyntrace did not start |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn unscheduled<'a, Proc, Outcome>(
        arguments: impl FnOnce() -> (Proc, u64, Outcome),
    ) where
        Proc: Into<__sdt::Text<'a>>,
        Outcome: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "process__unscheduled", unscheduled, {
            __sdt::return_if_discarded!(unscheduled);
            let (proc, polled, outcome) = arguments();
            unscheduled::fire(proc.into(), polled, outcome.into());
        });
    }

    /// Whether `process-unscheduled` is traced, and its firing.
    pub mod unscheduled {
        use super::__sdt;

        __sdt::declare!("dyntrace", "process__unscheduled");
        __sdt::describe!(
            "dyntrace", "process__unscheduled", (process "proc"), (u64 "polled"), (str "outcome")
        );

        /// Whether a tracer looks at `process-unscheduled` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "process__unscheduled", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "process__unscheduled");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(proc: __sdt::Text<'_>, polled: u64, outcome: __sdt::Text<'_>) {
            let mut proc_buffer = __sdt::Buffer::new();
            let mut outcome_buffer = __sdt::Buffer::new();
            __sdt::record!((process proc proc_buffer), (u64 polled), (str outcome outcome_buffer));
            __sdt::if_traced!("dyntrace", "process__unscheduled", {
                self::trace(proc, polled, outcome);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(proc: __sdt::Text<'_>, polled: u64, outcome: __sdt::Text<'_>) {
            let mut proc_buffer = __sdt::Buffer::new();
            let proc = proc_buffer.encode(proc);
            let mut outcome_buffer = __sdt::Buffer::new();
            let outcome = outcome_buffer.encode(outcome);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "process__unscheduled",
                (str proc "char *")
                (u64 polled "uint64_t")
                (str outcome "char *")
            );
        }
    }

    /// A process is woken: a waker of its last poll is called, just now, on this thread. Fires for each such call, also if the process is
    /// awake already; so the first one after a process-scheduled brings about the next. Only for tasks that dyntrace started or made a
    /// process, and only by wakers that they got while this probe was traced or the table of tasks was kept.
    ///
    /// Stability: evolving: wakers that cannot be named now may get names.
    ///
    /// The probe `process-wake` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `waker` | `char *` | `Into<Text>` | what wakes it: the pid of a process, as "\<0.N.0\>", if that runs on this thread now, which is proc itself where a poll wakes its own process; "task N", with tokio's id, for a task that is no process; "runtime thread NAME" outside of tasks on a thread that is inside of a runtime: its driver of timers and of I/O, or the future of block_on; "thread NAME" on any other thread |
    /// | `proc` | `char *` | `Into<Text>` | pid of the process that is woken, as "\<0.N.0\>" |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn wake<'a, Waker, Proc>(
        arguments: impl FnOnce() -> (Waker, Proc),
    ) where
        Waker: Into<__sdt::Text<'a>>,
        Proc: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "process__wake", wake, {
            __sdt::return_if_discarded!(wake);
            let (waker, proc) = arguments();
            wake::fire(waker.into(), proc.into());
        });
    }

    /// Whether `process-wake` is traced, and its firing.
    pub mod wake {
        use super::__sdt;

        __sdt::declare!("dyntrace", "process__wake");
        __sdt::describe!(
            "dyntrace", "process__wake", (str "waker"), (process "proc")
        );

        /// Whether a tracer looks at `process-wake` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "process__wake", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "process__wake");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(waker: __sdt::Text<'_>, proc: __sdt::Text<'_>) {
            let mut waker_buffer = __sdt::Buffer::new();
            let mut proc_buffer = __sdt::Buffer::new();
            __sdt::record!((str waker waker_buffer), (process proc proc_buffer));
            __sdt::if_traced!("dyntrace", "process__wake", {
                self::trace(waker, proc);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(waker: __sdt::Text<'_>, proc: __sdt::Text<'_>) {
            let mut waker_buffer = __sdt::Buffer::new();
            let waker = waker_buffer.encode(waker);
            let mut proc_buffer = __sdt::Buffer::new();
            let proc = proc_buffer.encode(proc);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "process__wake",
                (str waker "char *")
                (str proc "char *")
            );
        }
    }

    /// A process begins to wait: the first poll of a future of dyntrace::wait, sync, time, net, mailbox or dist, or of a
    /// task::JoinHandle, returned pending. If neither this probe nor process-resume was traced then, fires at the first later poll that
    /// returns pending while it is.
    ///
    /// Stability: evolving: new kinds and resources appear with new things to wait for; the arguments stay.
    ///
    /// The probe `process-wait` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `proc` | `char *` | `Into<Text>` | pid of the waiting process, as "\<0.N.0\>" |
    /// | `resource` | `char *` | `Into<Text>` | the resource that it waits for, as "#Ref\<0.N\>"; the name given to dyntrace::wait; timer or resolver; or the pid of the process for whose end, or for room in whose mailbox, it waits, as "\<0.N.0\>": its own pid if it waits for a message |
    /// | `kind` | `char *` | `Into<Text>` | what it waits for: wait for dyntrace::wait, else type and operation, as Mutex::lock, TcpListener::accept, mailbox::Sender::send or task::JoinHandle |
    /// | `place` | `char *` | `Into<Text>` | call that made the future, as file:line; for a oneshot::Receiver, the call that made the channel; for a task::JoinHandle, the call that started the process; for reads and writes of a socket, the call that made the socket |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn wait<'a, Proc, Resource, Kind, Place>(
        arguments: impl FnOnce() -> (Proc, Resource, Kind, Place),
    ) where
        Proc: Into<__sdt::Text<'a>>,
        Resource: Into<__sdt::Text<'a>>,
        Kind: Into<__sdt::Text<'a>>,
        Place: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "process__wait", wait, {
            __sdt::return_if_discarded!(wait);
            let (proc, resource, kind, place) = arguments();
            wait::fire(proc.into(), resource.into(), kind.into(), place.into());
        });
    }

    /// Whether `process-wait` is traced, and its firing.
    pub mod wait {
        use super::__sdt;

        __sdt::declare!("dyntrace", "process__wait");
        __sdt::describe!(
            "dyntrace", "process__wait", (process "proc"), (str "resource"), (str "kind"), (str "place")
        );

        /// Whether a tracer looks at `process-wait` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "process__wait", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "process__wait");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(
            proc: __sdt::Text<'_>,
            resource: __sdt::Text<'_>,
            kind: __sdt::Text<'_>,
            place: __sdt::Text<'_>,
        ) {
            let mut proc_buffer = __sdt::Buffer::new();
            let mut resource_buffer = __sdt::Buffer::new();
            let mut kind_buffer = __sdt::Buffer::new();
            let mut place_buffer = __sdt::Buffer::new();
            __sdt::record!(
                (process proc proc_buffer),
                (str resource resource_buffer),
                (str kind kind_buffer),
                (str place place_buffer),
            );
            __sdt::if_traced!("dyntrace", "process__wait", {
                self::trace(proc, resource, kind, place);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(
            proc: __sdt::Text<'_>,
            resource: __sdt::Text<'_>,
            kind: __sdt::Text<'_>,
            place: __sdt::Text<'_>,
        ) {
            let mut proc_buffer = __sdt::Buffer::new();
            let proc = proc_buffer.encode(proc);
            let mut resource_buffer = __sdt::Buffer::new();
            let resource = resource_buffer.encode(resource);
            let mut kind_buffer = __sdt::Buffer::new();
            let kind = kind_buffer.encode(kind);
            let mut place_buffer = __sdt::Buffer::new();
            let place = place_buffer.encode(place);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "process__wait",
                (str proc "char *")
                (str resource "char *")
                (str kind "char *")
                (str place "char *")
            );
        }
    }

    /// A wait has ended, for which process-wait fired or would have fired if it had been traced. Each process-wait has one
    /// process-resume, with the same proc and resource, unless the future is forgotten. A process may wait for a resource several
    /// times at once. A read or write of a socket that was given up ends with the next one, as dyntrace::net says.
    ///
    /// Stability: evolving: as process-wait.
    ///
    /// The probe `process-resume` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `proc` | `char *` | `Into<Text>` | pid of the waiting process, as "\<0.N.0\>", also if another process ended the wait |
    /// | `resource` | `char *` | `Into<Text>` | the resource, as in process-wait |
    /// | `waited` | `uint64_t` | `u64` | nanoseconds since process-wait |
    /// | `outcome` | `char *` | `Into<Text>` | ready, cancelled (the future was dropped while it waited), or panic |
    /// | `kind` | `char *` | `Into<Text>` | what it waited for, as in process-wait |
    /// | `place` | `char *` | `Into<Text>` | call that made the future, as in process-wait |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn resume<'a, Proc, Resource, Outcome, Kind, Place>(
        arguments: impl FnOnce() -> (Proc, Resource, u64, Outcome, Kind, Place),
    ) where
        Proc: Into<__sdt::Text<'a>>,
        Resource: Into<__sdt::Text<'a>>,
        Outcome: Into<__sdt::Text<'a>>,
        Kind: Into<__sdt::Text<'a>>,
        Place: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "process__resume", resume, {
            __sdt::return_if_discarded!(resume);
            let (proc, resource, waited, outcome, kind, place) = arguments();
            resume::fire(
                proc.into(),
                resource.into(),
                waited,
                outcome.into(),
                kind.into(),
                place.into(),
            );
        });
    }

    /// Whether `process-resume` is traced, and its firing.
    pub mod resume {
        use super::__sdt;

        __sdt::declare!("dyntrace", "process__resume");
        __sdt::describe!(
            "dyntrace", "process__resume", (str "proc"), (str "resource"), (u64 "waited"), (str "outcome"), (str "kind"), (str "place")
        );

        /// Whether a tracer looks at `process-resume` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "process__resume", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "process__resume");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(
            proc: __sdt::Text<'_>,
            resource: __sdt::Text<'_>,
            waited: u64,
            outcome: __sdt::Text<'_>,
            kind: __sdt::Text<'_>,
            place: __sdt::Text<'_>,
        ) {
            let mut proc_buffer = __sdt::Buffer::new();
            let mut resource_buffer = __sdt::Buffer::new();
            let mut outcome_buffer = __sdt::Buffer::new();
            let mut kind_buffer = __sdt::Buffer::new();
            let mut place_buffer = __sdt::Buffer::new();
            __sdt::record!(
                (str proc proc_buffer),
                (str resource resource_buffer),
                (u64 waited),
                (str outcome outcome_buffer),
                (str kind kind_buffer),
                (str place place_buffer),
            );
            __sdt::if_traced!("dyntrace", "process__resume", {
                self::trace(proc, resource, waited, outcome, kind, place);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(
            proc: __sdt::Text<'_>,
            resource: __sdt::Text<'_>,
            waited: u64,
            outcome: __sdt::Text<'_>,
            kind: __sdt::Text<'_>,
            place: __sdt::Text<'_>,
        ) {
            let mut proc_buffer = __sdt::Buffer::new();
            let proc = proc_buffer.encode(proc);
            let mut resource_buffer = __sdt::Buffer::new();
            let resource = resource_buffer.encode(resource);
            let mut outcome_buffer = __sdt::Buffer::new();
            let outcome = outcome_buffer.encode(outcome);
            let mut kind_buffer = __sdt::Buffer::new();
            let kind = kind_buffer.encode(kind);
            let mut place_buffer = __sdt::Buffer::new();
            let place = place_buffer.encode(place);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "process__resume",
                (str proc "char *")
                (str resource "char *")
                (u64 waited "uint64_t")
                (str outcome "char *")
                (str kind "char *")
                (str place "char *")
            );
        }
    }
}

/// The probes `resource-*` of the provider `dyntrace`.
pub mod resource {
    use super::__sdt;

    /// A resource of dyntrace::sync or net got its number: when it was made, or, if the probe was not traced then or the resource is a static,
    /// before the first process-wait for it.
    ///
    /// Stability: evolving: new kinds appear with new resources; the arguments stay.
    ///
    /// The probe `resource-new` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `resource` | `char *` | `Into<Text>` | the resource, as "#Ref\<0.N\>" |
    /// | `kind` | `char *` | `Into<Text>` | its type, as Mutex or TcpStream, or its channel, as mpsc |
    /// | `name` | `char *` | `Into<Text>` | the name that the program gave it; of a socket, its own address and the peer's, as "127.0.0.1:80 to 127.0.0.1:50123" |
    /// | `place` | `char *` | `Into<Text>` | call that made it, as file:line |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn new<'a, Resource, Kind, Name, Place>(
        arguments: impl FnOnce() -> (Resource, Kind, Name, Place),
    ) where
        Resource: Into<__sdt::Text<'a>>,
        Kind: Into<__sdt::Text<'a>>,
        Name: Into<__sdt::Text<'a>>,
        Place: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "resource__new", new, {
            __sdt::return_if_discarded!(new);
            let (resource, kind, name, place) = arguments();
            new::fire(resource.into(), kind.into(), name.into(), place.into());
        });
    }

    /// Whether `resource-new` is traced, and its firing.
    pub mod new {
        use super::__sdt;

        __sdt::declare!("dyntrace", "resource__new");
        __sdt::describe!(
            "dyntrace", "resource__new", (str "resource"), (str "kind"), (str "name"), (str "place")
        );

        /// Whether a tracer looks at `resource-new` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "resource__new", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "resource__new");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(
            resource: __sdt::Text<'_>,
            kind: __sdt::Text<'_>,
            name: __sdt::Text<'_>,
            place: __sdt::Text<'_>,
        ) {
            let mut resource_buffer = __sdt::Buffer::new();
            let mut kind_buffer = __sdt::Buffer::new();
            let mut name_buffer = __sdt::Buffer::new();
            let mut place_buffer = __sdt::Buffer::new();
            __sdt::record!(
                (str resource resource_buffer),
                (str kind kind_buffer),
                (str name name_buffer),
                (str place place_buffer),
            );
            __sdt::if_traced!("dyntrace", "resource__new", {
                self::trace(resource, kind, name, place);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(
            resource: __sdt::Text<'_>,
            kind: __sdt::Text<'_>,
            name: __sdt::Text<'_>,
            place: __sdt::Text<'_>,
        ) {
            let mut resource_buffer = __sdt::Buffer::new();
            let resource = resource_buffer.encode(resource);
            let mut kind_buffer = __sdt::Buffer::new();
            let kind = kind_buffer.encode(kind);
            let mut name_buffer = __sdt::Buffer::new();
            let name = name_buffer.encode(name);
            let mut place_buffer = __sdt::Buffer::new();
            let place = place_buffer.encode(place);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "resource__new",
                (str resource "char *")
                (str kind "char *")
                (str name "char *")
                (str place "char *")
            );
        }
    }

    /// A resource for which resource-new fired, or would have fired if it had been traced, is dropped: a channel with the last of its
    /// halves.
    ///
    /// Stability: evolving: as resource-new.
    ///
    /// The probe `resource-drop` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `resource` | `char *` | `Into<Text>` | the resource, as "#Ref\<0.N\>" |
    /// | `kind` | `char *` | `Into<Text>` | its type or channel, as in resource-new |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn drop<'a, Resource, Kind>(
        arguments: impl FnOnce() -> (Resource, Kind),
    ) where
        Resource: Into<__sdt::Text<'a>>,
        Kind: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "resource__drop", drop, {
            __sdt::return_if_discarded!(drop);
            let (resource, kind) = arguments();
            drop::fire(resource.into(), kind.into());
        });
    }

    /// Whether `resource-drop` is traced, and its firing.
    pub mod drop {
        use super::__sdt;

        __sdt::declare!("dyntrace", "resource__drop");
        __sdt::describe!(
            "dyntrace", "resource__drop", (str "resource"), (str "kind")
        );

        /// Whether a tracer looks at `resource-drop` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "resource__drop", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "resource__drop");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(resource: __sdt::Text<'_>, kind: __sdt::Text<'_>) {
            let mut resource_buffer = __sdt::Buffer::new();
            let mut kind_buffer = __sdt::Buffer::new();
            __sdt::record!((str resource resource_buffer), (str kind kind_buffer));
            __sdt::if_traced!("dyntrace", "resource__drop", {
                self::trace(resource, kind);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(resource: __sdt::Text<'_>, kind: __sdt::Text<'_>) {
            let mut resource_buffer = __sdt::Buffer::new();
            let resource = resource_buffer.encode(resource);
            let mut kind_buffer = __sdt::Buffer::new();
            let kind = kind_buffer.encode(kind);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "resource__drop",
                (str resource "char *")
                (str kind "char *")
            );
        }
    }
}

/// The probes `blocking-*` of the provider `dyntrace`.
pub mod blocking {
    use super::__sdt;

    /// A blocking closure was given to its runtime. Each blocking-add has one blocking-done.
    ///
    /// Stability: stable: new arguments are added after the last one.
    ///
    /// The probe `blocking-add` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `proc` | `char *` | `Into<Text>` | pid of the closure's process, as "\<0.N.0\>" |
    /// | `fun` | `char *` | `Into<Text>` | type of the closure, as in process-spawn |
    /// | `queue_length` | `uint32_t` | `u32` | number of blocking closures of the program that wait for a thread, after the step |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn add<'a, Proc, Fun>(
        arguments: impl FnOnce() -> (Proc, Fun, u32),
    ) where
        Proc: Into<__sdt::Text<'a>>,
        Fun: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "blocking__add", add, {
            __sdt::return_if_discarded!(add);
            let (proc, fun, queue_length) = arguments();
            add::fire(proc.into(), fun.into(), queue_length);
        });
    }

    /// Whether `blocking-add` is traced, and its firing.
    pub mod add {
        use super::__sdt;

        __sdt::declare!("dyntrace", "blocking__add");
        __sdt::describe!(
            "dyntrace", "blocking__add", (process "proc"), (str "fun"), (u32 "queue_length")
        );

        /// Whether a tracer looks at `blocking-add` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "blocking__add", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "blocking__add");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(proc: __sdt::Text<'_>, fun: __sdt::Text<'_>, queue_length: u32) {
            let mut proc_buffer = __sdt::Buffer::new();
            let mut fun_buffer = __sdt::Buffer::new();
            __sdt::record!((process proc proc_buffer), (str fun fun_buffer), (u32 queue_length));
            __sdt::if_traced!("dyntrace", "blocking__add", {
                self::trace(proc, fun, queue_length);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(proc: __sdt::Text<'_>, fun: __sdt::Text<'_>, queue_length: u32) {
            let mut proc_buffer = __sdt::Buffer::new();
            let proc = proc_buffer.encode(proc);
            let mut fun_buffer = __sdt::Buffer::new();
            let fun = fun_buffer.encode(fun);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "blocking__add",
                (str proc "char *")
                (str fun "char *")
                (u32 queue_length "uint32_t")
            );
        }
    }

    /// A thread of the runtime took a blocking closure, and calls it.
    ///
    /// Stability: stable: new arguments are added after the last one.
    ///
    /// The probe `blocking-get` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `proc` | `char *` | `Into<Text>` | pid of the closure's process, as "\<0.N.0\>" |
    /// | `fun` | `char *` | `Into<Text>` | type of the closure, as in process-spawn |
    /// | `queue_length` | `uint32_t` | `u32` | number of blocking closures of the program that wait for a thread, after the step |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn get<'a, Proc, Fun>(
        arguments: impl FnOnce() -> (Proc, Fun, u32),
    ) where
        Proc: Into<__sdt::Text<'a>>,
        Fun: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "blocking__get", get, {
            __sdt::return_if_discarded!(get);
            let (proc, fun, queue_length) = arguments();
            get::fire(proc.into(), fun.into(), queue_length);
        });
    }

    /// Whether `blocking-get` is traced, and its firing.
    pub mod get {
        use super::__sdt;

        __sdt::declare!("dyntrace", "blocking__get");
        __sdt::describe!(
            "dyntrace", "blocking__get", (process "proc"), (str "fun"), (u32 "queue_length")
        );

        /// Whether a tracer looks at `blocking-get` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "blocking__get", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "blocking__get");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(proc: __sdt::Text<'_>, fun: __sdt::Text<'_>, queue_length: u32) {
            let mut proc_buffer = __sdt::Buffer::new();
            let mut fun_buffer = __sdt::Buffer::new();
            __sdt::record!((process proc proc_buffer), (str fun fun_buffer), (u32 queue_length));
            __sdt::if_traced!("dyntrace", "blocking__get", {
                self::trace(proc, fun, queue_length);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(proc: __sdt::Text<'_>, fun: __sdt::Text<'_>, queue_length: u32) {
            let mut proc_buffer = __sdt::Buffer::new();
            let proc = proc_buffer.encode(proc);
            let mut fun_buffer = __sdt::Buffer::new();
            let fun = fun_buffer.encode(fun);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "blocking__get",
                (str proc "char *")
                (str fun "char *")
                (u32 queue_length "uint32_t")
            );
        }
    }

    /// A blocking closure has ended.
    ///
    /// Stability: stable: new arguments are added after the last one.
    ///
    /// The probe `blocking-done` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `proc` | `char *` | `Into<Text>` | pid of the closure's process, as "\<0.N.0\>" |
    /// | `fun` | `char *` | `Into<Text>` | type of the closure, as in process-spawn |
    /// | `queue_length` | `uint32_t` | `u32` | number of blocking closures of the program that wait for a thread, after the step |
    /// | `reason` | `char *` | `Into<Text>` | normal, panic, or cancelled (dropped before a thread took it) |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn done<'a, Proc, Fun, Reason>(
        arguments: impl FnOnce() -> (Proc, Fun, u32, Reason),
    ) where
        Proc: Into<__sdt::Text<'a>>,
        Fun: Into<__sdt::Text<'a>>,
        Reason: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "blocking__done", done, {
            __sdt::return_if_discarded!(done);
            let (proc, fun, queue_length, reason) = arguments();
            done::fire(proc.into(), fun.into(), queue_length, reason.into());
        });
    }

    /// Whether `blocking-done` is traced, and its firing.
    pub mod done {
        use super::__sdt;

        __sdt::declare!("dyntrace", "blocking__done");
        __sdt::describe!(
            "dyntrace", "blocking__done", (process "proc"), (str "fun"), (u32 "queue_length"), (str "reason")
        );

        /// Whether a tracer looks at `blocking-done` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "blocking__done", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "blocking__done");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(
            proc: __sdt::Text<'_>,
            fun: __sdt::Text<'_>,
            queue_length: u32,
            reason: __sdt::Text<'_>,
        ) {
            let mut proc_buffer = __sdt::Buffer::new();
            let mut fun_buffer = __sdt::Buffer::new();
            let mut reason_buffer = __sdt::Buffer::new();
            __sdt::record!(
                (process proc proc_buffer),
                (str fun fun_buffer),
                (u32 queue_length),
                (str reason reason_buffer),
            );
            __sdt::if_traced!("dyntrace", "blocking__done", {
                self::trace(proc, fun, queue_length, reason);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(
            proc: __sdt::Text<'_>,
            fun: __sdt::Text<'_>,
            queue_length: u32,
            reason: __sdt::Text<'_>,
        ) {
            let mut proc_buffer = __sdt::Buffer::new();
            let proc = proc_buffer.encode(proc);
            let mut fun_buffer = __sdt::Buffer::new();
            let fun = fun_buffer.encode(fun);
            let mut reason_buffer = __sdt::Buffer::new();
            let reason = reason_buffer.encode(reason);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "blocking__done",
                (str proc "char *")
                (str fun "char *")
                (u32 queue_length "uint32_t")
                (str reason "char *")
            );
        }
    }
}

/// The probes `system_monitor-*` of the provider `dyntrace`.
pub mod system_monitor {
    use super::__sdt;

    /// A poll of a task lasts longer than the limit of the monitor. Fires once for each poll, while it lasts, on the thread of the
    /// monitor.
    ///
    /// Stability: evolving: the wording of the state may change; the numbers stay.
    ///
    /// The probe `system_monitor-long_schedule` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `proc` | `char *` | `Into<Text>` | pid of the polled process, as "\<0.N.0\>" |
    /// | `fun` | `char *` | `Into<Text>` | type of its future, as in process-spawn; absent if the process was spawned before the monitor started |
    /// | `polled` | `uint64_t` | `u64` | nanoseconds since the poll began |
    /// | `limit` | `uint64_t` | `u64` | the limit, in nanoseconds |
    /// | `thread` | `int` | `i32` | the kernel's id of the thread that polls it; 0 if the poll ended meanwhile |
    /// | `state` | `char *` | `Into<Text>` | the kernel's letter for the state of that thread, and the system call that it is in: "S, in futex" |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn long_schedule<'a, Proc, Fun, State>(
        arguments: impl FnOnce() -> (Proc, Fun, u64, u64, i32, State),
    ) where
        Proc: Into<__sdt::Text<'a>>,
        Fun: Into<__sdt::Text<'a>>,
        State: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "system_monitor__long_schedule", long_schedule, {
            __sdt::return_if_discarded!(long_schedule);
            let (proc, fun, polled, limit, thread, state) = arguments();
            long_schedule::fire(proc.into(), fun.into(), polled, limit, thread, state.into());
        });
    }

    /// Whether `system_monitor-long_schedule` is traced, and its firing.
    pub mod long_schedule {
        use super::__sdt;

        __sdt::declare!("dyntrace", "system_monitor__long_schedule");
        __sdt::describe!(
            "dyntrace", "system_monitor__long_schedule", (process "proc"), (str "fun"), (u64 "polled"), (u64 "limit"), (i32 "thread"), (str "state")
        );

        /// Whether a tracer looks at `system_monitor-long_schedule` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "system_monitor__long_schedule", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "system_monitor__long_schedule");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(
            proc: __sdt::Text<'_>,
            fun: __sdt::Text<'_>,
            polled: u64,
            limit: u64,
            thread: i32,
            state: __sdt::Text<'_>,
        ) {
            let mut proc_buffer = __sdt::Buffer::new();
            let mut fun_buffer = __sdt::Buffer::new();
            let mut state_buffer = __sdt::Buffer::new();
            __sdt::record!(
                (process proc proc_buffer),
                (str fun fun_buffer),
                (u64 polled),
                (u64 limit),
                (i32 thread),
                (str state state_buffer),
            );
            __sdt::if_traced!("dyntrace", "system_monitor__long_schedule", {
                self::trace(proc, fun, polled, limit, thread, state);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(
            proc: __sdt::Text<'_>,
            fun: __sdt::Text<'_>,
            polled: u64,
            limit: u64,
            thread: i32,
            state: __sdt::Text<'_>,
        ) {
            let mut proc_buffer = __sdt::Buffer::new();
            let proc = proc_buffer.encode(proc);
            let mut fun_buffer = __sdt::Buffer::new();
            let fun = fun_buffer.encode(fun);
            let mut state_buffer = __sdt::Buffer::new();
            let state = state_buffer.encode(state);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "system_monitor__long_schedule",
                (str proc "char *")
                (str fun "char *")
                (u64 polled "uint64_t")
                (u64 limit "uint64_t")
                (i32 thread "int")
                (str state "char *")
            );
        }
    }

    /// A wait of a process lasts longer than the limit of the monitor. Fires once for each wait, on the thread of the monitor.
    ///
    /// Stability: evolving: new kinds and resources appear, as of process-wait.
    ///
    /// The probe `system_monitor-long_wait` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `proc` | `char *` | `Into<Text>` | pid of the waiting process, as "\<0.N.0\>" |
    /// | `resource` | `char *` | `Into<Text>` | the resource that it waits for, as in process-wait |
    /// | `kind` | `char *` | `Into<Text>` | what it waits for, as in process-wait |
    /// | `place` | `char *` | `Into<Text>` | call that made the future, as in process-wait |
    /// | `waited` | `uint64_t` | `u64` | nanoseconds since the wait began |
    /// | `limit` | `uint64_t` | `u64` | the limit, in nanoseconds |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn long_wait<'a, Proc, Resource, Kind, Place>(
        arguments: impl FnOnce() -> (Proc, Resource, Kind, Place, u64, u64),
    ) where
        Proc: Into<__sdt::Text<'a>>,
        Resource: Into<__sdt::Text<'a>>,
        Kind: Into<__sdt::Text<'a>>,
        Place: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "system_monitor__long_wait", long_wait, {
            __sdt::return_if_discarded!(long_wait);
            let (proc, resource, kind, place, waited, limit) = arguments();
            long_wait::fire(proc.into(), resource.into(), kind.into(), place.into(), waited, limit);
        });
    }

    /// Whether `system_monitor-long_wait` is traced, and its firing.
    pub mod long_wait {
        use super::__sdt;

        __sdt::declare!("dyntrace", "system_monitor__long_wait");
        __sdt::describe!(
            "dyntrace", "system_monitor__long_wait", (process "proc"), (str "resource"), (str "kind"), (str "place"), (u64 "waited"), (u64 "limit")
        );

        /// Whether a tracer looks at `system_monitor-long_wait` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "system_monitor__long_wait", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "system_monitor__long_wait");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(
            proc: __sdt::Text<'_>,
            resource: __sdt::Text<'_>,
            kind: __sdt::Text<'_>,
            place: __sdt::Text<'_>,
            waited: u64,
            limit: u64,
        ) {
            let mut proc_buffer = __sdt::Buffer::new();
            let mut resource_buffer = __sdt::Buffer::new();
            let mut kind_buffer = __sdt::Buffer::new();
            let mut place_buffer = __sdt::Buffer::new();
            __sdt::record!(
                (process proc proc_buffer),
                (str resource resource_buffer),
                (str kind kind_buffer),
                (str place place_buffer),
                (u64 waited),
                (u64 limit),
            );
            __sdt::if_traced!("dyntrace", "system_monitor__long_wait", {
                self::trace(proc, resource, kind, place, waited, limit);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(
            proc: __sdt::Text<'_>,
            resource: __sdt::Text<'_>,
            kind: __sdt::Text<'_>,
            place: __sdt::Text<'_>,
            waited: u64,
            limit: u64,
        ) {
            let mut proc_buffer = __sdt::Buffer::new();
            let proc = proc_buffer.encode(proc);
            let mut resource_buffer = __sdt::Buffer::new();
            let resource = resource_buffer.encode(resource);
            let mut kind_buffer = __sdt::Buffer::new();
            let kind = kind_buffer.encode(kind);
            let mut place_buffer = __sdt::Buffer::new();
            let place = place_buffer.encode(place);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "system_monitor__long_wait",
                (str proc "char *")
                (str resource "char *")
                (str kind "char *")
                (str place "char *")
                (u64 waited "uint64_t")
                (u64 limit "uint64_t")
            );
        }
    }

    /// A mailbox has more messages than the limit of the monitor. Fires again only after it had no more than that.
    ///
    /// Stability: stable: new arguments are added after the last one.
    ///
    /// The probe `system_monitor-long_message_queue` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `proc` | `char *` | `Into<Text>` | pid of the process that receives, as "\<0.N.0\>" |
    /// | `queue_len` | `uint64_t` | `u64` | length of its mailbox |
    /// | `limit` | `uint64_t` | `u64` | the limit |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn long_message_queue<'a, Proc>(
        arguments: impl FnOnce() -> (Proc, u64, u64),
    ) where
        Proc: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "system_monitor__long_message_queue", long_message_queue, {
            __sdt::return_if_discarded!(long_message_queue);
            let (proc, queue_len, limit) = arguments();
            long_message_queue::fire(proc.into(), queue_len, limit);
        });
    }

    /// Whether `system_monitor-long_message_queue` is traced, and its firing.
    pub mod long_message_queue {
        use super::__sdt;

        __sdt::declare!("dyntrace", "system_monitor__long_message_queue");
        __sdt::describe!(
            "dyntrace", "system_monitor__long_message_queue", (process "proc"), (u64 "queue_len"), (u64 "limit")
        );

        /// Whether a tracer looks at `system_monitor-long_message_queue` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "system_monitor__long_message_queue", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "system_monitor__long_message_queue");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(proc: __sdt::Text<'_>, queue_len: u64, limit: u64) {
            let mut proc_buffer = __sdt::Buffer::new();
            __sdt::record!((process proc proc_buffer), (u64 queue_len), (u64 limit));
            __sdt::if_traced!("dyntrace", "system_monitor__long_message_queue", {
                self::trace(proc, queue_len, limit);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(proc: __sdt::Text<'_>, queue_len: u64, limit: u64) {
            let mut proc_buffer = __sdt::Buffer::new();
            let proc = proc_buffer.encode(proc);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "system_monitor__long_message_queue",
                (str proc "char *")
                (u64 queue_len "uint64_t")
                (u64 limit "uint64_t")
            );
        }
    }

    /// More jobs of a port have not started than the limit of the monitor. Fires again only after there were no more than that.
    ///
    /// Stability: stable: new arguments are added after the last one.
    ///
    /// The probe `system_monitor-busy_port` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `port` | `char *` | `Into<Text>` | the port, as "#Port\<0.N\>" |
    /// | `queue_length` | `uint64_t` | `u64` | number of these jobs |
    /// | `limit` | `uint64_t` | `u64` | the limit |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn busy_port<'a, Port>(
        arguments: impl FnOnce() -> (Port, u64, u64),
    ) where
        Port: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "system_monitor__busy_port", busy_port, {
            __sdt::return_if_discarded!(busy_port);
            let (port, queue_length, limit) = arguments();
            busy_port::fire(port.into(), queue_length, limit);
        });
    }

    /// Whether `system_monitor-busy_port` is traced, and its firing.
    pub mod busy_port {
        use super::__sdt;

        __sdt::declare!("dyntrace", "system_monitor__busy_port");
        __sdt::describe!(
            "dyntrace", "system_monitor__busy_port", (port "port"), (u64 "queue_length"), (u64 "limit")
        );

        /// Whether a tracer looks at `system_monitor-busy_port` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "system_monitor__busy_port", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "system_monitor__busy_port");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(port: __sdt::Text<'_>, queue_length: u64, limit: u64) {
            let mut port_buffer = __sdt::Buffer::new();
            __sdt::record!((port port port_buffer), (u64 queue_length), (u64 limit));
            __sdt::if_traced!("dyntrace", "system_monitor__busy_port", {
                self::trace(port, queue_length, limit);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(port: __sdt::Text<'_>, queue_length: u64, limit: u64) {
            let mut port_buffer = __sdt::Buffer::new();
            let port = port_buffer.encode(port);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "system_monitor__busy_port",
                (str port "char *")
                (u64 queue_length "uint64_t")
                (u64 limit "uint64_t")
            );
        }
    }

    /// More blocking closures wait for a thread than the limit of the monitor. Fires again only after no more than that waited.
    ///
    /// Stability: stable: new arguments are added after the last one.
    ///
    /// The probe `system_monitor-long_blocking_queue` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `queue_length` | `uint64_t` | `u64` | number of closures that wait, as in blocking-add |
    /// | `limit` | `uint64_t` | `u64` | the limit |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn long_blocking_queue(arguments: impl FnOnce() -> (u64, u64)) {
        __sdt::if_enabled!("dyntrace", "system_monitor__long_blocking_queue", long_blocking_queue, {
            __sdt::return_if_discarded!(long_blocking_queue);
            let (queue_length, limit) = arguments();
            long_blocking_queue::fire(queue_length, limit);
        });
    }

    /// Whether `system_monitor-long_blocking_queue` is traced, and its firing.
    pub mod long_blocking_queue {
        use super::__sdt;

        __sdt::declare!("dyntrace", "system_monitor__long_blocking_queue");
        __sdt::describe!(
            "dyntrace", "system_monitor__long_blocking_queue", (u64 "queue_length"), (u64 "limit")
        );

        /// Whether a tracer looks at `system_monitor-long_blocking_queue` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "system_monitor__long_blocking_queue", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "system_monitor__long_blocking_queue");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(queue_length: u64, limit: u64) {
            __sdt::record!((u64 queue_length), (u64 limit));
            __sdt::if_traced!("dyntrace", "system_monitor__long_blocking_queue", {
                self::trace(queue_length, limit);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(queue_length: u64, limit: u64) {
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "system_monitor__long_blocking_queue",
                (u64 queue_length "uint64_t")
                (u64 limit "uint64_t")
            );
        }
    }

    /// The table of tasks has more tasks than the limit of the monitor. Fires again only after it had no more than that.
    ///
    /// Stability: stable: new arguments are added after the last one.
    ///
    /// The probe `system_monitor-too_many_tasks` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `tasks` | `uint64_t` | `u64` | number of tasks |
    /// | `limit` | `uint64_t` | `u64` | the limit |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn too_many_tasks(arguments: impl FnOnce() -> (u64, u64)) {
        __sdt::if_enabled!("dyntrace", "system_monitor__too_many_tasks", too_many_tasks, {
            __sdt::return_if_discarded!(too_many_tasks);
            let (tasks, limit) = arguments();
            too_many_tasks::fire(tasks, limit);
        });
    }

    /// Whether `system_monitor-too_many_tasks` is traced, and its firing.
    pub mod too_many_tasks {
        use super::__sdt;

        __sdt::declare!("dyntrace", "system_monitor__too_many_tasks");
        __sdt::describe!(
            "dyntrace", "system_monitor__too_many_tasks", (u64 "tasks"), (u64 "limit")
        );

        /// Whether a tracer looks at `system_monitor-too_many_tasks` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "system_monitor__too_many_tasks", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "system_monitor__too_many_tasks");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(tasks: u64, limit: u64) {
            __sdt::record!((u64 tasks), (u64 limit));
            __sdt::if_traced!("dyntrace", "system_monitor__too_many_tasks", {
                self::trace(tasks, limit);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(tasks: u64, limit: u64) {
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "system_monitor__too_many_tasks",
                (u64 tasks "uint64_t")
                (u64 limit "uint64_t")
            );
        }
    }
}

/// The probes `user_trace-*` of the provider `dyntrace`.
pub mod user_trace {
    use super::__sdt;

    /// An event of the application with one string.
    ///
    /// Stability: stable, with OTP's name and arguments.
    ///
    /// The probe `user_trace-s1` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `message` | `char *` | `Into<Text>` | the string |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn s1<'a, Message>(
        arguments: impl FnOnce() -> Message,
    ) where
        Message: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "user_trace__s1", s1, {
            __sdt::return_if_discarded!(s1);
            let message = arguments();
            s1::fire(message.into());
        });
    }

    /// Whether `user_trace-s1` is traced, and its firing.
    pub mod s1 {
        use super::__sdt;

        __sdt::declare!("dyntrace", "user_trace__s1");
        __sdt::describe!(
            "dyntrace", "user_trace__s1", (str "message")
        );

        /// Whether a tracer looks at `user_trace-s1` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "user_trace__s1", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "user_trace__s1");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(message: __sdt::Text<'_>) {
            let mut message_buffer = __sdt::Buffer::new();
            __sdt::record!((str message message_buffer));
            __sdt::if_traced!("dyntrace", "user_trace__s1", {
                self::trace(message);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(message: __sdt::Text<'_>) {
            let mut message_buffer = __sdt::Buffer::new();
            let message = message_buffer.encode(message);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "user_trace__s1",
                (str message "char *")
            );
        }
    }

    /// An event of the application with up to four integers and four strings.
    /// Missing integers are 0, missing strings are null.
    ///
    /// Stability: stable, with OTP's name and arguments.
    ///
    /// The probe `user_trace-i4s4` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `proc` | `char *` | `Into<Text>` | pid of the process that fires the probe, as "\<0.N.0\>" |
    /// | `user_tag` | `char *` | `Into<Text>` | the user tag of that process |
    /// | `i1` | `int64_t` | `i64` | first integer |
    /// | `i2` | `int64_t` | `i64` | second integer |
    /// | `i3` | `int64_t` | `i64` | third integer |
    /// | `i4` | `int64_t` | `i64` | fourth integer |
    /// | `s1` | `char *` | `Into<Text>` | first string |
    /// | `s2` | `char *` | `Into<Text>` | second string |
    /// | `s3` | `char *` | `Into<Text>` | third string |
    /// | `s4` | `char *` | `Into<Text>` | fourth string |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn i4s4<'a, Proc, UserTag, S1, S2, S3, S4>(
        arguments: impl FnOnce() -> (Proc, UserTag, i64, i64, i64, i64, S1, S2, S3, S4),
    ) where
        Proc: Into<__sdt::Text<'a>>,
        UserTag: Into<__sdt::Text<'a>>,
        S1: Into<__sdt::Text<'a>>,
        S2: Into<__sdt::Text<'a>>,
        S3: Into<__sdt::Text<'a>>,
        S4: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "user_trace__i4s4", i4s4, {
            __sdt::return_if_discarded!(i4s4);
            let (proc, user_tag, i1, i2, i3, i4, s1, s2, s3, s4) = arguments();
            i4s4::fire(
                proc.into(),
                user_tag.into(),
                i1,
                i2,
                i3,
                i4,
                s1.into(),
                s2.into(),
                s3.into(),
                s4.into(),
            );
        });
    }

    /// Whether `user_trace-i4s4` is traced, and its firing.
    pub mod i4s4 {
        use super::__sdt;

        __sdt::declare!("dyntrace", "user_trace__i4s4");
        __sdt::describe!(
            "dyntrace", "user_trace__i4s4", (process "proc"), (str "user_tag"), (i64 "i1"), (i64 "i2"), (i64 "i3"), (i64 "i4"), (str "s1"), (str "s2"), (str "s3"), (str "s4")
        );

        /// Whether a tracer looks at `user_trace-i4s4` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "user_trace__i4s4", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "user_trace__i4s4");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(
            proc: __sdt::Text<'_>,
            user_tag: __sdt::Text<'_>,
            i1: i64,
            i2: i64,
            i3: i64,
            i4: i64,
            s1: __sdt::Text<'_>,
            s2: __sdt::Text<'_>,
            s3: __sdt::Text<'_>,
            s4: __sdt::Text<'_>,
        ) {
            let mut proc_buffer = __sdt::Buffer::new();
            let mut user_tag_buffer = __sdt::Buffer::new();
            let mut s1_buffer = __sdt::Buffer::new();
            let mut s2_buffer = __sdt::Buffer::new();
            let mut s3_buffer = __sdt::Buffer::new();
            let mut s4_buffer = __sdt::Buffer::new();
            __sdt::record!(
                (process proc proc_buffer),
                (str user_tag user_tag_buffer),
                (i64 i1),
                (i64 i2),
                (i64 i3),
                (i64 i4),
                (str s1 s1_buffer),
                (str s2 s2_buffer),
                (str s3 s3_buffer),
                (str s4 s4_buffer),
            );
            __sdt::if_traced!("dyntrace", "user_trace__i4s4", {
                self::trace(proc, user_tag, i1, i2, i3, i4, s1, s2, s3, s4);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(
            proc: __sdt::Text<'_>,
            user_tag: __sdt::Text<'_>,
            i1: i64,
            i2: i64,
            i3: i64,
            i4: i64,
            s1: __sdt::Text<'_>,
            s2: __sdt::Text<'_>,
            s3: __sdt::Text<'_>,
            s4: __sdt::Text<'_>,
        ) {
            let mut proc_buffer = __sdt::Buffer::new();
            let proc = proc_buffer.encode(proc);
            let mut user_tag_buffer = __sdt::Buffer::new();
            let user_tag = user_tag_buffer.encode(user_tag);
            let mut s1_buffer = __sdt::Buffer::new();
            let s1 = s1_buffer.encode(s1);
            let mut s2_buffer = __sdt::Buffer::new();
            let s2 = s2_buffer.encode(s2);
            let mut s3_buffer = __sdt::Buffer::new();
            let s3 = s3_buffer.encode(s3);
            let mut s4_buffer = __sdt::Buffer::new();
            let s4 = s4_buffer.encode(s4);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "user_trace__i4s4",
                (str proc "char *")
                (str user_tag "char *")
                (i64 i1 "int64_t")
                (i64 i2 "int64_t")
                (i64 i3 "int64_t")
                (i64 i4 "int64_t")
                (str s1 "char *")
                (str s2 "char *")
                (str s3 "char *")
                (str s4 "char *")
            );
        }
    }
}

/// The probes `function-*` of the provider `dyntrace`.
pub mod function {
    use super::__sdt;

    /// A function with the attribute `traced` was called, and the call matches a
    /// pattern of a dyntrace::trace session whose events go to the probes. The
    /// first poll of an asynchronous function counts as its call.
    ///
    /// Fires once for each pattern that the call matches.
    ///
    /// Stability: evolving: the text of arguments follows the Debug of their types; the arguments stay.
    ///
    /// The probe `function-entry` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `proc` | `char *` | `Into<Text>` | pid of the calling process, as "\<0.N.0\>" |
    /// | `function` | `char *` | `Into<Text>` | the function, as crate::module::Type::function/arity |
    /// | `arguments` | `char *` | `Into<Text>` | its arguments, as text; a cut argument ends with "..." |
    /// | `user_tag` | `char *` | `Into<Text>` | the user tag of that process |
    /// | `caller` | `char *` | `Into<Text>` | place of the call, if it is known and the pattern asks for it: file:line, or two addresses in object files, the return address and an address in the function's code |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn entry<'a, Proc, Function, Arguments, UserTag, Caller>(
        arguments: impl FnOnce() -> (Proc, Function, Arguments, UserTag, Caller),
    ) where
        Proc: Into<__sdt::Text<'a>>,
        Function: Into<__sdt::Text<'a>>,
        Arguments: Into<__sdt::Text<'a>>,
        UserTag: Into<__sdt::Text<'a>>,
        Caller: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "function__entry", entry, {
            __sdt::return_if_discarded!(entry);
            let (proc, function, arguments, user_tag, caller) = arguments();
            entry::fire(
                proc.into(),
                function.into(),
                arguments.into(),
                user_tag.into(),
                caller.into(),
            );
        });
    }

    /// Whether `function-entry` is traced, and its firing.
    pub mod entry {
        use super::__sdt;

        __sdt::declare!("dyntrace", "function__entry");
        __sdt::describe!(
            "dyntrace", "function__entry", (process "proc"), (str "function"), (str "arguments"), (str "user_tag"), (str "caller")
        );

        /// Whether a tracer looks at `function-entry` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "function__entry", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "function__entry");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(
            proc: __sdt::Text<'_>,
            function: __sdt::Text<'_>,
            arguments: __sdt::Text<'_>,
            user_tag: __sdt::Text<'_>,
            caller: __sdt::Text<'_>,
        ) {
            let mut proc_buffer = __sdt::Buffer::new();
            let mut function_buffer = __sdt::Buffer::new();
            let mut arguments_buffer = __sdt::Buffer::new();
            let mut user_tag_buffer = __sdt::Buffer::new();
            let mut caller_buffer = __sdt::Buffer::new();
            __sdt::record!(
                (process proc proc_buffer),
                (str function function_buffer),
                (str arguments arguments_buffer),
                (str user_tag user_tag_buffer),
                (str caller caller_buffer),
            );
            __sdt::if_traced!("dyntrace", "function__entry", {
                self::trace(proc, function, arguments, user_tag, caller);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(
            proc: __sdt::Text<'_>,
            function: __sdt::Text<'_>,
            arguments: __sdt::Text<'_>,
            user_tag: __sdt::Text<'_>,
            caller: __sdt::Text<'_>,
        ) {
            let mut proc_buffer = __sdt::Buffer::new();
            let proc = proc_buffer.encode(proc);
            let mut function_buffer = __sdt::Buffer::new();
            let function = function_buffer.encode(function);
            let mut arguments_buffer = __sdt::Buffer::new();
            let arguments = arguments_buffer.encode(arguments);
            let mut user_tag_buffer = __sdt::Buffer::new();
            let user_tag = user_tag_buffer.encode(user_tag);
            let mut caller_buffer = __sdt::Buffer::new();
            let caller = caller_buffer.encode(caller);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "function__entry",
                (str proc "char *")
                (str function "char *")
                (str arguments "char *")
                (str user_tag "char *")
                (str caller "char *")
            );
        }
    }

    /// A call that fired function-entry ended, and its pattern asks for this kind
    /// of end.
    ///
    /// Stability: evolving: new kinds of ends may appear; the arguments stay.
    ///
    /// The probe `function-return` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `proc` | `char *` | `Into<Text>` | pid of the calling process, as "\<0.N.0\>" |
    /// | `function` | `char *` | `Into<Text>` | the function, as crate::module::Type::function/arity |
    /// | `value` | `char *` | `Into<Text>` | the returned value as text, the message of the panic, or the place the call returns to, as in function-entry; a cut value ends with "..." |
    /// | `user_tag` | `char *` | `Into<Text>` | the user tag of that process |
    /// | `kind` | `char *` | `Into<Text>` | return, error (a returned Err, if the pattern asks for errors), return_to (fired after these, if asked for), panic, or cancelled (an asynchronous call dropped before it completed) |
    /// | `took` | `uint64_t` | `u64` | nanoseconds since the call |
    /// | `polled` | `uint64_t` | `u64` | nanoseconds that it ran: fewer than took if an asynchronous function waited |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn r#return<'a, Proc, Function, Value, UserTag, Kind>(
        arguments: impl FnOnce() -> (Proc, Function, Value, UserTag, Kind, u64, u64),
    ) where
        Proc: Into<__sdt::Text<'a>>,
        Function: Into<__sdt::Text<'a>>,
        Value: Into<__sdt::Text<'a>>,
        UserTag: Into<__sdt::Text<'a>>,
        Kind: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "function__return", r#return, {
            __sdt::return_if_discarded!(r#return);
            let (proc, function, value, user_tag, kind, took, polled) = arguments();
            r#return::fire(
                proc.into(),
                function.into(),
                value.into(),
                user_tag.into(),
                kind.into(),
                took,
                polled,
            );
        });
    }

    /// Whether `function-return` is traced, and its firing.
    pub mod r#return {
        use super::__sdt;

        __sdt::declare!("dyntrace", "function__return");
        __sdt::describe!(
            "dyntrace", "function__return", (process "proc"), (str "function"), (str "value"), (str "user_tag"), (str "kind"), (u64 "took"), (u64 "polled")
        );

        /// Whether a tracer looks at `function-return` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "function__return", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "function__return");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(
            proc: __sdt::Text<'_>,
            function: __sdt::Text<'_>,
            value: __sdt::Text<'_>,
            user_tag: __sdt::Text<'_>,
            kind: __sdt::Text<'_>,
            took: u64,
            polled: u64,
        ) {
            let mut proc_buffer = __sdt::Buffer::new();
            let mut function_buffer = __sdt::Buffer::new();
            let mut value_buffer = __sdt::Buffer::new();
            let mut user_tag_buffer = __sdt::Buffer::new();
            let mut kind_buffer = __sdt::Buffer::new();
            __sdt::record!(
                (process proc proc_buffer),
                (str function function_buffer),
                (str value value_buffer),
                (str user_tag user_tag_buffer),
                (str kind kind_buffer),
                (u64 took),
                (u64 polled),
            );
            __sdt::if_traced!("dyntrace", "function__return", {
                self::trace(proc, function, value, user_tag, kind, took, polled);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(
            proc: __sdt::Text<'_>,
            function: __sdt::Text<'_>,
            value: __sdt::Text<'_>,
            user_tag: __sdt::Text<'_>,
            kind: __sdt::Text<'_>,
            took: u64,
            polled: u64,
        ) {
            let mut proc_buffer = __sdt::Buffer::new();
            let proc = proc_buffer.encode(proc);
            let mut function_buffer = __sdt::Buffer::new();
            let function = function_buffer.encode(function);
            let mut value_buffer = __sdt::Buffer::new();
            let value = value_buffer.encode(value);
            let mut user_tag_buffer = __sdt::Buffer::new();
            let user_tag = user_tag_buffer.encode(user_tag);
            let mut kind_buffer = __sdt::Buffer::new();
            let kind = kind_buffer.encode(kind);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "function__return",
                (str proc "char *")
                (str function "char *")
                (str value "char *")
                (str user_tag "char *")
                (str kind "char *")
                (u64 took "uint64_t")
                (u64 polled "uint64_t")
            );
        }
    }
}

/// The probes `code-*` of the provider `dyntrace`.
pub mod code {
    use super::__sdt;

    /// The first version of a module was loaded: it can be called from now on.
    ///
    /// Stability: stable: new arguments are added after the last one.
    ///
    /// The probe `code-load` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `module` | `char *` | `Into<Text>` | the module's name |
    /// | `version` | `char *` | `Into<Text>` | the version that the module declares |
    /// | `file` | `char *` | `Into<Text>` | the loaded file |
    /// | `start` | `uint64_t` | `u64` | address of the version in memory |
    /// | `size` | `uint64_t` | `u64` | its size in bytes |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn load<'a, Module, Version, File>(
        arguments: impl FnOnce() -> (Module, Version, File, u64, u64),
    ) where
        Module: Into<__sdt::Text<'a>>,
        Version: Into<__sdt::Text<'a>>,
        File: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "code__load", load, {
            __sdt::return_if_discarded!(load);
            let (module, version, file, start, size) = arguments();
            load::fire(module.into(), version.into(), file.into(), start, size);
        });
    }

    /// Whether `code-load` is traced, and its firing.
    pub mod load {
        use super::__sdt;

        __sdt::declare!("dyntrace", "code__load");
        __sdt::describe!(
            "dyntrace", "code__load", (str "module"), (str "version"), (str "file"), (u64 "start"), (u64 "size")
        );

        /// Whether a tracer looks at `code-load` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "code__load", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "code__load");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(
            module: __sdt::Text<'_>,
            version: __sdt::Text<'_>,
            file: __sdt::Text<'_>,
            start: u64,
            size: u64,
        ) {
            let mut module_buffer = __sdt::Buffer::new();
            let mut version_buffer = __sdt::Buffer::new();
            let mut file_buffer = __sdt::Buffer::new();
            __sdt::record!(
                (str module module_buffer),
                (str version version_buffer),
                (str file file_buffer),
                (u64 start),
                (u64 size),
            );
            __sdt::if_traced!("dyntrace", "code__load", {
                self::trace(module, version, file, start, size);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(
            module: __sdt::Text<'_>,
            version: __sdt::Text<'_>,
            file: __sdt::Text<'_>,
            start: u64,
            size: u64,
        ) {
            let mut module_buffer = __sdt::Buffer::new();
            let module = module_buffer.encode(module);
            let mut version_buffer = __sdt::Buffer::new();
            let version = version_buffer.encode(version);
            let mut file_buffer = __sdt::Buffer::new();
            let file = file_buffer.encode(file);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "code__load",
                (str module "char *")
                (str version "char *")
                (str file "char *")
                (u64 start "uint64_t")
                (u64 size "uint64_t")
            );
        }
    }

    /// A new version of a module replaced the current one: new calls go to it.
    ///
    /// Stability: stable: new arguments are added after the last one.
    ///
    /// The probe `code-upgrade` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `module` | `char *` | `Into<Text>` | the module's name |
    /// | `version` | `char *` | `Into<Text>` | the new version, as the module declares it |
    /// | `file` | `char *` | `Into<Text>` | the loaded file |
    /// | `start` | `uint64_t` | `u64` | address of the new version in memory |
    /// | `size` | `uint64_t` | `u64` | its size in bytes |
    /// | `old_version` | `char *` | `Into<Text>` | the version that served calls until now |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn upgrade<'a, Module, Version, File, OldVersion>(
        arguments: impl FnOnce() -> (Module, Version, File, u64, u64, OldVersion),
    ) where
        Module: Into<__sdt::Text<'a>>,
        Version: Into<__sdt::Text<'a>>,
        File: Into<__sdt::Text<'a>>,
        OldVersion: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "code__upgrade", upgrade, {
            __sdt::return_if_discarded!(upgrade);
            let (module, version, file, start, size, old_version) = arguments();
            upgrade::fire(
                module.into(),
                version.into(),
                file.into(),
                start,
                size,
                old_version.into(),
            );
        });
    }

    /// Whether `code-upgrade` is traced, and its firing.
    pub mod upgrade {
        use super::__sdt;

        __sdt::declare!("dyntrace", "code__upgrade");
        __sdt::describe!(
            "dyntrace", "code__upgrade", (str "module"), (str "version"), (str "file"), (u64 "start"), (u64 "size"), (str "old_version")
        );

        /// Whether a tracer looks at `code-upgrade` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "code__upgrade", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "code__upgrade");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(
            module: __sdt::Text<'_>,
            version: __sdt::Text<'_>,
            file: __sdt::Text<'_>,
            start: u64,
            size: u64,
            old_version: __sdt::Text<'_>,
        ) {
            let mut module_buffer = __sdt::Buffer::new();
            let mut version_buffer = __sdt::Buffer::new();
            let mut file_buffer = __sdt::Buffer::new();
            let mut old_version_buffer = __sdt::Buffer::new();
            __sdt::record!(
                (str module module_buffer),
                (str version version_buffer),
                (str file file_buffer),
                (u64 start),
                (u64 size),
                (str old_version old_version_buffer),
            );
            __sdt::if_traced!("dyntrace", "code__upgrade", {
                self::trace(module, version, file, start, size, old_version);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(
            module: __sdt::Text<'_>,
            version: __sdt::Text<'_>,
            file: __sdt::Text<'_>,
            start: u64,
            size: u64,
            old_version: __sdt::Text<'_>,
        ) {
            let mut module_buffer = __sdt::Buffer::new();
            let module = module_buffer.encode(module);
            let mut version_buffer = __sdt::Buffer::new();
            let version = version_buffer.encode(version);
            let mut file_buffer = __sdt::Buffer::new();
            let file = file_buffer.encode(file);
            let mut old_version_buffer = __sdt::Buffer::new();
            let old_version = old_version_buffer.encode(old_version);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "code__upgrade",
                (str module "char *")
                (str version "char *")
                (str file "char *")
                (u64 start "uint64_t")
                (u64 size "uint64_t")
                (str old_version "char *")
            );
        }
    }

    /// An old version of a module was purged: no thread runs its code any more.
    ///
    /// Stability: stable: new arguments are added after the last one.
    ///
    /// The probe `code-purge` of the provider `dyntrace`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `module` | `char *` | `Into<Text>` | the module's name |
    /// | `version` | `char *` | `Into<Text>` | the version, as the module declared it |
    /// | `start` | `uint64_t` | `u64` | address that it had in memory |
    /// | `size` | `uint64_t` | `u64` | its size in bytes |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn purge<'a, Module, Version>(
        arguments: impl FnOnce() -> (Module, Version, u64, u64),
    ) where
        Module: Into<__sdt::Text<'a>>,
        Version: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("dyntrace", "code__purge", purge, {
            __sdt::return_if_discarded!(purge);
            let (module, version, start, size) = arguments();
            purge::fire(module.into(), version.into(), start, size);
        });
    }

    /// Whether `code-purge` is traced, and its firing.
    pub mod purge {
        use super::__sdt;

        __sdt::declare!("dyntrace", "code__purge");
        __sdt::describe!(
            "dyntrace", "code__purge", (str "module"), (str "version"), (u64 "start"), (u64 "size")
        );

        /// Whether a tracer looks at `code-purge` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("dyntrace", "code__purge", self, { return true });
            false
        }

        __sdt::discard!("dyntrace", "code__purge");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(
            module: __sdt::Text<'_>,
            version: __sdt::Text<'_>,
            start: u64,
            size: u64,
        ) {
            let mut module_buffer = __sdt::Buffer::new();
            let mut version_buffer = __sdt::Buffer::new();
            __sdt::record!(
                (str module module_buffer),
                (str version version_buffer),
                (u64 start),
                (u64 size),
            );
            __sdt::if_traced!("dyntrace", "code__purge", {
                self::trace(module, version, start, size);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(module: __sdt::Text<'_>, version: __sdt::Text<'_>, start: u64, size: u64) {
            let mut module_buffer = __sdt::Buffer::new();
            let module = module_buffer.encode(module);
            let mut version_buffer = __sdt::Buffer::new();
            let version = version_buffer.encode(version);
            __sdt::site!(
                ["5_5_5_1_1_5_1_1_5_5_5_5_5_5_5"]
                "dyntrace",
                "code__purge",
                (str module "char *")
                (str version "char *")
                (u64 start "uint64_t")
                (u64 size "uint64_t")
            );
        }
    }
}
