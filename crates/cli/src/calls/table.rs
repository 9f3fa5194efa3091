//! Counts of functions: a table, and JSON.

use dyntrace::recorder::control::protocol::Record;
use serde_json::{Value, json};

use crate::escape;

/// What was counted, as the process told it last.
#[derive(Default)]
pub struct Table {
    /// When they were counted, in nanoseconds since 1970.
    at: u64,
    rows: Vec<Row>,
    /// Those of a telling that is not whole yet.
    coming: Vec<Row>,
}

struct Row {
    function: String,
    calls: u64,
    nanoseconds: u64,
    /// The own time among them.
    own: u64,
    /// Bytes that the calls have allocated, and their own among them, if that was asked for.
    bytes: Option<[u64; 2]>,
}

impl Row {
    /// As the table shows them: each time in microseconds.
    fn numbers(&self, has_times: bool, has_bytes: bool) -> Vec<String> {
        let mut numbers = vec![self.calls.to_string()];
        if has_times {
            let [time, own] = [self.nanoseconds, self.own].map(|nanoseconds| nanoseconds as f64 / 1e3);
            numbers.extend([format!("{time:.0}"), format!("{own:.0}"), format!("{:.3}", time / self.calls as f64)]);
        }
        if has_bytes {
            numbers.extend(match self.bytes {
                Some([all, own]) => {
                    [all.to_string(), own.to_string(), format!("{:.1}", all as f64 / self.calls as f64)]
                }
                None => Default::default(),
            });
        }
        numbers
    }
}

/// Numbers in columns, and a text behind them.
fn aligned(lines: &[(Vec<String>, String)]) -> Vec<String> {
    let columns = lines.iter().map(|(numbers, _)| numbers.len()).max().unwrap_or(0);
    let width = |column: usize| lines.iter().filter_map(|(numbers, _)| numbers.get(column)).map(String::len).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let line = |(numbers, text): &(Vec<String>, String)| {
        let numbers = numbers.iter().map(String::as_str).chain(std::iter::repeat(""));
        let cells = numbers.zip(&widths).map(|(number, width)| format!("{number:>width$}  "));
        cells.collect::<String>() + text
    };
    lines.iter().map(line).collect()
}

impl Table {
    /// Takes a message with counts; whether that makes a whole table.
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

    /// When they were counted, in nanoseconds since 1970.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// Whether the time that calls take was asked for.
    fn has_times(&self) -> bool {
        self.rows.iter().any(|row| row.nanoseconds > 0)
    }

    /// Whether what calls allocate was asked for.
    fn has_bytes(&self) -> bool {
        self.rows.iter().any(|row| row.bytes.is_some())
    }

    /// Its lines, at most so many: the most expensive functions, and how many more there are.
    pub fn lines(&self, most: usize) -> Vec<String> {
        let (has_times, has_bytes) = (self.has_times(), self.has_bytes());
        let shown = if self.rows.len() < most { self.rows.len() } else { most.saturating_sub(2) };
        let times = has_times.then_some(["time (us)", "own (us)", "each (us)"]);
        let bytes = has_bytes.then_some(["bytes", "own bytes", "each"]);
        let head = ["calls"].into_iter().chain(times.into_iter().flatten()).chain(bytes.into_iter().flatten());
        let head = (head.map(str::to_owned).collect(), "function".to_owned());
        let rows = self.rows[..shown].iter().map(|row| (row.numbers(has_times, has_bytes), row.function.clone()));
        let left = self.rows.len() - shown;
        let end = (left > 0).then(|| (Vec::new(), format!("{left} more")));
        aligned(&[head].into_iter().chain(rows).chain(end).collect::<Vec<_>>())
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

    /// The same where they are those of an interval: each says when that ended.
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
    fn calls_without_times() {
        let mut table = Table::default();
        table.take(&records("told=counts\tmore=0\nfunction=a\x1b/1\tcalls=1\ttime=0\nfunction=b/1\tcalls=2\ttime=0"));
        assert_eq!(table.lines(9)[1..], ["    2  b/1", "    1  a\\x1b/1"]);
        assert_eq!(table.objects().next().unwrap(), json!({"function": "b/1", "calls": 2}));
    }
}
