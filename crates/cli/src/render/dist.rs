//! The script `dist`: connections to other nodes, up and down, bytes, and where senders wait.

use super::Line;

/// What it prints of each probe.
pub const LINES: &[Line] = &[
    Line { probe: "dyntrace:dist-monitor", template: "monitor:  $what $monitored_node ($type) at $node: $reason" },
    Line { probe: "dyntrace:dist-output", template: "output:   $node -> $remote_node: $bytes bytes" },
    Line { probe: "dyntrace:dist-port_busy", template: "busy:     $node -> $remote_node: $pid waits" },
    Line { probe: "dyntrace:dist-port_not_busy", template: "not busy: $node -> $remote_node" },
];
