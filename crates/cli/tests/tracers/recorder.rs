//! The scripts without a tracer, by the recorder: the lines that bpftrace prints.

use crate::answers::{self, FAILED_RENAME, REQUESTS, SIZES};
use crate::events::{self, Order};
use crate::hostile;
use crate::machine::turn;
use crate::pool;
use crate::programs::{CHECKOUT, CONNECTIONS, INLINE, MESSAGES, STORMS, USER_PROBES, done, renamed, traced};

const SCRIPTS: [(&str, &str); 6] = [
    ("efile_drv", "rename_tagged"),
    ("efile_errors", "rename_tagged"),
    ("messages", "every_event"),
    ("dist", "every_event"),
    ("user-probe", "every_event"),
    ("user-probe", "checkout"),
];

#[test]
fn every_operation_of_a_storm() {
    for storm in STORMS {
        let (trace, said) = traced("recorder", "efile_drv", "file_storm", storm);
        events::check(&trace, &done(&said), Order::OfTime, events::port);
    }
}

/// The calling threads answer cached reads and look-ups, as in other programs.
#[test]
fn operations_that_the_calling_thread_answers() {
    let (trace, said) = traced("recorder", "efile_drv", "file_storm", INLINE);
    events::check(&trace, &done(&said), Order::OfTime, events::port);
    let (trace, said) = traced("recorder", "efile_latency", "file_storm", INLINE);
    answers::latency(&trace, &done(&said));
}

#[test]
fn failed_operations() {
    for storm in STORMS {
        let (trace, said) = traced("recorder", "efile_errors", "file_storm", storm);
        answers::errors(&trace, &done(&said));
    }
}

#[test]
fn where_time_goes() {
    for storm in STORMS {
        let (trace, said) = traced("recorder", "efile_latency", "file_storm", storm);
        answers::latency(&trace, &done(&said));
    }
}

#[test]
fn commands_of_each_user_tag() {
    for (storm, sizes) in STORMS.into_iter().zip(SIZES) {
        let (trace, said) = traced("recorder", "efile_by_tag", "file_storm", storm);
        answers::by_tag(&trace, &done(&said), sizes);
    }
}

#[test]
fn how_long_the_queues_are() {
    for storm in STORMS {
        let (trace, said) = traced("recorder", "aio_pool", "file_storm", storm);
        pool::check_recorded(&trace, &done(&said));
    }
}

#[test]
fn how_long_messages_wait() {
    let (trace, report) = traced("recorder", "message_latency", "pipeline", &REQUESTS);
    answers::message_latency(&trace, &report);
}

#[test]
fn the_lines_to_the_letter() {
    let expected = [&renamed("#Port<0.1>"), FAILED_RENAME, MESSAGES, CONNECTIONS, USER_PROBES, CHECKOUT];
    for ((script, program), expected) in SCRIPTS.into_iter().zip(expected) {
        assert_eq!(traced("recorder", script, program, &[]).0, expected);
    }
}

#[test]
fn line_for_line_what_bpftrace_prints() {
    let Some(_turn) = turn("bpftrace", true) else { return };
    for (script, program) in SCRIPTS {
        let [recorded, seen] = ["recorder", "bpftrace"].map(|tracer| traced(tracer, script, program, &[]).0);
        assert!(!seen.is_empty(), "{script}");
        assert_eq!(recorded, seen, "{script}");
    }
}

#[test]
fn hostile_names() {
    // 511 bytes, the last one half a character.
    hostile::check("recorder", "#Port<0.1>", &("ä".repeat(255) + r"\xc3"), |text| text[..511].to_owned());
}
