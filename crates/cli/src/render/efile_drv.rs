//! The script `efile_drv`: every operation of the file driver, from request to answer.

use super::Line;

/// What it prints of each probe.
pub const LINES: &[Line] = &[
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
