//! The scripts under SystemTap, in a guest (`ci/stap-guest`) since few test machines load kernel modules.

use std::fs::{self, File};

use crate::answers::{self, FAILED_RENAME, REQUESTS, SIZES};
use crate::drivers;
use crate::events::{self, Order};
use crate::hostile;
use crate::machine::{command, run, turn, workspace};
use crate::pool;
use crate::programs::{CONNECTIONS, INLINE, MESSAGES, ORDERS, STORMS, USER_PROBES, done, example, renamed};
use crate::tasks;
use crate::waits;

/// The lines of OTP's `messages.systemtap` on `every_event`, below its note.
const OTPS_MESSAGES: &str = "\
send:   <0.1.0> label 1 token {2,3} -> <0.2.0>: 4000000000 words
send :  <0.1.0> label -1 token {-2,-3} -> node@host <0.2.0>: 5 words
queued: <0.2.0> label 1 token {2,3}: 5 words, queue len 1
receive: <0.2.0>: 5 words, queue len 0
";

/// The lines of OTP's `user-probe.systemtap` on `checkout`.
const OTPS_USER_PROBES: &str = "\
the shop is open
<0.1.0> Ada 3 2450 0 0 'paid' 'card' '' ''
<0.2.0> Joe 0 0 0 0 'left' '' '' ''
<0.3.0> Robert 1 99999 0 0 'refused' 'card' 'above the limit' 'above the limit'
";

/// Counts a program's probes in the traced process and its child, and in the process alone, as in scripts that `dyntrace run` has
/// limited. A timer in the same clause goes on.
const CHILD: &str = "\
global all, asked, ticks
probe process(@1).mark(\"user_trace*\") { all++ }
probe process(@1).mark(\"user_trace*\"), timer.ms(20) { LIMIT if (substr(pp(), 0, 5) == \"timer\") ticks++; else asked++ }
probe end { printf(\"%d %d %d\\n\", all, asked, ticks > 0) }
";

/// The scripts whose probes dyntrace has, changed only in the path of the program.
#[test]
fn otps_own_scripts() {
    let Some(_turn) = turn("stap", false) else { return };
    let examples = glob::glob("/usr/lib/erlang/lib/runtime_tools-*/examples").expect("a pattern").find_map(Result::ok);
    let Some(examples) = examples else {
        return crate::missing::skip("stap", "erlang-runtime-tools is not installed: ci/tracers gets it");
    };
    let folder = tempfile::tempdir().expect("a directory for the guest's answers");
    let line = |(name, program): (&str, &str)| {
        let script = fs::read_to_string(examples.join(format!("{name}.systemtap"))).expect("a script of OTP");
        let path = folder.path().join(format!("{name}.stp"));
        fs::write(&path, script.replace("\"beam.smp\"", "@1")).expect("writing the script");
        format!("{name} {} {}\n", path.display(), example(program).display())
    };
    let list = folder.path().join("runs");
    let runs = [("messages", "every_event"), ("user-probe", "checkout")].map(line);
    fs::write(&list, runs.concat()).expect("writing the list of runs");
    let mut guest = command(workspace().join("ci/stap-guest"));
    run(guest.arg(folder.path()).stdin(File::open(&list).expect("the list of runs")));
    let trace = |name: &str| fs::read_to_string(folder.path().join(format!("{name}.trace"))).expect("a trace");
    let messages = trace("messages");
    let (note, lines) = messages.split_once("size.\n\n").expect("the script's note");
    assert!(note.contains("NOTE: message-queue message size"), "{note}");
    assert_eq!(lines, OTPS_MESSAGES);
    assert_eq!(trace("user-probe"), OTPS_USER_PROBES);
}

#[test]
fn every_script_in_one_boot() {
    let Some(_turn) = turn("stap", false) else { return };
    let folder = tempfile::tempdir().expect("a directory for the guest's answers");
    let child = folder.path().join("child.stp");
    let limit = fs::read_to_string(workspace().join("crates/runs/src/run/one_process/limit.stp")).expect("the limit");
    fs::write(&child, CHILD.replace("LIMIT", &limit)).expect("writing the script");
    let full = folder.path().join("full.stp");
    let latency = fs::read_to_string(workspace().join("stap-scripts/efile_latency.stp")).expect("a script");
    fs::write(&full, latency.replace("%[16384]", "%[8]").replace("keys < 16384", "keys < 8"))
        .expect("writing the script");
    let many = "--tasks 100 --operations 1 --mix read".to_owned();
    let runs = [
        ("full", full.to_str().expect("a path in UTF-8"), "file_storm", many),
        ("child", child.to_str().expect("a path in UTF-8"), "checkout", String::new()),
        ("commands", "stap-scripts/efile_drv.stp", "file_storm", STORMS[0].join(" ")),
        ("tasks", "stap-scripts/efile_drv.stp", "file_storm", STORMS[1].join(" ")),
        ("rename", "stap-scripts/efile_drv.stp", "rename_tagged", String::new()),
        ("errors", "stap-scripts/efile_errors.stp", "file_storm", STORMS[0].join(" ")),
        ("latency", "stap-scripts/efile_latency.stp", "file_storm", INLINE.join(" ")),
        ("tags", "stap-scripts/efile_by_tag.stp", "file_storm", STORMS[1].join(" ")),
        ("pool", "stap-scripts/aio_pool.stp", "file_storm", STORMS[1].join(" ")),
        ("hostile", "stap-scripts/efile_errors.stp", "hostile_names", String::new()),
        ("digests", "examples/digest_driver/scripts/digests.stp", "digest_driver", "/etc".to_owned()),
        ("names", "examples/resolver_driver/scripts/look_ups.stp", "resolver_driver", drivers::names().join(" ")),
        ("failed", "stap-scripts/efile_errors.stp", "rename_tagged", String::new()),
        ("messages", "stap-scripts/messages.stp", "every_event", String::new()),
        ("dist", "stap-scripts/dist.stp", "every_event", String::new()),
        ("waits", "stap-scripts/message_latency.stp", "pipeline", REQUESTS.join(" ")),
        ("orders", "examples/own_provider/scripts/orders.stp", "own_provider", String::new()),
        ("user", "stap-scripts/user-probe.stp", "every_event", String::new()),
        ("spawns", "stap-scripts/spawn-exit.stp", "known_tasks", tasks::COUNT.to_owned()),
        ("scheduling", "stap-scripts/process-scheduling.stp", "known_tasks", tasks::COUNT.to_owned()),
        ("polls", "stap-scripts/task_latency.stp", "known_tasks", tasks::COUNT.to_owned()),
        ("jobs", "stap-scripts/blocking_pool.stp", "known_waits", waits::COUNT.to_owned()),
        ("tasks_waits", "stap-scripts/task_waits.stp", "known_waits", waits::COUNT.to_owned()),
    ];
    let line = |(name, script, program, arguments): &(&str, &str, &str, String)| {
        let script = workspace().canonicalize().expect("the workspace").join(script);
        format!("{name} {} {} {arguments}\n", script.display(), example(program).display())
    };
    let list = folder.path().join("runs");
    fs::write(&list, runs.iter().map(line).collect::<String>()).expect("writing the list of runs");
    let mut guest = command(workspace().join("ci/stap-guest"));
    run(guest.arg(folder.path()).stdin(File::open(&list).expect("the list of runs")));

    let bytes = |name: &str, kind: &str| {
        let path = folder.path().join(format!("{name}.{kind}"));
        fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let answer = |name: &str, kind: &str| {
        String::from_utf8(bytes(name, kind)).unwrap_or_else(|error| panic!("{name}.{kind}: {error}"))
    };
    for (name, ..) in &runs {
        let said = answer(name, "stap");
        match *name {
            "full" => assert!(said.contains("WARNING: lost ") && said.contains(" events: no room"), "{said}"),
            _ => assert_eq!(said, "", "what SystemTap says of {name}"),
        }
        let said = answer(name, "err");
        let unexpected: String =
            said.split_inclusive('\n').filter(|line| !line.starts_with("resolver_driver: ")).collect();
        assert_eq!(unexpected, "", "what the program of {name} says");
        let status = match *name {
            "hostile" => "7\n",
            "names" => "1\n",
            _ => "0\n",
        };
        assert_eq!(answer(name, "status"), status, "{name}");
    }
    for name in ["commands", "tasks"] {
        events::check(&answer(name, "trace"), &done(&answer(name, "out")), Order::OfTime, events::port);
    }
    assert_eq!(answer("rename", "trace"), renamed("#Port<0.1>"));
    answers::errors(&answer("errors", "trace"), &done(&answer("errors", "out")));
    assert_eq!(answer("failed", "trace"), FAILED_RENAME);
    answers::latency(&answer("latency", "trace"), &done(&answer("latency", "out")));
    answers::by_tag(&answer("tags", "trace"), &done(&answer("tags", "out")), SIZES[1]);
    pool::check(&answer("pool", "trace"), &done(&answer("pool", "out")));
    hostile::check_raw(&bytes("hostile", "trace"));
    // `ci/stap-guest` writes one file there for the guest.
    drivers::digests(&answer("digests", "trace"), &answer("digests", "out"), "/etc", &[("passwd", 19)], events::port);
    drivers::look_ups(&answer("names", "trace"), &answer("names", "out"));
    // A missing time reads as 0, and the time since then is that since 1970.
    let full = answer("full", "trace");
    let means = full.lines().filter_map(|line| answers::words(line.split_once(" in queue ")?.1)[1].parse::<i64>().ok());
    let means: Vec<i64> = means.collect();
    assert!(!means.is_empty() && means.iter().all(|mean| (0..600_000_000).contains(mean)), "{full}");
    assert_eq!(answer("child", "trace"), "8 4 1\n");
    assert_eq!(answer("messages", "trace"), MESSAGES);
    assert_eq!(answer("dist", "trace"), CONNECTIONS);
    answers::message_latency(&answer("waits", "trace"), &answer("waits", "out"));
    assert_eq!(answer("user", "trace"), USER_PROBES);
    assert_eq!(answer("orders", "trace"), ORDERS);
    tasks::spawn_exit(&answer("spawns", "trace"), &answer("spawns", "out"));
    tasks::scheduling(&answer("scheduling", "trace"), &answer("scheduling", "out"));
    tasks::latency(&answer("polls", "trace"), &answer("polls", "out"));
    waits::blocking_pool(&answer("jobs", "trace"), &answer("jobs", "out"));
    waits::task_waits(&answer("tasks_waits", "trace"), &answer("tasks_waits", "out"));
}
