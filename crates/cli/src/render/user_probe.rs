//! The script `user-probe`: what the application says through its own events.

use super::Line;

/// What it prints of each probe.
pub const LINES: &[Line] = &[
    Line { probe: "dyntrace:user_trace-s1", template: "user_trace s1 | $message" },
    Line {
        probe: "dyntrace:user_trace-i4s4",
        template: "user_trace i4s4 $proc user tag $user_tag | $i1 $i2 $i3 $i4 | $s1 | $s2 | $s3 | $s4",
    },
];
