//! The script `messages`: messages between processes, sent, put into a mailbox, taken out.

use super::Line;

/// What it prints of each probe.
pub const LINES: &[Line] = &[
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
