//! A data set with all tables, whose names try to become markup.

use std::path::Path;

use tempfile::TempDir;

use super::data::{bools, numbers, texts, unsigned, write};

/// The names of its hosts.
pub const HOSTS: [&str; 2] = ["<script>alert(\"1\")</script>", "new-'&\u{1b}[2J"];
/// The operations of each host.
pub const OPERATIONS: usize = 30;
/// The time of the first operation: 2026-11-26 02:00:00 UTC.
const BEGIN: i64 = 1_795_658_400_000_000_000;

/// Returns the user tag of an operation of a host. Each is a request of its own.
pub fn tag(host: usize, operation: usize) -> String {
    format!("req-{host}-{operation}'\"><img src=x onerror=alert(1)>\n")
}

/// Returns how long an operation of a host takes: on the second host a hundred times as long.
pub fn duration(host: usize, operation: usize) -> i64 {
    (operation as i64 + 1) * 1_000_000 * if host == 0 { 1 } else { 100 }
}

/// Returns the data set, which lost nothing.
pub fn hostile() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for host in 0..HOSTS.len() {
        operations(folder.path(), host);
        events(folder.path(), host);
        messages(folder.path(), host);
        lose(folder.path(), host, []);
    }
    folder
}

fn file(folder: &Path, table: &str, host: usize) -> std::path::PathBuf {
    folder.join(format!("{table}/host=h{host}/date=2026-11-26/hour=02/one.parquet"))
}

fn operations(folder: &Path, host: usize) {
    let all = 0..OPERATIONS;
    let tags: Vec<String> = all.clone().map(|operation| tag(host, operation)).collect();
    let entry = |operation: usize| BEGIN + operation as i64 * 1_000_000_000;
    let durations: Vec<i64> = all.clone().map(|operation| duration(host, operation)).collect();
    let columns = vec![
        ("time_ns", numbers(all.clone().map(entry))),
        ("hostname", texts([HOSTS[host]; OPERATIONS])),
        ("process", texts(["server </table>"; OPERATIONS])),
        ("user_tag", texts(tags.iter().map(|tag| &**tag))),
        ("command_name", texts(["WRITE"; OPERATIONS])),
        ("path", texts(["/srv/<b>data</b>/file"; OPERATIONS])),
        ("entry_ns", numbers(all.clone().map(entry))),
        ("return_ns", numbers(all.clone().map(|operation| entry(operation) + duration(host, operation)))),
        ("duration_ns", numbers(durations.iter().copied())),
        ("queue_wait_ns", numbers([1000; OPERATIONS])),
        ("service_ns", numbers(durations.iter().map(|duration| duration - 2000))),
        ("delivery_ns", numbers([1000; OPERATIONS])),
        ("success", bools(all.map(|operation| operation > 0))),
        ("errno_name", texts([Some("ENOSPC"); OPERATIONS])),
    ];
    write(&file(folder, "operations", host), columns);
}

fn events(folder: &Path, host: usize) {
    let columns = vec![("time_ns", numbers([BEGIN, BEGIN + 1])), ("hostname", texts([HOSTS[host]; 2]))];
    write(&file(folder, "events", host), columns);
}

/// The first host sends what the second receives a millisecond before, by its clock.
fn messages(folder: &Path, host: usize) {
    let columns = vec![
        ("time_ns", numbers([BEGIN + if host == 0 { 1_000_000 } else { 0 }])),
        ("hostname", texts([HOSTS[host]])),
        ("process", texts(["server </table>"])),
        ("step", texts([if host == 0 { "send_remote" } else { "receive" }])),
        ("token_label", numbers([7])),
        ("token_previous", numbers([0])),
        ("token_current", numbers([1])),
    ];
    write(&file(folder, "messages", host), columns);
}

/// Makes these the losses of a host: kinds, and numbers of events.
pub fn lose<const N: usize>(folder: &Path, host: usize, losses: [(&str, Option<u64>); N]) {
    let columns = vec![
        ("time_ns", numbers([BEGIN; N])),
        ("hostname", texts([HOSTS[host]; N])),
        ("kind", texts(losses.map(|(kind, _)| kind))),
        ("reason", texts(["<i>full</i>"; N])),
        ("count", unsigned(losses.map(|(_, count)| count))),
    ];
    write(&file(folder, "losses", host), columns);
}
