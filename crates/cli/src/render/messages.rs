//! The script `messages`: messages between processes, sent, put into a mailbox, taken out.

use super::Line;

/// What it prints of each probe.
pub const LINES: &[Line] = &[
    Line {
        probe: "dyntrace:message-send",
        template: "message send $sender -> $receiver | $size words \
                   | token {$token_label,$token_previous,$token_current}",
    },
    Line {
        probe: "dyntrace:message-send-remote",
        template: "message send-remote $sender -> $receiver at $node_name | $size words \
                   | token {$token_label,$token_previous,$token_current}",
    },
    Line {
        probe: "dyntrace:message-queued",
        template: "message queued $receiver | $size words | queue $queue_len \
                   | token {$token_label,$token_previous,$token_current}",
    },
    Line {
        probe: "dyntrace:message-receive",
        template: "message receive $receiver | $size words | queue $queue_len \
                   | token {$token_label,$token_previous,$token_current}",
    },
];
