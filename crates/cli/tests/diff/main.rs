//! `dyntrace diff` on two recordings of this test's own program, which does other things in the second one: run with `ROLE` set, it is
//! the recorded program.
#![cfg(target_os = "linux")]

#[path = "../common/interrupts.rs"]
mod interrupts;
#[path = "../record/place.rs"]
#[expect(dead_code, reason = "these tests need a part of it")]
mod place;

use std::env;
use std::io::ErrorKind;
use std::process::Command;

use dyntrace::trace::{Limits, Session};
use dyntrace::{fs, traced, with_tag};
use serde_json::Value;

use place::Place;

/// The program in its role.
#[test]
fn role() {
    if let Ok(role) = env::var("ROLE") {
        work(&role);
    }
}

/// This program in a role.
pub fn program(role: &str) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "role", "--nocapture"]).env("ROLE", role);
    command
}

#[traced]
fn checkout(order: u32) -> Result<u32, String> {
    if order == 7 { Err("sold out".to_owned()) } else { Ok(order) }
}

#[traced]
fn audit() {}

#[traced]
fn refund(order: u32) -> u32 {
    order
}

/// The program `before` or `after` a change.
fn work(when: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let session = Session::to_probes(Limits::default()).unwrap();
        session.set("diff::* do return, error").await.unwrap();
        match when {
            "before" => before().await,
            _ => after().await,
        }
        session.close().await;
    });
}

async fn before() {
    for number in 0..20 {
        with_tag(format!("req-{number}"), request(number)).await;
    }
    with_tag("sweep", fs::remove_file("item-0")).await.unwrap();
    (0..5).for_each(|order| assert!(checkout(order).is_ok()));
    audit();
}

async fn after() {
    for number in 0..30 {
        with_tag(format!("req-{number}"), request(number)).await;
    }
    for number in 0..20 {
        let missing = with_tag(format!("req-{number}"), fs::read(format!("missing-{number}"))).await;
        assert_eq!(missing.unwrap_err().kind(), ErrorKind::NotFound);
    }
    with_tag("move", fs::rename("item-1", "kept")).await.unwrap();
    (0..8).for_each(|order| assert_eq!(checkout(order).is_ok(), order != 7));
    refund(7);
}

async fn request(number: u32) {
    let path = format!("item-{number}");
    fs::write(&path, "text").await.unwrap();
    assert_eq!(fs::read(&path).await.unwrap(), b"text");
}

/// A place with the recordings `before` and `after`.
fn recorded() -> Place {
    let place = Place::new();
    for when in ["before", "after"] {
        place.record(&["-o", when], when).says(0, "done");
    }
    place
}

#[test]
fn differences_of_two_traces() {
    let place = recorded();
    let ran = place.run(&["diff", "before", "after", "--json"]);
    ran.says(0, "");
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&json["a"]["lost_events"], &json["b"]["lost_events"]), (&0.into(), &0.into()));
    let groups = json["groups"].as_array().unwrap();
    let count = |figures: &Value| figures["count"].as_u64();
    let told: Vec<_> = groups
        .iter()
        .map(|group| {
            let name = (group["by"].as_str().unwrap(), group["name"].as_str().unwrap());
            (name, group["state"].as_str().unwrap(), count(&group["a"]), count(&group["b"]))
        })
        .collect();
    for expected in [
        (("command", "WRITE_FILE"), "both", Some(20), Some(30)),
        (("command", "READ_FILE"), "both", Some(20), Some(50)),
        (("command", "DELETE"), "gone", Some(1), None),
        (("command", "RENAME"), "new", None, Some(1)),
        (("tag", "req-*"), "both", Some(40), Some(80)),
        (("tag", "sweep"), "gone", Some(1), None),
        (("tag", "move"), "new", None, Some(1)),
        (("function", "diff::checkout/1"), "both", Some(5), Some(8)),
        (("function", "diff::audit/0"), "gone", Some(1), None),
        (("function", "diff::refund/1"), "new", None, Some(1)),
        (("resource", "item-*"), "both", Some(41), Some(61)),
        (("resource", "missing-*"), "new", None, Some(20)),
    ] {
        assert!(told.contains(&expected), "{expected:?}: {told:#?}");
    }
    assert_eq!(told.len(), 12, "{told:#?}");
    let group = |name: &str| groups.iter().find(|group| group["name"] == name).unwrap();
    let reads = group("READ_FILE");
    assert_eq!((&reads["a"]["errors"], &reads["b"]["errors"]), (&0.into(), &20.into()));
    let differs = |change: &Value| change["figure"] == "errors" && change["apart"].as_f64() > Some(0.0);
    assert!(reads["changes"].as_array().unwrap().iter().any(differs), "{reads:#}");
    assert_eq!(group("diff::checkout/1")["b"]["errors"], 1);
    for time in ["total_ns", "queue_wait_ns", "service_ns", "delivery_ns"] {
        assert_eq!(group("WRITE_FILE")["a"][time]["count"], 20, "{time}");
    }
}

#[test]
fn conditions_for_a_pipeline() {
    let place = recorded();
    for (conditions, status, said) in [
        (&["errors > 1x of command"][..], 1, "met: errors > 1x of command: 0 -> 20 in READ_FILE"),
        (&["count > 2.5x of command READ_FILE"], 0, "not met: count > 2.5x of command READ_FILE: 20 -> 50"),
        (&["count >= 2.5x of command READ_FILE"], 1, "met: "),
        (&["count > 0 of tag sweep"], 0, "not met: "),
        (&["count > 0 of tag move"], 1, "0 -> 1 in move"),
        (&["count > 2x", "errors > 0 of function diff::*"], 1, "0 -> 1 in diff::checkout/1"),
        // No program takes so long, and every one takes time.
        (&["max(total) > 3600s", "p99.9(queue_wait) > 3600s", "mean(service) > 3600s of command"], 0, "not met: "),
        (&["p50(total) > 0ns"], 1, "met: p50(total) > 0ns"),
        (&["count > 0 of command MKDIR*"], 2, "neither trace has such a group"),
    ] {
        let options: Vec<&str> = conditions.iter().flat_map(|condition| ["--fail-if", condition]).collect();
        place.run(&[&["diff", "before", "after"], &options[..]].concat()).says(status, said);
    }
    let ran = place.run(&["diff", "before", "after", "--html", "page.html"]);
    ran.says(0, "");
    assert!(ran.out.lines().any(|line| line.contains(" new ") && line.ends_with(" RENAME")), "{}", ran.out);
    assert!(std::fs::read_to_string(place.path("page.html")).unwrap().contains("missing-*"));
}

#[test]
fn requests_in_the_report() {
    let place = recorded();
    place.run(&["report", "before", "-o", "report.html"]).says(0, "");
    let page = std::fs::read_to_string(place.path("report.html")).unwrap();
    // One after the other, so that half of them last a tenth of the recording at most.
    let (tags, requests) = page.split_once("<h2>Slowest requests</h2>").unwrap();
    assert!(requests.contains("<b>21</b> requests"), "{requests}");
    assert!(tags.contains("<th scope=\"row\">req-*</th><td>40</td>"), "{tags}");
    for tag in ["req-0", "req-19", "sweep"] {
        assert!(requests.contains(&format!("<th scope=\"row\">{tag}</th>")), "{tag}: {requests}");
    }
}
