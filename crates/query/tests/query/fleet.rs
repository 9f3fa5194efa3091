//! The questions that dyntrace ships.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::data::two_hosts;
use super::{printed, rows};

/// Whether the file makes the tables for an engine.
fn is_views(path: &Path) -> bool {
    path.ends_with("duckdb.sql") || path.ends_with("spark.sql")
}

#[test]
fn all_questions_can_be_asked() {
    let set = two_hosts();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fleet");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let questions: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|end| end == "sql") && !is_views(path)).collect();
    assert!(questions.len() >= 7, "{questions:?}");
    for question in questions {
        printed(set.path(), &["-f", question.to_str().unwrap()]);
    }
}

#[test]
fn failures_are_grouped_by_the_first_names_of_paths() {
    let set = two_hosts();
    let question = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fleet/errors.sql");
    let answer: serde_json::Value =
        serde_json::from_str(&printed(set.path(), &["--json", "-f", question.to_str().unwrap()])).unwrap();
    let one = json!({
        "prefix": "/tmp/two", "command_name": null, "failure": null, "failed": 2, "hosts": 2, "first_ns": null, "last_ns": null,
    });
    assert_eq!(answer, json!([one]));
}

#[test]
fn nulls_are_last_in_any_order() {
    let set = two_hosts();
    let tags = |order| {
        rows(set.path(), &format!("SELECT user_tag AS tag FROM operations GROUP BY user_tag ORDER BY tag {order}"))
    };
    assert_eq!(tags("ASC"), json!([{"tag": "req-1"}, {"tag": "req-22"}, {"tag": null}]));
    assert_eq!(tags("DESC"), json!([{"tag": "req-22"}, {"tag": "req-1"}, {"tag": null}]));
}
