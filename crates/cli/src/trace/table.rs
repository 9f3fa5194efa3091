//! Counts of functions: a table, and JSON.

use dyntrace::recorder::control::protocol::Record;
use dyntrace_terminal::columns::aligned;
use dyntrace_terminal::escape;
use serde_json::{Value, json};

/// The counts that the process sent last.
#[derive(Default)]
pub struct Table {
    /// Nanoseconds since 1970.
    pub at: u64,
    rows: Vec<Row>,
    /// The rows of messages whose last part has not come yet.
    coming: Vec<Row>,
}

struct Row {
    function: String,
    calls: u64,
    nanoseconds: u64,
    /// The own time of that.
    own: u64,
    /// Bytes that the calls allocated, and the own bytes of these, if memory is measured.
    bytes: Option<[u64; 2]>,
}

impl Row {
    /// The cells of the table: times are in microseconds.
    fn cells(&self, has_times: bool, has_bytes: bool) -> Vec<String> {
        let mut cells = vec![self.calls.to_string()];
        if has_times {
            let [time, own] = [self.nanoseconds, self.own].map(|nanoseconds| nanoseconds as f64 / 1e3);
            cells.extend([format!("{time:.0}"), format!("{own:.0}"), format!("{:.3}", time / self.calls as f64)]);
        }
        if has_bytes {
            let numbers = |[all, own]: [u64; 2]| {
                [all.to_string(), own.to_string(), format!("{:.1}", all as f64 / self.calls as f64)]
            };
            cells.extend(self.bytes.map(numbers).unwrap_or_default());
        }
        cells.push(self.function.clone());
        cells
    }
}

impl Table {
    /// Takes a message with counts. Returns whether that completes the table.
    pub fn take(&mut self, records: &[Record]) -> bool {
        let (first, rest) = records.split_first().map_or((None, records), |(first, rest)| (Some(first), rest));
        self.coming.extend(rest.iter().map(|record| Row {
            function: record.get("function").map(escape::name).unwrap_or_default(),
            calls: record.number("calls").unwrap_or_default(),
            nanoseconds: record.number("time").unwrap_or_default(),
            own: record.number("own").unwrap_or_default(),
            bytes: record.number("bytes").zip(record.number("own_bytes")).map(<[u64; 2]>::from),
        }));
        self.at = first.and_then(|first| first.number("at")).unwrap_or_default();
        let is_whole = first.and_then(|first| first.number("more")) != Some(1);
        if is_whole {
            self.rows = std::mem::take(&mut self.coming);
            let cost = |row: &Row| (row.nanoseconds, row.bytes, row.calls);
            self.rows.sort_by(|a, b| (cost(b), &a.function).cmp(&(cost(a), &b.function)));
        }
        is_whole
    }

    fn has_times(&self) -> bool {
        self.rows.iter().any(|row| row.nanoseconds > 0)
    }

    fn has_bytes(&self) -> bool {
        self.rows.iter().any(|row| row.bytes.is_some())
    }

    /// At most `most` lines: the most expensive functions, and the number of the others.
    pub fn lines(&self, most: usize) -> Vec<String> {
        let (has_times, has_bytes) = (self.has_times(), self.has_bytes());
        let shown = if self.rows.len() < most { self.rows.len() } else { most.saturating_sub(2) };
        let times = has_times.then_some(["time (us)", "own (us)", "each (us)"]);
        let bytes = has_bytes.then_some(["bytes", "own bytes", "each"]);
        let head = ["calls"].into_iter().chain(times.into_iter().flatten()).chain(bytes.into_iter().flatten());
        let head: Vec<String> = head.chain(["function"]).map(str::to_owned).collect();
        let (columns, left) = (head.len(), self.rows.len() - shown);
        let mut rows = vec![head];
        rows.extend(self.rows[..shown].iter().map(|row| row.cells(has_times, has_bytes)));
        if left > 0 {
            rows.push([vec![String::new(); columns - 1], vec![format!("{left} more")]].concat());
        }
        aligned(&rows, |_| true)
    }

    /// Its rows as objects.
    pub fn objects(&self) -> impl Iterator<Item = Value> {
        let has_times = self.has_times();
        self.rows.iter().map(move |Row { function, calls, nanoseconds, own, bytes }| {
            let mut row = json!({ "function": function, "calls": calls });
            if has_times {
                (row["time_ns"], row["own_ns"]) = ((*nanoseconds).into(), (*own).into());
            }
            if let Some([bytes, own]) = *bytes {
                (row["bytes"], row["own_bytes"]) = (bytes.into(), own.into());
            }
            row
        })
    }

    /// The same for an interval: each object has its end.
    pub fn objects_of_interval(&self) -> impl Iterator<Item = Value> {
        self.objects().map(|mut row| {
            row["until_ns"] = self.at.into();
            row
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &str) -> Vec<Record> {
        text.lines().map(|line| line.parse().unwrap()).collect()
    }

    #[test]
    fn the_most_expensive_comes_first() {
        let mut table = Table::default();
        assert!(!table.take(&records("told=counts\tmore=1\nfunction=a/1\tcalls=3\ttime=1500")));
        assert_eq!(table.lines(9).len(), 1, "half a table is none");
        assert!(table.take(&records(
            "told=counts\tmore=0\nfunction=b/1\tcalls=2\ttime=9000\town=7000\nfunction=c/1\tcalls=4\ttime=1500"
        )));
        assert_eq!(
            table.lines(3),
            [
                "calls  time (us)  own (us)  each (us)  function",
                "    2          9         7      4.500  b/1",
                "                                       2 more"
            ]
        );
        assert!(table.lines(4).len() == 4 && table.lines(4)[2].ends_with("  c/1"));
        assert_eq!(
            table.objects().next().unwrap(),
            json!({"function": "b/1", "calls": 2, "time_ns": 9000, "own_ns": 7000})
        );
        assert!(table.take(&records("told=counts\tmore=0")));
        assert_eq!(table.objects().count(), 0, "each telling takes the place of that before");
    }

    #[test]
    fn bytes_beside_times_and_without() {
        let mut table = Table::default();
        let (a, b) = ("function=a/1\tcalls=4\tbytes=10\town_bytes=3", "function=b/1\tcalls=2\tbytes=0\town_bytes=0");
        table.take(&records(&format!("told=counts\tmore=0\n{b}\n{a}")));
        let expected = [
            "calls  bytes  own bytes  each  function",
            "    4     10          3   2.5  a/1",
            "    2      0          0   0.0  b/1",
        ];
        assert_eq!(table.lines(9), expected);
        assert_eq!(
            table.objects().next().unwrap(),
            json!({"function": "a/1", "calls": 4, "bytes": 10, "own_bytes": 3})
        );
        table.take(&records(&format!("told=counts\tmore=0\n{a}\nfunction=c/1\tcalls=1\ttime=2000\town=1000")));
        let expected = [
            "calls  time (us)  own (us)  each (us)  bytes  own bytes  each  function",
            "    1          2         1      2.000                          c/1",
            "    4          0         0      0.000     10          3   2.5  a/1",
        ];
        assert_eq!(table.lines(9), expected);
        assert!(table.objects().next().unwrap().get("bytes").is_none());
    }

    #[test]
    fn the_page_has_the_fields() {
        let mut table = Table::default();
        table.take(&records("told=counts\tmore=0\nfunction=a/1\tcalls=4\ttime=2000\town=1000\tbytes=10\town_bytes=3"));
        let mut fields = crate::page::Fields::new(&[]);
        table.objects_of_interval().for_each(|row| fields.add(&row));
        fields.are_those_below("dyntrace trace --count, --time and --memory, with --json");
    }

    #[test]
    fn calls_without_times() {
        let mut table = Table::default();
        table.take(&records("told=counts\tmore=0\nfunction=a\x1b/1\tcalls=1\ttime=0\nfunction=b/1\tcalls=2\ttime=0"));
        assert_eq!(table.lines(9)[1..], ["    2  b/1", "    1  a\\x1b/1"]);
        assert_eq!(table.objects().next().unwrap(), json!({"function": "b/1", "calls": 2}));
    }
}
