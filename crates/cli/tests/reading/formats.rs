//! docs/formats.md has every field of the outputs that are made from traces.

use std::fs::File;
use std::path::Path;

use parquet::basic::{LogicalType, Type};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use serde_json::Value;

use crate::page::{Fields, section};
use crate::writer::{Arg, Writer, classes};
use crate::{diff, dyntrace, made, partition, storm};

/// A trace with an event of each probe. Numbers that have names are some of those.
fn each_probe(folder: &Path) -> Vec<Value> {
    let writer = Writer::new(folder);
    let mut events = [Vec::new(), Vec::new()];
    for class in classes() {
        let value = |(name, kind): &(String, dyntrace_build::model::ArgumentKind)| match (name.as_str(), kind) {
            (_, dyntrace_build::model::ArgumentKind::Text) => Arg::from("text"),
            ("command", _) => Arg::I(12),
            ("errno", _) => Arg::I(2),
            (_, dyntrace_build::model::ArgumentKind::U32 | dyntrace_build::model::ArgumentKind::U64) => Arg::U(1),
            _ => Arg::I(1),
        };
        let fired = crate::writer::fired(&class.name, 1000, class.fields.iter().map(value));
        events[class.stream as usize].push(fired);
    }
    let [of_program, own] = events;
    writer.ring("ring-1", 77, &of_program);
    writer.process(&own);
    let output = dyntrace(["view", folder.to_str().unwrap(), "--json", "--probe", "*", "--probe", "recorder:*"]);
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn events_in_json() {
    let folder = tempfile::tempdir().unwrap();
    let events = each_probe(folder.path());
    let (mut fixed, mut rows) = (Fields::new(&[]), Vec::new());
    for event in &events {
        let (always, own): (Vec<_>, Vec<_>) = event
            .as_object()
            .unwrap()
            .iter()
            .partition(|(name, _)| ["time_ns", "process", "tid", "probe"].contains(&name.as_str()));
        fixed.add(&always.into_iter().map(|(name, value)| (name.clone(), value.clone())).collect());
        let class = classes().into_iter().find(|class| event["probe"] == *class.name).unwrap();
        let place = |name: &str| {
            let number = name.strip_suffix("_name").unwrap_or(name).trim_start_matches('_');
            class.fields.iter().position(|(field, _)| field == name || field == number)
        };
        let mut own: Vec<_> = own.into_iter().map(|(name, value)| (place(name), name, value.is_string())).collect();
        own.sort();
        let fields =
            own.iter().map(|(_, name, is_text)| format!("`{name}` {}", if *is_text { "string" } else { "integer" }));
        rows.push(format!("| `{}` | {} |", class.name, fields.collect::<Vec<_>>().join(", ")));
    }
    fixed.are_those_below("dyntrace view --json");
    rows.sort();
    let mut documented: Vec<_> = section("Fields of each probe").filter(|line| line.starts_with("| `")).collect();
    documented.sort_unstable();
    assert!(documented == rows, "docs/formats.md needs these rows:\n{}", rows.join("\n"));
}

#[test]
fn comparisons_in_json() {
    let folder = diff::traces();
    let mut fields = Fields::new(&[
        ("a", "trace"),
        ("b", "trace"),
        ("all", "group"),
        ("groups[]", "group"),
        ("group.a", "figures"),
        ("group.b", "figures"),
        ("group.changes[].a", "estimate"),
        ("group.changes[].b", "estimate"),
        ("conditions[].groups[].a", "estimate"),
        ("conditions[].groups[].b", "estimate"),
        ("figures.error_share", "estimate"),
        ("figures.total_ns", "times"),
        ("figures.queue_wait_ns", "times"),
        ("figures.service_ns", "times"),
        ("figures.delivery_ns", "times"),
        ("times.p50", "estimate"),
        ("times.p90", "estimate"),
        ("times.p99", "estimate"),
        ("times.p99.9", "estimate"),
    ]);
    let conditions = ["--fail-if", "p99(total) > 1.2x of command", "--fail-if", "errors > 1x"];
    let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
    let traces = [a.to_str().unwrap(), b.to_str().unwrap()];
    for [a, b] in [traces, [traces[1], traces[0]]] {
        let output = dyntrace([&["diff", "--json", a, b], &conditions[..]].concat());
        fields.add(&serde_json::from_slice(&output.stdout).unwrap());
    }
    fields.are_those_below("dyntrace diff --json");
}

#[test]
fn columns_of_tables() {
    let folder = tempfile::tempdir().unwrap();
    storm::write(&folder.path().join("trace"), 10, 4);
    let tables = folder.path().join("tables");
    made("convert", &[&folder.path().join("trace")], &["--to", "parquet"], &tables, 0);
    for (table, always) in [("events", 7), ("operations", usize::MAX), ("tasks", usize::MAX)] {
        let reader = SerializedFileReader::new(File::open(tables.join(format!("{table}.parquet"))).unwrap()).unwrap();
        let metadata = reader.metadata().file_metadata();
        let version =
            metadata.key_value_metadata().unwrap().iter().find(|pair| pair.key == "dyntrace.version").unwrap();
        assert_eq!(version.value.as_deref(), Some("1"));
        let mut fields = Fields::new(&[]);
        for column in metadata.schema_descr().columns().iter().take(always) {
            let kind = match (column.physical_type(), column.logical_type_ref()) {
                (Type::INT64, Some(LogicalType::Integer(_))) => "unsigned integer",
                (Type::INT64, None) => "integer",
                (Type::BYTE_ARRAY, Some(LogicalType::String)) => "string",
                (Type::BOOLEAN, None) => "boolean",
                other => panic!("{other:?}"),
            };
            fields.insert(column.name(), kind);
        }
        fields.are_those_below(&format!("{table}.parquet"));
    }
}

#[test]
fn columns_of_data_sets() {
    let folder = tempfile::tempdir().unwrap();
    let (trace, output) = (folder.path().join("trace"), folder.path().join("fleet"));
    each_probe(&trace);
    let tables = partition::schemas(&trace, &output);
    let heading = |table: &str| match table {
        "operations" => Some("operations.parquet"),
        "tasks" => Some("tasks.parquet"),
        _ => None,
    };
    assert_eq!(tables.len(), 7);
    for (table, columns) in tables {
        let of = |heading: &str| {
            let mut fields = Fields::new(&[]);
            for (name, kind) in &columns {
                // The rows of the same column elsewhere in the page.
                if section(heading).any(|line| line.starts_with(&format!("| `{name}` |"))) {
                    fields.insert(name, kind);
                }
            }
            fields
        };
        let first = "Data sets of many machines";
        // Its rows are of no event.
        let is_of_events = table != "clocks";
        if heading(&table).is_none() && is_of_events {
            of(first).are_those_below(first);
        }
        let own = format!("Data set: {table}");
        if table != "tasks" {
            of(&own).are_those_below(&own);
        }
        if let Some(shared) = heading(&table) {
            of(shared).are_those_below(shared);
        }
        let headings = [Some(first), Some(own.as_str()), heading(&table)];
        for (name, _) in &columns {
            let is_there = |heading: &&str| section(heading).any(|line| line.starts_with(&format!("| `{name}` |")));
            assert!(headings.iter().flatten().any(is_there), "docs/formats.md lacks {name} of {table}");
        }
    }
}
