//! The answers of the process, for people and as JSON.

use dyntrace::code::remote::Order;
use dyntrace::recorder::control::protocol::Record;
use dyntrace_terminal::{escape, stdout};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::records;

/// Fields of answers that are numbers.
const NUMBERS: [&str; 7] = ["time", "start", "size", "exports", "thread", "holds", "kept"];

/// Returns the text of a record's field, empty if there is none.
type Get<'r> = dyn Fn(&str) -> String + 'r;

/// Prints the answer to `order`.
pub fn print(order: &Order, records: &[Record], json: bool) -> anyhow::Result<()> {
    stdout::write(&if json { objects(records) } else { lines(order, records, &TimeZone::system()) })
}

/// One object per line.
fn objects(records: &[Record]) -> String {
    let field = |(name, text): (&str, &str)| {
        let number = NUMBERS.contains(&name).then(|| text.parse::<u64>().ok()).flatten();
        let name = if name == "time" { "time_ns" } else { name };
        (name.to_owned(), number.map_or_else(|| json!(text), |number| json!(number)))
    };
    let object = |record: &Record| escape::json(Value::Object(record.iter().map(field).collect())) + "\n";
    records.iter().map(object).collect()
}

fn lines(order: &Order, records: &[Record], zone: &TimeZone) -> String {
    let each = |line: &dyn Fn(&Get<'_>) -> String| {
        let get = |record: &Record, name: &str| record.get(name).map(escape::name).unwrap_or_default();
        records.iter().map(|record| line(&|name| get(record, name)) + "\n").collect::<String>()
    };
    match order {
        Order::List => list(records),
        Order::History => each(&|get| {
            let time = time(get("time").parse().unwrap_or_default(), zone);
            format!("{time}  {:<7}  {} {}", get("what"), get("module"), get("version"))
        }),
        Order::Load(_) => each(&|get| format!("loaded {} {}", get("module"), get("version"))),
        Order::Upgrade(_) => {
            each(&|get| format!("upgraded {} from {} to {}", get("module"), get("old"), get("version")))
        }
        Order::Delete(_) => {
            each(&|get| format!("deleted {} {}: it is the old version now", get("module"), get("version")))
        }
        Order::Purge(module) | Order::SoftPurge(module) if records.is_empty() => {
            format!("{} has no old version\n", escape::name(module))
        }
        Order::Check(module) if records.is_empty() => {
            format!("nobody is inside an old version of {}\n", escape::name(module))
        }
        Order::Check(_) => each(&|get| match get("thread") {
            thread if thread.is_empty() => {
                format!("{} {}: {} futures or borrowed handles", get("module"), get("version"), get("holds"))
            }
            thread => format!("{} {}: thread {thread} ({})", get("module"), get("version"), get("name")),
        }),
        _ => each(&|get| {
            let fate = if get("fate") == "unloaded" { "unloaded" } else { "it stays in memory" };
            format!("purged {} {}: {fate}", get("module"), get("version"))
        }),
    }
}

fn list(records: &[Record]) -> String {
    let mut versions = records.iter().filter(|record| record.get("module").is_some()).peekable();
    let mut text = match versions.peek() {
        None => "no module is loaded\n".to_owned(),
        Some(_) => records::table(["module", "version", "state", "exports", "file"], versions, |_| false),
    };
    match records.iter().find_map(|record| record.number("kept")) {
        None | Some(0) => {}
        Some(1) => text += "1 version that nobody can call is still in memory\n",
        Some(kept) => text += &format!("{kept} versions that nobody can call are still in memory\n"),
    }
    text
}

fn time(since_1970: i128, zone: &TimeZone) -> String {
    match Timestamp::from_nanosecond(since_1970) {
        Ok(time) => time.to_zoned(zone.clone()).strftime("%F %T%.6f").to_string(),
        Err(_) => since_1970.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(lines: &[&str]) -> Vec<Record> {
        lines.iter().map(|line| line.replace(' ', "\t").parse().unwrap()).collect()
    }

    fn said(order: &Order, answer: &[&str]) -> String {
        lines(order, &records(answer), &TimeZone::UTC)
    }

    #[test]
    fn a_list_is_a_table() {
        let answer = [
            "module=pricing version=2.1.0 state=current file=/srv/2.so start=4096 size=8192 exports=2",
            "module=pricing version=2.0.0-rc1 state=old file=/srv/1\u{1b}.so start=4096 size=8192 exports=12",
            "kept=3",
        ];
        assert_eq!(
            said(&Order::List, &answer),
            "MODULE   VERSION    STATE    EXPORTS  FILE\n\
             pricing  2.1.0      current  2        /srv/2.so\n\
             pricing  2.0.0-rc1  old      12       /srv/1\\x1b.so\n\
             3 versions that nobody can call are still in memory\n"
        );
        assert_eq!(said(&Order::List, &["kept=0"]), "no module is loaded\n");
    }

    #[test]
    fn each_change_is_a_line() {
        let module = || "tax".to_owned();
        for (order, answer, expected) in [
            (Order::Load(Vec::new()), "module=tax version=1", "loaded tax 1\n"),
            (Order::Upgrade(Vec::new()), "module=tax version=2 old=1", "upgraded tax from 1 to 2\n"),
            (Order::Delete(module()), "module=tax version=2", "deleted tax 2: it is the old version now\n"),
            (Order::Purge(module()), "module=tax version=1 fate=kept", "purged tax 1: it stays in memory\n"),
            (Order::SoftPurge(module()), "module=tax version=1 fate=unloaded", "purged tax 1: unloaded\n"),
            (Order::Check(module()), "module=tax version=1 thread=7 name=worker", "tax 1: thread 7 (worker)\n"),
            (Order::Check(module()), "module=tax version=1 holds=2", "tax 1: 2 futures or borrowed handles\n"),
            (
                Order::History,
                "time=1700000000123456789 what=upgrade module=tax version=2",
                "2023-11-14 22:13:20.123456  upgrade  tax 2\n",
            ),
        ] {
            assert_eq!(said(&order, &[answer]), expected);
        }
        assert_eq!(said(&Order::Purge(module()), &[]), "tax has no old version\n");
        assert_eq!(said(&Order::Check(module()), &[]), "nobody is inside an old version of tax\n");
    }

    #[test]
    fn json_has_numbers() {
        let answer = records(&["time=17 what=load module=tax version=1", "kept=0"]);
        assert_eq!(
            objects(&answer),
            "{\"module\":\"tax\",\"time_ns\":17,\"version\":\"1\",\"what\":\"load\"}\n{\"kept\":0}\n"
        );
    }
}
