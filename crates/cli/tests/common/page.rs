//! Holds docs/formats.md against outputs: each field of an output is in the page with its type, and each field of the page is in an
//! output.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

const PAGE: &str = include_str!("../../../../docs/formats.md");

/// The lines of the page below this heading.
pub fn section(heading: &str) -> impl Iterator<Item = &'static str> {
    let found = PAGE.lines().skip_while(move |line| line.trim_start_matches('#').trim() != heading);
    found.skip(1).take_while(|line| !line.starts_with('#'))
}

/// The types of each field, by its path.
#[derive(Default)]
pub struct Fields {
    found: BTreeMap<String, BTreeSet<&'static str>>,
    /// Paths of objects that have rows of their own, and the names of these.
    named: &'static [(&'static str, &'static str)],
}

impl Fields {
    /// Objects at the paths of `named` count as objects of the name beside; if that is `*`, they have keys of all kinds.
    pub fn new(named: &'static [(&'static str, &'static str)]) -> Fields {
        Fields { named, ..Fields::default() }
    }

    pub fn add(&mut self, value: &Value) {
        self.gather(value, "");
    }

    pub fn insert(&mut self, path: &str, kind: &'static str) {
        self.found.entry(path.to_owned()).or_default().insert(kind);
    }

    fn gather(&mut self, value: &Value, path: &str) {
        let name = self.named.iter().find(|(at, _)| *at == path).map(|(_, name)| *name);
        let kind = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => name.filter(|name| *name != "*").unwrap_or("object"),
        };
        if !path.is_empty() && (kind != "object" || !path.ends_with("[]")) {
            self.insert(path, kind);
        }
        if let (Value::Object(fields), Some("*")) = (value, name) {
            return fields.values().for_each(|value| self.gather(value, &format!("{path}.*")));
        }
        let path = if value.is_object() { name.unwrap_or(path) } else { path };
        match value {
            Value::Array(values) => values.iter().for_each(|value| self.gather(value, &format!("{path}[]"))),
            Value::Object(fields) => {
                for (field, value) in fields {
                    let path = if path.is_empty() { field.clone() } else { format!("{path}.{field}") };
                    self.gather(value, &path);
                }
            }
            _ => {}
        }
    }

    /// Compares the fields with the table below the heading: its first column has the paths, its second the types.
    #[track_caller]
    pub fn are_those_below(self, heading: &str) {
        let types = |kinds: BTreeSet<&'static str>| {
            let (nulls, kinds): (Vec<_>, Vec<_>) = kinds.into_iter().partition(|kind| *kind == "null");
            [kinds, nulls].concat().join(" or ")
        };
        let found: BTreeSet<_> =
            self.found.into_iter().map(|(path, kinds)| format!("| `{path}` | {} |", types(kinds))).collect();
        let rows = section(heading).filter(|line| line.starts_with("| `"));
        let documented: BTreeSet<_> = rows
            .map(|line| {
                let mut cells = line.splitn(4, '|').skip(1);
                format!("|{}|{}|", cells.next().unwrap(), cells.next().unwrap())
            })
            .collect();
        let lacks: Vec<_> = found.difference(&documented).map(String::as_str).collect();
        let unseen: Vec<_> = documented.difference(&found).map(String::as_str).collect();
        assert!(
            lacks.is_empty() && unseen.is_empty(),
            "docs/formats.md, {heading}: lacks\n{}\nand has what no output had:\n{}",
            lacks.join("\n"),
            unseen.join("\n")
        );
    }
}
