//! Answers, and the forms in which they are printed.

use serde_json::json;

use super::data::{doubles, numbers, texts, two_hosts, write};
use super::{printed, query, rows};

#[test]
fn columns_of_later_versions_are_null_in_older_files() {
    let set = two_hosts();
    let later = rows(set.path(), "SELECT hostname, duration_ns, later FROM operations ORDER BY duration_ns");
    let expected = json!([
        {"hostname": "web-1", "duration_ns": 10, "later": null},
        {"hostname": "web-1", "duration_ns": 20, "later": null},
        {"hostname": "a b", "duration_ns": 40, "later": 2.0},
        {"hostname": "a b", "duration_ns": 300, "later": 0.5},
    ]);
    assert_eq!(later, expected);
    // Known, but in none of the files.
    let missing = rows(set.path(), "SELECT count(*) AS all_rows, count(requester) AS requesters FROM operations");
    assert_eq!(missing, json!([{"all_rows": 4, "requesters": 0}]));
}

#[test]
fn folders_are_columns() {
    let set = two_hosts();
    let places = rows(set.path(), "SELECT DISTINCT host, date, hour FROM operations WHERE date = '2026-11-27'");
    assert_eq!(places, json!([{"host": "a b", "date": "2026-11-27", "hour": 11}]));
    assert_eq!(
        rows(set.path(), "SELECT count(*) AS n FROM operations WHERE host = 'a b' AND hour = 11"),
        json!([{"n": 2}])
    );
    assert_eq!(
        rows(set.path(), "SELECT count(*) AS n FROM operations WHERE host = 'web-1' AND hour < 3"),
        json!([{"n": 2}])
    );
}

#[test]
fn tables_without_files_are_empty() {
    let set = two_hosts();
    assert_eq!(rows(set.path(), "SELECT waited_ns, outcome, host FROM waits"), json!([]));
    assert_eq!(rows(set.path(), "SELECT fields['path'] AS path FROM events"), json!([]));
    assert_eq!(rows(set.path(), "SELECT ahead_ns, drift FROM clocks"), json!([]));
}

#[test]
fn delta_tables_over_the_same_files_add_no_rows_and_no_columns() {
    let set = two_hosts();
    let sql = "SELECT * FROM operations ORDER BY duration_ns";
    let before = rows(set.path(), sql);
    let checkpoint = set.path().join("operations/_delta_log/00000000000000000010.checkpoint.parquet");
    write(&checkpoint, vec![("txn", texts(["a"])), ("duration_ns", numbers([7]))]);
    assert_eq!(rows(set.path(), sql), before);
}

#[test]
fn clocks_are_one_file() {
    let set = two_hosts();
    let path = set.path().join("clocks/clocks.parquet");
    write(
        &path,
        vec![
            ("hostname", texts(["web-1"])),
            ("ahead_ns", numbers([7])),
            ("drift", doubles([1e-6])),
            ("later", numbers([1])),
        ],
    );
    let clocks = rows(set.path(), "SELECT hostname, ahead_ns, drift, error_ns, later FROM clocks");
    assert_eq!(clocks, json!([{"hostname": "web-1", "ahead_ns": 7, "drift": 1e-6, "error_ns": null, "later": 1}]));
}

#[test]
fn a_table_for_people_is_aligned() {
    let set = two_hosts();
    let sql = "SELECT user_tag AS tag, duration_ns AS took, '\u{1b}[2J' AS text FROM operations ORDER BY took";
    let expected = "\
tag     took  text
req-1     10  \\x1b[2J
null      20  \\x1b[2J
req-22    40  \\x1b[2J
req-1    300  \\x1b[2J
";
    assert_eq!(printed(set.path(), &[sql]), expected);
    let plan = printed(set.path(), &["EXPLAIN SELECT max(duration_ns) FROM operations"]);
    assert!(plan.lines().count() > 4, "{plan}");
}

#[test]
fn csv_has_names_also_without_rows() {
    let set = two_hosts();
    let sql = "SELECT user_tag, path, make_array(1, 2) AS both FROM operations WHERE hostname = 'web-1' ORDER BY path";
    assert_eq!(
        printed(set.path(), &["--csv", sql]),
        "user_tag,path,both\nreq-1,/tmp/one/a,\"[1, 2]\"\n,/tmp/two/b,\"[1, 2]\"\n"
    );
    assert_eq!(printed(set.path(), &["--csv", "SELECT kind, place FROM waits"]), "kind,place\n");
}

#[test]
fn a_query_comes_from_a_file() {
    let set = two_hosts();
    let file = set.path().join("count.sql");
    std::fs::write(&file, "-- How many?\nSELECT count(*) AS n FROM operations;\n").unwrap();
    assert_eq!(printed(set.path(), &["-f", file.to_str().unwrap()]), "n\n4\n");
}

#[test]
fn a_query_may_begin_with_a_comment() {
    let set = two_hosts();
    assert_eq!(rows(set.path(), "-- How many?\nSELECT count(*) AS n FROM operations"), json!([{"n": 4}]));
}

#[test]
fn a_look_up_reads_the_row_groups_that_may_have_the_tag() {
    let set = tempfile::tempdir().unwrap();
    let tags: Vec<String> = (0..20_000).map(|number| format!("req-{}", number / 10)).collect();
    let paths: Vec<String> =
        (0..20_000_u64).map(|number| format!("/{:x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
    let columns =
        vec![("user_tag", texts(tags.iter().map(|tag| &**tag))), ("path", texts(paths.iter().map(|path| &**path)))];
    write(&set.path().join("operations/host=a/date=2026-11-26/hour=02/one.parquet"), columns);
    let read = |sql: &str| -> (u64, u64) {
        let output = query(set.path(), &["--stats", "--json", sql]);
        let told = String::from_utf8(output.stderr).unwrap();
        let numbers: Vec<u64> = told.split(' ').filter_map(|word| word.parse().ok()).collect();
        assert!(told.starts_with("read: ") && told.contains(" in 1 files "), "{told}");
        (numbers[0], numbers[1])
    };
    let (one, all) = read("SELECT * FROM operations WHERE user_tag = 'req-1234'");
    assert!(one < all / 5, "{one} of {all}");
    let (whole, _) = read("SELECT * FROM operations");
    assert!(whole > all * 4 / 5, "{whole} of {all}");
}
