//! The scripts that print a line for each event: the probes and the lines, with the names of fields in them.

use super::way::Line;

/// The script `dist`.
pub const DIST: &[Line] = &[
    Line { probe: "dyntrace:dist-monitor", template: "monitor:  $what $monitored_node ($type) at $node: $reason" },
    Line { probe: "dyntrace:dist-output", template: "output:   $node -> $remote_node: $bytes bytes" },
    Line { probe: "dyntrace:dist-port_busy", template: "busy:     $node -> $remote_node: $pid waits" },
    Line { probe: "dyntrace:dist-port_not_busy", template: "not busy: $node -> $remote_node" },
];

/// The script `efile_drv`.
pub const EFILE_DRV: &[Line] = &[
    Line {
        probe: "dyntrace:efile_drv-entry",
        template: "efile_drv enter tag={$thread_id,$tag} user tag $user_tag | $command:op ($command) \
                   | args: $s1 $s2 , $i1 $i2 (port $port)",
    },
    Line {
        probe: "dyntrace:efile_drv-int_entry",
        template: "async I/O worker tag={$thread_id,$tag} | $command:op ($command) | efile_drv-int_entry",
    },
    Line {
        probe: "dyntrace:efile_drv-int_return",
        template: "async I/O worker tag={$thread_id,$tag} | $command:op ($command) | efile_drv-int_return",
    },
    Line {
        probe: "dyntrace:efile_drv-return",
        template: "efile_drv return tag={$thread_id,$tag} user tag $user_tag | $command:op ($command) | errno $errno",
    },
];

/// The script `messages`.
pub const MESSAGES: &[Line] = &[
    Line {
        probe: "dyntrace:message-send",
        template: "send:    $sender label $token_label token {$token_previous,$token_current} -> $receiver: $size words",
    },
    Line {
        probe: "dyntrace:message-send-remote",
        template: "send:    $sender label $token_label token {$token_previous,$token_current} \
                   -> $receiver at $node_name: $size words",
    },
    Line {
        probe: "dyntrace:message-queued",
        template: "queued:  $receiver label $token_label token {$token_previous,$token_current}: $size words, \
                   queue len $queue_len",
    },
    Line {
        probe: "dyntrace:message-receive",
        template: "receive: $receiver label $token_label token {$token_previous,$token_current}: $size words, \
                   queue len $queue_len",
    },
];

/// The script `process-scheduling`.
pub const PROCESS_SCHEDULING: &[Line] = &[
    Line { probe: "dyntrace:process-scheduled", template: "  Schedule pid $proc mfa $fun" },
    Line { probe: "dyntrace:process-unscheduled", template: "Unschedule pid $proc polled $polled ns outcome $outcome" },
];

/// The script `spawn-exit`.
pub const SPAWN_EXIT: &[Line] = &[
    Line {
        probe: "dyntrace:process-spawn",
        template: "pid $proc mfa $fun parent $parent place $place user tag $user_tag",
    },
    Line { probe: "dyntrace:process-exit", template: "pid $proc reason $reason" },
];

/// The script `user-probe`.
pub const USER_PROBE: &[Line] = &[
    Line { probe: "dyntrace:user_trace-s1", template: "user_trace s1 | $message" },
    Line {
        probe: "dyntrace:user_trace-i4s4",
        template: "user_trace i4s4 $proc user tag $user_tag | $i1 $i2 $i3 $i4 | $s1 | $s2 | $s3 | $s4",
    },
];
