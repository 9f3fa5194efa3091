//! The output of a trace: events as lines or JSON, and the table of counts.

use std::io::{self, Write};

use dyntrace::recorder::control::protocol::Record;
use dyntrace_programs::caller::Callers;
use dyntrace_terminal::escape;
use jiff::tz::TimeZone;

use super::event;
use super::table::Table;

/// The most lines of the table while the trace runs; the last table has all functions.
const MOST: usize = 21;
/// On a terminal of fewer lines there is no table while the trace runs.
const FEWEST: usize = 3;

pub struct Output<W> {
    to: W,
    /// The lines of the terminal; `None` if written lines stay.
    height: fn() -> Option<usize>,
    json: bool,
    zone: TimeZone,
    callers: Callers,
    /// Whether each message with counts is for an interval of its own.
    pub intervals: bool,
    counts: Option<Table>,
    /// How many lines of the table are above the cursor.
    drawn: usize,
}

impl<W: Write> Output<W> {
    pub fn new(to: W, height: fn() -> Option<usize>, json: bool, pid: u32) -> Output<W> {
        let (zone, callers) = (TimeZone::system(), Callers::of(pid));
        Output { to, height, json, zone, callers, intervals: false, counts: None, drawn: 0 }
    }

    pub fn event(&mut self, record: &Record) -> io::Result<()> {
        let (caller, stack) = (caller(&mut self.callers, record), stack(&mut self.callers, record));
        let line = match self.json {
            true => escape::json(event::object(record, caller, stack)),
            false => event::line(record, caller.as_deref(), &stack, &self.zone),
        };
        self.clear()?;
        writeln!(self.to, "{line}")
    }

    /// Keeps the counts, and draws the table on a terminal.
    pub fn counts(&mut self, records: &[Record]) -> io::Result<()> {
        let table = self.counts.get_or_insert_default();
        if !table.take(records) {
            return Ok(());
        }
        if self.intervals {
            return self.interval();
        }
        if self.json {
            return Ok(());
        }
        // The cursor needs a line of its own.
        let Some(room) = (self.height)().map(|height| height.saturating_sub(1)).filter(|room| *room >= FEWEST) else {
            return Ok(());
        };
        let lines = table.lines(room.min(MOST));
        self.clear()?;
        // The terminal does not wrap, so each line of the table takes one.
        writeln!(self.to, "\x1b[?7l{}\x1b[?7h", lines.join("\n"))?;
        self.drawn = lines.len();
        self.to.flush()
    }

    /// Prints the counts of an interval that has ended.
    fn interval(&mut self) -> io::Result<()> {
        let Some(table) = self.counts.take() else { return Ok(()) };
        if self.json {
            table.objects_of_interval().try_for_each(|row| writeln!(self.to, "{}", escape::json(row)))?;
        } else {
            let time = event::time_of_day(table.at, &self.zone);
            writeln!(self.to, "until {time}\n{}\n", table.lines(usize::MAX).join("\n"))?;
        }
        self.to.flush()
    }

    /// Erases the table, before other lines are written.
    pub fn clear(&mut self) -> io::Result<()> {
        if self.drawn > 0 {
            write!(self.to, "\x1b[{}A\x1b[J", self.drawn)?;
            self.drawn = 0;
            self.to.flush()?;
        }
        Ok(())
    }

    /// Prints the last counts.
    pub fn end(&mut self) -> io::Result<()> {
        self.clear()?;
        let Some(table) = self.counts.take() else { return Ok(()) };
        if self.json {
            table.objects().try_for_each(|row| writeln!(self.to, "{}", escape::json(row)))
        } else {
            table.lines(usize::MAX).iter().try_for_each(|line| writeln!(self.to, "{line}"))
        }
    }
}

/// The caller that the event names, or that its call returns to.
fn caller(callers: &mut Callers, event: &Record) -> Option<String> {
    let exact = event.get("caller").map(str::to_owned);
    exact.or_else(|| Some(callers.between(event.get("function")?, event.get("inside")?, event.get("returns_to")?)))
}

/// The callers on the event's stack, the innermost first.
fn stack(callers: &mut Callers, event: &Record) -> Vec<String> {
    let frames: Vec<&str> = event.iter().filter(|(name, _)| *name == "frame").map(|(_, place)| place).collect();
    callers.stack(event.get("function").unwrap_or_default(), &frames)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(functions: usize) -> Vec<Record> {
        let first = Record::default().with("told", "counts").with("more", 0);
        let row = |number| Record::default().with("function", format!("f{number}/0")).with("calls", 9 - number);
        [first].into_iter().chain((0..functions).map(row)).collect()
    }

    /// The output of two tables, a line between others, a further table, and the end.
    fn shown(height: fn() -> Option<usize>, functions: usize) -> String {
        let mut output = Output::new(Vec::new(), height, false, 0);
        for _ in 0..2 {
            output.counts(&records(functions)).unwrap();
        }
        output.clear().unwrap();
        output.to.extend_from_slice(b"said\n");
        output.counts(&records(functions)).unwrap();
        output.end().unwrap();
        String::from_utf8(output.to).unwrap()
    }

    #[test]
    fn a_table_takes_the_place_of_the_one_before() {
        let drawn = "\x1b[?7lcalls  function\n    9  f0/0\n    8  f1/0\x1b[?7h\n";
        let whole = "calls  function\n    9  f0/0\n    8  f1/0\n";
        let clear = "\x1b[3A\x1b[J";
        assert_eq!(shown(|| Some(24), 2), format!("{drawn}{clear}{drawn}{clear}said\n{drawn}{clear}{whole}"));
    }

    #[test]
    fn calls_without_room_are_shown_at_the_end() {
        let shown = shown(|| Some(4), 5);
        assert!(shown.starts_with("\x1b[?7lcalls  function\n    9  f0/0\n       4 more\x1b[?7h\n\x1b[3A"), "{shown:?}");
        assert!(
            shown.ends_with("\x1b[Jcalls  function\n    9  f0/0\n    8  f1/0\n    7  f2/0\n    6  f3/0\n    5  f4/0\n")
        );
    }

    #[test]
    fn where_lines_stay_there_is_one_table() {
        for height in [|| None, || Some(3)] {
            assert_eq!(shown(height, 1), "said\ncalls  function\n    9  f0/0\n");
        }
    }

    #[test]
    fn events_are_no_part_of_the_table() {
        let mut output = Output::new(Vec::new(), || Some(24), true, 0);
        output.event(&Record::default().with("told", "call")).unwrap();
        output.counts(&records(1)).unwrap();
        output.end().unwrap();
        assert_eq!(output.to, b"{\"event\":\"call\"}\n{\"calls\":9,\"function\":\"f0/0\"}\n");
    }
}
