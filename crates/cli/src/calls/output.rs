//! What the user sees of a trace.

use std::io::{self, IsTerminal as _, StdoutLock, Write as _};

use dyntrace::recorder::control::protocol::Record;

use super::event;
use super::table::Table;

/// How many functions are shown meanwhile; at the end, all are.
const MOST: usize = 20;

/// Standard output, and what was counted.
pub struct Output {
    to: StdoutLock<'static>,
    is_terminal: bool,
    json: bool,
    counts: Option<Table>,
    /// Lines of the table that end where the cursor stands.
    drawn: usize,
}

impl Output {
    /// Nothing was shown yet.
    pub fn new(json: bool) -> Output {
        let to = io::stdout().lock();
        Output { is_terminal: to.is_terminal(), to, json, counts: None, drawn: 0 }
    }

    /// Shows an event.
    pub fn event(&mut self, record: &Record) -> io::Result<()> {
        let line = if self.json { event::object(record).to_string() } else { event::line(record) };
        self.drawn = 0;
        writeln!(self.to, "{line}")
    }

    /// Keeps what was counted, and shows it to who watches.
    pub fn counts(&mut self, records: &[Record]) -> io::Result<()> {
        let table = self.counts.get_or_insert_default();
        if !table.take(records) || !self.is_terminal || self.json {
            return Ok(());
        }
        let lines = table.lines(MOST);
        self.draw(&lines)
    }

    /// Shows what was counted in the end.
    pub fn end(&mut self) -> io::Result<()> {
        let Some(table) = self.counts.take() else { return Ok(()) };
        if self.json {
            return table.objects().try_for_each(|row| writeln!(self.to, "{row}"));
        }
        self.draw(&table.lines(usize::MAX))
    }

    /// Puts these lines in the place of those that were drawn before.
    fn draw(&mut self, lines: &[String]) -> io::Result<()> {
        if self.drawn > 0 {
            write!(self.to, "\x1b[{}A\x1b[J", self.drawn)?;
        }
        self.drawn = if self.is_terminal { lines.len() } else { 0 };
        lines.iter().try_for_each(|line| writeln!(self.to, "{line}"))?;
        self.to.flush()
    }
}
