//! The scripts under SystemTap, in a guest (`ci/stap-guest`) since few test machines load kernel modules.

use std::fs::{self, File};

use crate::answers::{self, FAILED_RENAME, SIZES};
use crate::events::{self, Order};
use crate::machine::{command, run, turn, workspace};
use crate::programs::{MESSAGES, ORDERS, STORMS, USER_PROBES, done, example, renamed};

#[test]
fn every_script_in_one_boot() {
    let Some(_turn) = turn("stap", false) else { return };
    let folder = tempfile::tempdir().expect("a directory for the guest's answers");
    let runs = [
        ("commands", "stap-scripts/efile_drv.stp", "file_storm", STORMS[0].join(" ")),
        ("tasks", "stap-scripts/efile_drv.stp", "file_storm", STORMS[1].join(" ")),
        ("rename", "stap-scripts/efile_drv.stp", "rename_tagged", String::new()),
        ("errors", "stap-scripts/efile_errors.stp", "file_storm", STORMS[0].join(" ")),
        ("latency", "stap-scripts/efile_latency.stp", "file_storm", STORMS[0].join(" ")),
        ("tags", "stap-scripts/efile_by_tag.stp", "file_storm", STORMS[1].join(" ")),
        ("failed", "stap-scripts/efile_errors.stp", "rename_tagged", String::new()),
        ("messages", "stap-scripts/messages.stp", "every_event", String::new()),
        ("orders", "examples/own_provider/scripts/orders.stp", "own_provider", String::new()),
        ("user", "stap-scripts/user-probe.stp", "every_event", String::new()),
    ];
    let line = |(name, script, program, arguments): &(&str, &str, &str, String)| {
        let script = workspace().canonicalize().expect("the workspace").join(script);
        format!("{name} {} {} {arguments}\n", script.display(), example(program).display())
    };
    let list = folder.path().join("runs");
    fs::write(&list, runs.iter().map(line).collect::<String>()).expect("writing the list of runs");
    let mut guest = command(workspace().join("ci/stap-guest"));
    run(guest.arg(folder.path()).stdin(File::open(&list).expect("the list of runs")));

    let answer = |name: &str, kind: &str| {
        let path = folder.path().join(format!("{name}.{kind}"));
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    for (name, ..) in &runs {
        assert_eq!(answer(name, "err"), "", "what SystemTap says of {name}");
    }
    for name in ["commands", "tasks"] {
        events::check(&answer(name, "trace"), &done(&answer(name, "out")), Order::OfTime, events::port);
    }
    assert_eq!(answer("rename", "trace"), renamed("#Port<0.1>"));
    answers::errors(&answer("errors", "trace"), &done(&answer("errors", "out")));
    assert_eq!(answer("failed", "trace"), FAILED_RENAME);
    answers::latency(&answer("latency", "trace"), &done(&answer("latency", "out")));
    answers::by_tag(&answer("tags", "trace"), &done(&answer("tags", "out")), SIZES[1]);
    assert_eq!(answer("messages", "trace"), MESSAGES);
    assert_eq!(answer("user", "trace"), USER_PROBES);
    assert_eq!(answer("orders", "trace"), ORDERS);
}
