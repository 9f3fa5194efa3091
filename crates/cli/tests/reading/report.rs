//! `dyntrace report`.

use std::fs;
use std::path::Path;

use crate::page::Fields;
use crate::writer::{Arg, Fired, SUB_BUFFER, Writer, entry, fired, returned};
use crate::{dyntrace, made};
use crate::{storm, tasks};

/// The page of the traces.
pub fn page(traces: &[&Path], status: i32) -> String {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("report.html");
    made("report", traces, &[], &output, status);
    fs::read_to_string(output).unwrap()
}

/// The text between tags in the row that begins with `name`, with one blank between cells.
pub fn row(page: &str, name: &str) -> Vec<String> {
    let start = page.find(&format!("<th scope=\"row\">{name}</th>")).unwrap_or_else(|| panic!("no row {name}"));
    let row = &page[start..start + page[start..].find("</tr>").unwrap()];
    row.split('<')
        .filter_map(|part| part.split_once('>'))
        .map(|(_, text)| text.to_owned())
        .filter(|text| !text.is_empty())
        .collect()
}

#[test]
fn figures_are_those_of_the_operations() {
    let folder = tempfile::tempdir().unwrap();
    storm::write(folder.path(), 1_000, 3);
    let page = page(&[folder.path()], 0);
    assert_eq!(row(&page, "WRITE_FILE")[..4], ["WRITE_FILE", "500", "439.45 KiB", "0"]);
    assert_eq!(row(&page, "RENAME")[..3], ["RENAME", "500", "100"]);
    assert_eq!(row(&page, "req-1")[..2], ["req-1", "250"]);
    let mut waits: Vec<_> = storm::operations(1_000, 3).map(|done| done.int_entry - done.entered).collect();
    waits.sort();
    let longest = storm::operations(1_000, 3).map(|done| done.returned - done.entered).max().unwrap();
    assert!(page.contains(&format!("<td>{:.0} µs</td>", longest as f64 / 1_000.0)), "{longest}");
    for part in [
        "svg id=\"latency\"",
        "svg id=\"queue\"",
        "class=\"heat6\"",
        "class=\"longest\"",
        "Nothing was lost",
        "In flight when the trace ended: 1.",
    ] {
        assert!(page.contains(part), "{part}");
    }
    // The percentiles in the tables are exact within one percent.
    let shown = |value: u64| format!("{:.2}", value as f64 / 1_000.0);
    let median = waits[waits.len() / 2];
    let figures = row(&page, "WRITE_FILE").join(" ");
    assert!((median * 98 / 100..median * 102 / 100).any(|value| figures.contains(&shown(value))), "{median} {figures}");
}

#[test]
fn names_are_shown_and_never_taken_for_markup() {
    let folder = tempfile::tempdir().unwrap();
    storm::write(folder.path(), 40, 3);
    let page = page(&[folder.path()], 0);
    assert!(page.contains("&lt;script&gt;alert('tag')&lt;/script&gt;"));
    assert!(page.contains("/&lt;b&gt;&amp;&quot;quoted&quot;&lt;/b&gt;"));
    assert!(page.contains(r"no\xffutf8"));
    for never in ["<script", "<b>&", "http:", "https:", "src="] {
        assert!(!page.contains(never), "{never}");
    }
}

#[test]
fn the_page_is_as_long_for_a_hundred_times_the_operations() {
    let [few, many] = [300, 30_000].map(|count| {
        let folder = tempfile::tempdir().unwrap();
        storm::write(folder.path(), count, 3);
        page(&[folder.path()], 0).len()
    });
    assert!(many < few * 3, "{few} {many}");
}

#[test]
fn more_tags_than_rows_are_counted_with_the_others() {
    let folder = tempfile::tempdir().unwrap();
    // Names without digits, which would be one row.
    let letters =
        |number: u32| number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect::<String>();
    let tags: Vec<_> = (0..1_000)
        .map(|tag| if tag % 2 == 0 { "often".to_owned() } else { format!("once-{}", letters(tag)) })
        .collect();
    let events = (1..).zip(&tags).flat_map(|(tag, name)| {
        let cycles = tag as u64 * 100;
        [entry(cycles, 1, tag, name, 12, "/a"), returned(cycles + 50, 1, tag, name, 12, 0)]
    });
    Writer::new(folder.path()).ring("ring-1", 7, &events.collect::<Vec<_>>());
    let page = page(&[folder.path()], 0);
    let (tables, _) = page.split_once("<h2>Slowest requests</h2>").unwrap();
    assert_eq!(row(tables, "often")[..3], ["often", "500", "0"]);
    let others: u64 = row(tables, "<i>others</i>")[1].parse().unwrap();
    let rows = tables.matches("<th scope=\"row\">once-").count() as u64;
    assert_eq!(others + rows, 500);
    assert!(rows < 256);
}

/// The events of an operation that waits 1 us, works 2 us, and is answered 500 ns later.
fn operation(start: u64, tag: i64, user_tag: &str, errno: i64) -> [Fired; 4] {
    let work = |name, at| fired(name, at, [1.into(), tag.into(), 12.into()]);
    [
        entry(start, 1, tag, user_tag, 12, "/a"),
        work("efile_drv-int_entry", start + 1_000),
        work("efile_drv-int_return", start + 3_000),
        returned(start + 3_500, 1, tag, user_tag, 12, errno),
    ]
}

/// Twenty requests of three operations each.
pub fn requests(folder: &Path) {
    let mut events = Vec::new();
    for request in 0..20_i64 {
        let (start, tag) = (request as u64 * 1_000_000, format!("req-{request}"));
        events.extend(operation(start, request * 3 + 1, &tag, 0));
        // The next two overlap, except in request 7, which waits longer before.
        let wait = if request == 7 { 200_000 } else { 10_000 };
        events.extend(operation(start + wait, request * 3 + 2, &tag, 0));
        events.extend(operation(start + wait + if request == 7 { 4_500 } else { 500 }, request * 3 + 3, &tag, 2));
    }
    events.sort_by_key(|event| event.cycles);
    Writer::new(folder).ring("ring-1", 7, &events);
}

#[test]
fn tags_that_are_one_a_request_are_requests() {
    let folder = tempfile::tempdir().unwrap();
    requests(folder.path());
    let page = page(&[folder.path()], 0);
    assert_eq!(row(&page, "req-*")[..3], ["req-*", "60", "20"]);
    let slowest = &page[page.find("<h2>Slowest requests</h2>").unwrap()..];
    // From 0 to 208 us; its operations are in flight for 3.5 us each.
    assert_eq!(
        row(slowest, "req-7"),
        ["req-7", "208 µs", "198 µs", "3.00 µs", "6.00 µs", "1.50 µs", "3", "1", "7.00 ms"]
    );
    assert_eq!(row(slowest, "req-8")[1..3], ["14.0 µs", "6.50 µs"]);
    assert!(slowest.find("req-7<").unwrap() < slowest.find("req-8<").unwrap());
    assert!(slowest.contains("<b>20</b> requests") && slowest.contains("svg id=\"requests\""), "{slowest}");
    assert!(slowest.contains("<title>19 × 10.0 µs to 15.8 µs</title>"), "{slowest}");
}

/// The labels below a chart.
fn axis<'p>(page: &'p str, id: &str) -> Vec<&'p str> {
    let (_, chart) = page.split_once(&format!("svg id=\"{id}\"")).unwrap();
    let labels = chart.split("</svg>").next().unwrap().split("text-anchor=\"middle\">").skip(1);
    labels.map(|label| label.split('<').next().unwrap()).collect()
}

#[test]
fn charts_over_time_have_the_axis_of_the_whole_recording() {
    let folder = tempfile::tempdir().unwrap();
    let mut events = operation(0, 1, "req-1", 0).to_vec();
    // It is never answered, and nothing was in a queue.
    events.push(entry(60_000_000, 1, 2, "req-2", 12, "/a"));
    Writer::new(folder.path()).ring("ring-1", 7, &events);
    let page = page(&[folder.path()], 0);
    let labels = ["0 ns", "10.0 ms", "20.0 ms", "30.0 ms", "40.0 ms", "50.0 ms", "60.0 ms"];
    assert_eq!(axis(&page, "latency"), labels);
    assert_eq!(axis(&page, "queue"), labels);
}

/// The same requests in the terminal and in JSON.
#[test]
fn the_slowest_requests_are_those_of_the_page() {
    let folder = tempfile::tempdir().unwrap();
    requests(folder.path());
    let view = |options: &[&str]| {
        let output = dyntrace([&["view", folder.path().to_str().unwrap()], options].concat());
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let text = view(&["--slowest=2"]);
    let cells =
        |line: &str| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect();
    let lines: Vec<Vec<String>> = text.lines().map(cells).collect();
    assert_eq!(lines[0][..3], ["TOOK", "OUTSIDE", "QUEUE WAIT"]);
    let slowest = ["208 µs", "198 µs", "3.00 µs", "6.00 µs", "1.50 µs", "3", "1", "7.00 ms", "req-7"];
    assert_eq!((&lines[1][..], lines.len()), (&slowest.map(str::to_owned)[..], 4), "{text}");
    assert!(lines[3][0].starts_with("20 requests, p50 14.0 µs, "), "{text}");
    assert!(lines[3][0].ends_with(", longest 208 µs"), "{text}");

    let objects = |options: &[&str]| {
        let lines = view(&[&["--slowest", "--json"], options].concat());
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<serde_json::Value>>()
    };
    let all = objects(&[]);
    assert_eq!((all.len(), &all[0]["user_tag"], &all[0]["took_ns"]), (10, &"req-7".into(), &208_000.into()));
    let mut fields = Fields::new(&[]);
    all.iter().for_each(|request| fields.add(request));
    fields.are_those_below("dyntrace view --slowest --json");
    let some = objects(&["--tag", "req-1?"]);
    assert!(some.len() == 10 && some.iter().all(|request| request["took_ns"] == 14_000), "{some:?}");
    assert_eq!(objects(&["--until", "900us"]).len(), 1);
    assert_eq!(view(&["--slowest", "--tag", "no"]), "no operation with such a user tag was answered\n");
    let refused = dyntrace(["view", "t", "--slowest", "--failed"]);
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn more_requests_than_are_followed_are_counted() {
    const MANY: i64 = 70_000;
    let folder = tempfile::tempdir().unwrap();
    let mut events = Vec::new();
    let mut short = |number: i64, tag: &str| {
        let start = number as u64 * 1_000;
        events.extend([entry(start, 1, number, tag, 12, ""), returned(start + 100, 1, number, tag, 12, 0)]);
    };
    (0..MANY).for_each(|number| short(number, &format!("req-{number}")));
    // The first has ended by then, so this is another request; the last goes on.
    short(MANY, "req-0");
    short(MANY + 1, &format!("req-{}", MANY - 1));
    Writer::new(folder.path()).ring("ring-1", 7, &events);
    let page = page(&[folder.path()], 0);
    assert!(page.contains("<b>70,001</b> requests") && page.contains("There were more at once than can be followed"));
    assert_eq!(row(&page, "req-*")[1], "70,002");
    let (_, slowest) = page.split_once("<h2>Slowest requests</h2>").unwrap();
    assert_eq!(row(slowest, "req-69999")[1..3], ["2.10 µs", "1.90 µs"]);
}

#[test]
fn tags_that_last_are_no_requests() {
    let folder = tempfile::tempdir().unwrap();
    let events = (0..100)
        .flat_map(|number: i64| operation(number as u64 * 10_000, number + 1, &format!("tenant-{}", number % 12), 0));
    Writer::new(folder.path()).ring("ring-1", 7, &events.collect::<Vec<_>>());
    let page = page(&[folder.path()], 0);
    assert!(!page.contains("Slowest requests"));
    assert_eq!(row(&page, "tenant-3")[..2], ["tenant-3", "9"]);
}

#[test]
fn losses_are_told_on_the_page_and_by_the_status() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::new(folder.path());
    let ring = writer.packet(0, 7, 1, 5, SUB_BUFFER, &writer.event(&returned(1, 1, 1, "", 1, 0)));
    writer.write("ring-1", &ring);
    let lossy = page(&[folder.path()], 3);
    assert!(lossy.contains("5 events were lost") && lossy.contains("ring-1"));
    writer.write("ring-2", &[&ring[..], b"no packet"].concat());
    assert!(page(&[folder.path()], 4).contains("ring-2 at byte 32768"));
}

#[test]
fn no_events_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let output = dyntrace(["report".as_ref(), folder.path().as_os_str(), "-o".as_ref(), "report.html".as_ref()]);
    assert_eq!(output.status.code(), Some(66), "{output:?}");
    Writer::new(folder.path());
    let page = page(&[folder.path()], 5);
    assert!(page.contains("The trace has no events.") && page.contains("the recording was not ended"), "{page}");
}

#[test]
fn a_minus_is_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    Writer::new(folder.path());
    let file = page(&[folder.path()], 5);
    let output = dyntrace(["report".as_ref(), folder.path().as_os_str(), "-o".as_ref(), "-".as_ref()]);
    assert_eq!(output.stdout, file.as_bytes());
    let convert = ["convert", "--to", "csv", "-o", "-"].map(AsRef::as_ref);
    let output = dyntrace(convert.into_iter().chain([folder.path().as_os_str()]));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.stdout.is_empty() && error.contains("this format has several"), "{error}");
}

#[test]
fn absurd_values_end_no_command() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace");
    let queue = |cycles, length| fired("aio_pool-get", cycles, ["".into(), Arg::I(length), Arg::I(1)]);
    let past = u64::MAX / 2 - 10;
    let events = [
        queue(1, i32::MIN.into()),
        entry(past, i32::MIN.into(), i32::MAX.into(), "", -5, ""),
        queue(past + 1, i32::MAX.into()),
        fired("efile_drv-int_entry", 7, [Arg::I(i32::MIN.into()), Arg::I(i32::MAX.into()), Arg::I(-5)]),
        returned(9, i32::MIN.into(), i32::MAX.into(), "", -5, -1),
    ];
    Writer::new(&trace).ring("ring-1", 7, &events);
    // Time that goes back is damage: 4.
    assert!(page(&[&trace], 4).contains("command -5"));
    made("convert", &[&trace], &["--to", "perfetto"], &folder.path().join("perfetto"), 4);
    made("convert", &[&trace], &["--to", "parquet"], &folder.path().join("parquet"), 4);
}

#[test]
fn tasks_by_their_ends_and_their_functions() {
    let folder = tempfile::tempdir().unwrap();
    storm::write(&folder.path().join("none"), 10, 3);
    assert!(!page(&[&folder.path().join("none")], 0).contains("<h2>Tasks</h2>"));
    let trace = folder.path().join("trace");
    tasks::write(&trace);
    let page = page(&[&trace], 0);
    let (_, section) = page.split_once("<h2>Tasks</h2>").unwrap();
    for fact in
        ["<b>3</b> spawned", "<b>1</b> normal", "<b>1</b> panic", "<b>3</b> not ended", "<b>1</b> polls of 10 ms"]
    {
        assert!(section.contains(fact), "{fact}: {section}");
    }
    assert_eq!(
        row(section, "shop::bake"),
        ["shop::bake", "1", "2", "1.40 µs", "500 ns", "900 ns", "900 ns", "2.00 µs"]
    );
    assert_eq!(row(section, "shop::fry")[1..4], ["1", "1", "20.0 ms"]);
    assert_eq!(row(section, "shop::stir")[1..4], ["0", "1", "150 ns"]);
    assert_eq!(row(section, "shop::&lt;late&gt;")[1..], ["1", "0"]);
    // The busiest first.
    assert!(section.find("shop::fry").unwrap() < section.find("shop::bake").unwrap());
    let (_, panics) = section.split_once("<h3>Panics</h3>").unwrap();
    assert_eq!(row(panics, "shop::fry"), ["shop::fry", "1", "20.0 ms", "no &lt;oil&gt;"]);
    let (_, longest) = panics.split_once("<h3>Longest polls</h3>").unwrap();
    assert_eq!(row(longest, "shop::fry"), ["shop::fry", "20.0 ms", "4.00 µs", "panic", "8", "12 &lt;0.2.0&gt;"]);
    assert_eq!(row(longest, "shop::bake")[5..], ["req-1", "12 &lt;0.1.0&gt;"]);
}

#[test]
fn a_page_of_tasks_without_polls() {
    let folder = tempfile::tempdir().unwrap();
    let exit = |time, reason: &str| fired("process-exit", time, ["<0.1.0>".into(), reason.into()]);
    Writer::new(folder.path()).ring("ring-1", 7, &[exit(5, "panic"), exit(6, "cancelled")]);
    let page = page(&[folder.path()], 0);
    assert!(page.contains("The trace has no polls: record them with") && page.contains("<b>1</b> cancelled"), "{page}");
    assert!(page.contains("<i>recorded without polls</i>"), "{page}");
}
