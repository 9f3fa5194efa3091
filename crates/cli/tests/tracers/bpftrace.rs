//! The scripts under bpftrace.

use crate::events::{self, Order};
use crate::machine::{self, turn};
use crate::programs::{MESSAGES, STORMS, USER_PROBES, done, example, renamed, traced};

#[test]
fn every_operation_of_a_storm() {
    let Some(_turn) = turn("bpftrace", true) else { return };
    for storm in STORMS {
        let (trace, said) = traced("bpftrace", "efile_drv", "file_storm", storm);
        events::check(&trace, &done(&said), Order::OfTime, events::port);
    }
}

#[test]
fn the_lines_to_the_letter() {
    let Some(_turn) = turn("bpftrace", true) else { return };
    assert_eq!(traced("bpftrace", "efile_drv", "rename_tagged", &[]).0, renamed("#Port<0.1>"));
    assert_eq!(traced("bpftrace", "messages", "every_event", &[]).0, MESSAGES);
    assert_eq!(traced("bpftrace", "user-probe", "every_event", &[]).0, USER_PROBES);
}

#[test]
fn the_scripts_by_hand() {
    let Some(_turn) = turn("bpftrace", true) else { return };
    for name in ["efile_drv", "messages", "user-probe"] {
        let script = machine::workspace().join(format!("bt-scripts/{name}.bt"));
        machine::run(machine::command("bpftrace").arg("--dry-run").arg(script).arg(example("every_event")));
    }
}
