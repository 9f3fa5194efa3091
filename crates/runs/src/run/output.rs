//! The tracer's output, passed through at once and made safe for a terminal.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::thread;

use anyhow::Context as _;
use dyntrace_analysis::render::{Rendering, Settings, Way};
use dyntrace_analysis::view::Format;
use dyntrace_terminal::escape::{self, Stream};
use dyntrace_terminal::stdout::say_part;
use dyntrace_terminal::{private, say};

use super::event::Event;
use super::lost;
use super::marks::{Marked, Tally};
use super::raw::{self, Events};
use super::rows::Rows;

/// State shared by the thread that waits for the tracer and the threads that read its output.
#[derive(Clone, Default)]
pub struct Progress(Arc<Shared>);

#[derive(Default)]
struct Shared {
    pieces: AtomicU64,
    lost: AtomicU64,
    unmapped: AtomicU64,
    will_print_newline: AtomicBool,
}

// Relaxed: they order no other data.
impl Progress {
    /// How many pieces of output have arrived. While this grows, the thread that waits for the tracer's end waits longer.
    pub fn count(&self) -> u64 {
        self.0.pieces.load(Ordering::Relaxed)
    }

    /// How many events the tracer says it has lost. Complete once both outputs have ended: the channel that says so orders this count.
    pub fn lost(&self) -> u64 {
        self.0.lost.load(Ordering::Relaxed)
    }

    /// For how many entries the tracer says that a map has no room. Complete when [`lost`](Self::lost) is.
    pub fn unmapped(&self) -> u64 {
        self.0.unmapped.load(Ordering::Relaxed)
    }

    /// Announces a meaningless newline of the tracer.
    pub fn will_print_newline(&self) {
        self.0.will_print_newline.store(true, Ordering::Relaxed);
    }

    fn add_piece(&self) {
        self.0.pieces.fetch_add(1, Ordering::Relaxed);
    }
}

/// Where the trace goes.
pub enum Sink {
    /// To standard output.
    Stdout,
    /// To a file.
    File(File),
}

impl Sink {
    /// A new file at `path`; standard output without a path, and for `-`.
    pub fn open(path: Option<&Path>) -> anyhow::Result<Sink> {
        let Some(path) = path.filter(|path| !private::is_stdout(path)) else { return Ok(Sink::Stdout) };
        let file = private::create(path, 0o600).with_context(|| format!("cannot write to {}", escape::path(path)))?;
        Ok(Sink::File(file))
    }

    /// The format in which it gets the script of `rendering`.
    pub fn format(&self, rendering: &'static Rendering, settings: &Settings) -> Format {
        match (&rendering.way, self) {
            (Way::Lines(_), Sink::File(_)) => Format::plain(std::slice::from_ref(rendering)),
            _ => Format::of_script(rendering, settings),
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::Stdout => io::stdout().write(bytes),
            Sink::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::Stdout => io::stdout().flush(),
            Sink::File(file) => file.flush(),
        }
    }
}

/// Holds back empty lines until other text follows, as tracers end a trace with some. Leaves out an announced one.
#[derive(Default)]
struct EmptyLines {
    held: usize,
    is_one_foretold: bool,
    is_in_line: bool,
}

impl EmptyLines {
    /// Returns the text to print now: `text`, and empty lines that were held back.
    fn pass(&mut self, text: &str) -> String {
        let mut passed = String::new();
        for piece in text.split_inclusive('\n') {
            if piece == "\n" && !self.is_in_line {
                self.held += usize::from(!std::mem::take(&mut self.is_one_foretold));
                continue;
            }
            passed.extend(std::iter::repeat_n('\n', std::mem::take(&mut self.held)));
            passed.push_str(piece);
            self.is_in_line = !piece.ends_with('\n');
        }
        passed
    }
}

/// Makes the user's lines from the tracer's output.
pub enum Reading {
    /// The lines of the script, with marks in them.
    Script(Box<Lines>),
    /// Events.
    Raw(Box<Events>),
}

/// The lines of a script.
pub struct Lines {
    stream: Stream,
    marked: Marked,
    empty: EmptyLines,
    /// Of a script whose table is put together here.
    rows: Option<Rows>,
}

impl Lines {
    fn push(&mut self, piece: &[u8]) -> String {
        let mut text = self.marked.push(&self.stream.push(piece));
        if let Some(rows) = &mut self.rows {
            text = rows.push(&text);
        }
        self.empty.pass(&text)
    }

    fn finish(self) -> (String, Tally) {
        let Lines { stream, mut marked, mut empty, rows } = self;
        let text = marked.push(&stream.finish());
        let (rest, tally) = marked.finish();
        let mut text = text + &rest;
        if let Some(mut rows) = rows {
            text = rows.push(&text) + &rows.finish();
            if rows.uncounted > 0 {
                let count = rows.uncounted;
                say!(
                    "dyntrace: bpftrace has no room for so many user tags: {count} operations were counted by dyntrace"
                );
            }
        }
        (empty.pass(&text), tally)
    }
}

impl Reading {
    /// The lines of a script with these marks. `rows`: for a script whose table is put together here.
    pub fn script(marked: Marked, rows: Option<Rows>) -> Reading {
        Reading::Script(Box::new(Lines { stream: Stream::default(), marked, empty: EmptyLines::default(), rows }))
    }

    /// Whether the script has not said yet that it has begun.
    fn is_awaited(&self) -> bool {
        matches!(self, Reading::Script(lines) if lines.marked.is_awaited)
    }

    /// The tracer prints a meaningless newline.
    fn foretell_newline(&mut self) {
        if let Reading::Script(lines) = self {
            lines.empty.is_one_foretold = true;
        }
    }
}

/// The trace on its way to the user.
pub struct Trace {
    reading: Reading,
    to: Sink,
}

impl Trace {
    /// Sends the lines that `reading` makes from the tracer's output to `to`.
    pub fn new(reading: Reading, to: Sink) -> Trace {
        Trace { reading, to }
    }

    fn push(&mut self, piece: &[u8]) -> io::Result<()> {
        match &mut self.reading {
            Reading::Script(lines) => self.to.write_all(lines.push(piece).as_bytes())?,
            Reading::Raw(events) => self.to.write_all(&events.push(piece))?,
        }
        self.to.flush()
    }

    fn finish(mut self) -> io::Result<Tally> {
        let tally = match self.reading {
            Reading::Script(lines) => {
                let (text, tally) = lines.finish();
                self.to.write_all(text.as_bytes())?;
                tally
            }
            Reading::Raw(mut events) => {
                self.to.write_all(&events.finish())?;
                if events.has_cut {
                    say!("dyntrace: this bpftrace has cut strings after {} bytes", raw::STRING - 1);
                }
                events.tally
            }
        };
        self.to.flush()?;
        Ok(tally)
    }
}

/// Passes the tracer's standard output on, in a thread of its own.
pub fn pass_on(
    mut from: impl Read + Send + 'static,
    trace: impl FnOnce() -> Trace + Send + 'static,
    progress: Progress,
    events: Sender<Event>,
) {
    thread::spawn(move || {
        let mut trace = trace();
        let mut buffer = [0; 16 * 1024];
        let mut is_open = true;
        let mut is_awaited = trace.reading.is_awaited();
        loop {
            let piece = match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(length) => &buffer[..length],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            progress.add_piece();
            if progress.0.will_print_newline.swap(false, Ordering::Relaxed) {
                trace.reading.foretell_newline();
            }
            if is_open && let Err(error) = trace.push(piece) {
                // Reading goes on: the tracer must not wait for a reader that is gone.
                is_open = false;
                let _ = events.send(Event::CannotWrite(error));
            }
            if is_awaited && !trace.reading.is_awaited() {
                is_awaited = false;
                let _ = events.send(Event::Begun);
            }
        }
        if is_open {
            let _ = events.send(trace.finish().map_or_else(Event::CannotWrite, Event::Counted));
        }
        let _ = events.send(Event::OutputEnded);
    });
}

/// Passes the tracer's standard error on, line by line, in a thread of its own. Of the warnings of full maps, each one once.
pub fn pass_errors_on(from: impl Read + Send + 'static, progress: Progress, events: Sender<Event>) {
    /// Longer lines are passed on in parts.
    const LONGEST_LINE: u64 = 64 * 1024;
    thread::spawn(move || {
        let mut from = BufReader::new(from);
        let mut stream = Stream::default();
        let mut line = Vec::new();
        let (mut warnings, mut is_repeated) = (HashSet::new(), false);
        while from.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
            progress.add_piece();
            let text = String::from_utf8_lossy(&line);
            progress.0.lost.fetch_add(lost::said_in(&text), Ordering::Relaxed);
            if lost::is_full_map(&text) {
                progress.0.unmapped.fetch_add(1, Ordering::Relaxed);
                is_repeated = !warnings.insert(text.clone().into_owned());
            }
            if !is_repeated && !is_noise(&text) {
                say_part(&stream.push(&line));
            }
            is_repeated &= !lost::ends_warning(&text);
            line.clear();
        }
        say_part(&stream.finish());
        let _ = events.send(Event::OutputEnded);
    });
}

/// Lines that bpftrace prints at every start on some machines, and that mean nothing for probes of programs.
fn is_noise(line: &str) -> bool {
    line.contains("available_filter_functions") || line.contains("couldn't set RLIMIT_MEMLOCK")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_lines_pass_only_before_others() {
        let mut lines = EmptyLines::default();
        assert_eq!(lines.pass("\none\n\ntw"), "\none\n\ntw");
        assert_eq!(lines.pass("\n"), "\n");
        assert_eq!(lines.pass("\n\n"), "");
        assert_eq!(lines.pass("o\n\n"), "\n\no\n");
        assert_eq!(lines.pass("\n"), "");
        lines.is_one_foretold = true;
        assert_eq!(lines.pass("\nthree\n\nfour"), "\n\nthree\n\nfour");
    }
}
