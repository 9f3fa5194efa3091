//! The page of `--report`.

use std::fs;
use std::path::Path;
use std::process::Output;

use super::data::two_hosts;
use super::hostile::{HOSTS, OPERATIONS, hostile, lose};
use super::{query, rows};

const SECTIONS: [&str; 8] = ["losses", "errors", "hosts", "slowest", "hops", "unlike", "messages", "changed"];

/// Writes a page of the data set, with these arguments more.
fn report(set: &Path, arguments: &[&str]) -> (Output, String) {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let output = query(set, &[&["--report", page.to_str().unwrap()], arguments].concat());
    (output, fs::read_to_string(page).unwrap_or_default())
}

/// Returns the page, if the program ends with this status.
fn page(set: &Path, arguments: &[&str], status: i32) -> String {
    let (output, page) = report(set, arguments);
    assert_eq!(output.status.code(), Some(status), "{}", String::from_utf8_lossy(&output.stderr));
    page
}

/// Returns a section of the page.
fn section<'p>(page: &'p str, id: &str) -> &'p str {
    let (_, section) = page.split_once(&format!("<section id=\"{id}\"")).unwrap_or_else(|| panic!("no {id} in {page}"));
    section.split("</section>").next().unwrap()
}

/// Returns the cells of a row of a section's table.
fn cells(section: &str, row: usize) -> Vec<String> {
    let body = section.split("<tbody>").nth(1).unwrap();
    let row = body.split("<tr>").nth(row + 1).unwrap();
    let cells = row.split("</t").filter_map(|cell| cell.trim_end_matches("</span>").rsplit_once('>'));
    cells.map(|(_, text)| text.to_owned()).filter(|text| !text.is_empty()).collect()
}

#[test]
fn each_question_has_a_section() {
    let page = page(hostile().path(), &[], 0);
    let places: Vec<usize> = SECTIONS.iter().map(|id| page.find(&format!("<section id=\"{id}\"")).unwrap()).collect();
    assert!(places.is_sorted());
    for id in SECTIONS {
        let section = section(&page, id);
        assert!(section.contains("<h2") && section.contains("<summary>SQL</summary>"), "{section}");
        assert!(page.contains(&format!("href=\"#{id}\"")), "{id}");
    }
    let fleet = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fleet");
    let files = fs::read_dir(fleet).unwrap().map(|entry| entry.unwrap().path());
    let names = files
        .filter(|path| path.extension().is_some_and(|end| end == "sql"))
        .map(|path| path.file_stem().unwrap().to_owned());
    let missing: Vec<_> =
        names.filter(|name| SECTIONS.iter().all(|id| name != id) && name != "duckdb" && name != "spark").collect();
    assert!(missing.is_empty(), "{missing:?} have no section: crates/query/src/report/questions/mod.rs has them all");
}

#[test]
fn its_numbers_are_those_of_the_queries() {
    let set = hostile();
    let page = page(set.path(), &[], 0);
    let slowest = section(&page, "slowest");
    assert!(slowest.contains("20 of 60 rows."), "{slowest}");
    let first = cells(slowest, 0);
    assert_eq!(
        first[3..],
        ["2026-11-26 02:00:29.000", "3.00 s", "1.00 µs", "3.00 s", "1.00 µs", "1", "0", "0"],
        "{first:?}"
    );
    let hosts = section(&page, "hosts");
    assert!(hosts.contains("2 of 2 rows."));
    let asked = rows(
        set.path(),
        "SELECT percentile_cont(0.99) WITHIN GROUP (ORDER BY duration_ns) / 1e6 AS p99 FROM operations GROUP BY hostname ORDER BY p99 DESC",
    );
    let shown: Vec<f64> = (0..2).map(|row| cells(hosts, row)[5].split(' ').next().unwrap().parse().unwrap()).collect();
    assert!((shown[0] * 1e3 - asked[0]["p99"].as_f64().unwrap()).abs() < 5.0, "{shown:?} {asked}");
    assert!((shown[1] - asked[1]["p99"].as_f64().unwrap()).abs() < 0.05, "{shown:?} {asked}");
    let errors = section(&page, "errors");
    assert_eq!(cells(errors, 0)[..5], ["/srv/&lt;b&gt;data&lt;", "WRITE", "ENOSPC", "2", "2"]);
    assert_eq!(cells(section(&page, "unlike"), 0)[1..4], ["WRITE", "1.00", "30"]);
    let messages = cells(section(&page, "messages"), 0).join("|");
    assert!(messages.ends_with("|1|-1.00 ms|-1.00 ms|-1.00 ms|0|–"), "{messages}");
    let changed = cells(section(&page, "changed"), 0);
    assert_eq!(changed[..5], ["WRITE", "30", "30", "1", "1"]);
    let facts = page.split("</ul>").next().unwrap();
    for fact in
        ["<b>2</b> hosts", "<b>60</b> operations", "<b>2</b> failed", "<b>4</b> events", "2026-11-26 02:00:00.000"]
    {
        assert!(facts.contains(fact), "{fact}: {facts}");
    }
}

#[test]
fn names_stay_text() {
    let set = hostile();
    lose(set.path(), 0, [("<u>other</u>", Some(1))]);
    let page = page(set.path(), &["--tag", "</code><script>'"], 0);
    for markup in ["<script", "<img", "<b>data", "<i>full", "<u>", "</table> ", "onerror=alert(1)>", "javascript:"] {
        assert!(!page.contains(markup), "{markup}");
    }
    assert!(page.contains("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;") && page.contains(r"new-'&amp;\x1b[2J"));
    assert!(page.contains("WHERE user_tag = '&lt;/code&gt;&lt;script&gt;'''"));
    assert!(!page.contains(|c: char| c.is_control() && c != '\n'));
    for load in ["src=", "url(", "@import", "http:", "https:", "<link", "<iframe"] {
        assert!(!page.replace("img src=x", "").contains(load), "{load}");
    }
    assert!(page.contains("default-src 'none'") && page.contains("<html lang=\"en\">"));
}

#[test]
fn losses_come_before_all_answers() {
    let set = hostile();
    let whole = page(set.path(), &[], 0);
    assert!(
        whole.contains("Nothing was lost")
            && !whole.contains("incomplete</title>")
            && !whole.contains("This is a part: events are missing")
    );
    // The recorder tells the reason of discarded events by a loss of none.
    lose(set.path(), 0, [("discarded", Some(1234)), ("discarded", None), ("lost", Some(0)), ("unmatched", Some(2))]);
    let (output, part) = report(set.path(), &[]);
    assert_eq!(output.status.code(), Some(3));
    let told = "1,234 events were lost (discarded), and an unknown number more in 1 place";
    assert!(String::from_utf8(output.stderr).unwrap().contains(&format!("dyntrace: {told}\n")));
    let header = part.split("<main").next().unwrap();
    for line in [
        told,
        "2 events or rows are missing (unmatched)",
        "incomplete</title>",
        "&lt;i&gt;full&lt;/i&gt;",
        "3 of 3 rows.",
    ] {
        assert!(header.contains(line), "{line}: {header}");
    }
    assert!(!header.contains(" 0 events") && !header.contains(">0 events"), "{header}");
    assert!(SECTIONS.iter().all(|id| section(&part, id).contains("This is a part: events are missing")));
    lose(set.path(), 0, [("damaged", None)]);
    let damaged = page(set.path(), &[], 4);
    assert!(damaged.contains("1 place of a recording is damaged: an unknown number of events is missing there"));
}

#[test]
fn a_data_set_without_rows_has_a_page() {
    let set = tempfile::tempdir().unwrap();
    fs::create_dir(set.path().join("operations")).unwrap();
    let page = page(set.path(), &[], 0);
    assert!(page.contains("<b>0</b> hosts") && page.contains("There are no events and no losses."));
    for id in &SECTIONS[1..] {
        assert!(section(&page, id).contains("of this data set has no rows."), "{id}");
    }
}

#[test]
fn a_host_without_a_file_of_losses_is_told() {
    let set = hostile();
    fs::remove_dir_all(set.path().join("losses/host=h1")).unwrap();
    let page = page(set.path(), &[], 3);
    let header = page.split("<main").next().unwrap();
    assert!(header.contains("the table losses has no file of them: h1<"), "{header}");
    let told = "This may be a part: it is not known whether events are missing";
    assert!(header.contains("incomplete</title>") && !page.contains("Nothing was lost"));
    assert!(SECTIONS.iter().all(|id| section(&page, id).contains(told)));
}

#[test]
fn a_page_says_why_there_is_nothing() {
    let set = two_hosts();
    let without = page(set.path(), &[], 3);
    assert!(section(&without, "messages").contains("The table messages of this data set has no rows."));
    assert!(section(&without, "unlike").contains("There is nothing to compare: no command has 20"));
    assert!(section(&without, "changed").contains("No operation was answered."));
    assert!(section(&without, "hops").contains("The clocks of the hosts are not aligned"));
    assert!(without.contains("Tables without rows: events, tasks, waits, messages, losses, clocks."));
    let set = hostile();
    let all_old = page(set.path(), &["--new", "1 = 2"], 0);
    assert!(section(&all_old, "changed").contains("no operation is of the new version"));
    let all_new = page(set.path(), &["--new", "true"], 0);
    assert!(section(&all_new, "changed").contains("no operation is of the old version"));
}

#[test]
fn the_hops_are_those_of_the_slowest_request_or_of_a_tag() {
    let set = hostile();
    let slowest = page(set.path(), &[], 0);
    let hops = section(&slowest, "hops");
    assert!(hops.contains("req-1-29") && hops.contains("that of the slowest request") && hops.contains("1 of 1 rows."));
    assert!(hops.contains("<svg"));
    let other = page(set.path(), &["--tag", "none'"], 0);
    let hops = section(&other, "hops");
    assert!(hops.contains("The user tag is none'.") && hops.contains("No operation has this user tag."), "{hops}");
}

#[test]
fn a_condition_tells_versions_apart() {
    let set = hostile();
    let condition = format!("hostname = '{}'", HOSTS[0]);
    let changed = page(set.path(), &["--new", &condition], 0);
    assert_eq!(cells(section(&changed, "changed"), 0)[1], OPERATIONS.to_string());
    for wrong in ["nothing = 1", "1 = 1) THEN 1", "hostname = '"] {
        let (output, page) = report(set.path(), &["--new", wrong]);
        assert_eq!((output.status.code(), &*page), (Some(2), ""), "{wrong}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("cannot use the condition of --new"), "{said}");
    }
}

#[test]
fn a_question_without_an_answer_says_why() {
    let set = hostile();
    let damage = |table: &str| {
        let path = set.path().join(format!("{table}/host=h0/date=2026-11-26/hour=02/damaged.parquet"));
        fs::write(path, "no table").unwrap();
    };
    damage("messages");
    let (output, page) = report(set.path(), &[]);
    assert_eq!(output.status.code(), Some(66));
    assert!(String::from_utf8(output.stderr).unwrap().contains("dyntrace: messages has no answer: "));
    assert!(section(&page, "messages").contains("<b>No answer: </b>"), "{}", section(&page, "messages"));
    assert!(
        page.contains("1 of 8 questions have no answer.")
            && page.contains("Tables that cannot be read: <b>messages</b>")
    );
    assert_eq!(cells(section(&page, "changed"), 0)[0], "WRITE");
    // Without the operations there is no page.
    damage("operations");
    let (output, page) = report(set.path(), &[]);
    assert_eq!((output.status.code(), &*page), (Some(66), ""));
}

#[test]
fn a_large_answer_makes_no_large_page() {
    let set = hostile();
    let long = "x".repeat(5_000);
    let folder = set.path().join("operations/host=h0/date=2026-11-26/hour=03/two.parquet");
    let tags: Vec<String> = (0..100).map(|number| format!("{number}{long}")).collect();
    let columns = vec![
        ("hostname", super::data::texts(tags.iter().map(|tag| &**tag))),
        ("user_tag", super::data::texts(tags.iter().map(|tag| &**tag))),
        ("command_name", super::data::texts(tags.iter().map(|tag| &**tag))),
        ("duration_ns", super::data::numbers(0..100)),
        ("return_ns", super::data::numbers(0..100)),
        ("success", super::data::bools([false; 100])),
    ];
    super::data::write(&folder, columns);
    let page = page(set.path(), &[], 0);
    assert!(page.contains("50 of 102 rows.") && page.contains("… (48"), "{}", page.len());
    assert!(page.len() < 500_000, "{}", page.len());
}
