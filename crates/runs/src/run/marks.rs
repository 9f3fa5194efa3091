//! Marks where the lines of a shipped script begin and end, for any names in them.
//!
//! Tracers print a newline in a name as it is, and the rest of the name looks like a line of its own: a file's name could fake an
//! event. So the tracer gets the script with a mark at both ends of every line. The marks are new for each run. By a third mark a
//! script says that it has begun.
//!
//! By a fourth mark a script for bpftrace reports at its end how many lines its probes had to print. bpftrace's own count of lost
//! events does not cover events that it discards at its end, so `dyntrace run` compares the script's count with the lines that
//! arrived. DTrace and SystemTap have only their own counts.

use std::hash::{BuildHasher as _, RandomState};
use std::ops::Range;

use memchr::memmem;

use crate::script::{Clause, Part, parts, with_clauses};
use crate::tracer::TracerKind;

const BEGIN: char = '<';
/// Begins a line that the script counts.
const COUNTED: char = '+';
const END: char = '>';
const READY: char = '!';
/// Followed by the script's count and `;`.
const COUNT: char = '=';

/// The statement that counts a line.
const COUNTS_ONE: &str = "@dyntrace_fired = count(); ";
/// Has a script for bpftrace note its count and take no more events. The script's begin has added one to the count, so it is never 0.
const STOP: &str = "if (!@dyntrace_stop) { @dyntrace_stop = (uint64)@dyntrace_fired; }";

/// A random prefix of each of these characters. No name can contain it, as it is chosen when the run begins.
#[derive(Clone)]
pub struct Mark(String);

impl Mark {
    /// Returns a mark that no earlier run had.
    pub fn new() -> Mark {
        Mark(format!("{:016x}", RandomState::new().hash_one(std::process::id())))
    }

    /// Marks each line that the shipped `script` prints, and has the script count the lines of its probes.
    pub fn put_into(&self, script: &str, kind: TracerKind) -> String {
        let Mark(mark) = self;
        let marked = with_clauses(script, kind, |clause| {
            let (begin, first) = match is_counted(kind) && clause.header.contains("usdt:") {
                true => (COUNTED, " if (@dyntrace_stop) { return; }"),
                false => (BEGIN, ""),
            };
            let body = self.with_marks(clause.body, kind, begin);
            Clause { body: &body, ..clause }.with_first(first)
        });
        if !is_counted(kind) {
            return marked;
        }
        // On SIGINT bpftrace discards its buffers. On SIGUSR1 the script takes no more events, and ends after those that it took.
        format!(
            "{marked}
BEGIN {{ {COUNTS_ONE}}}
self:signal:SIGUSR1 {{ {STOP} exit(); }}
END {{ {STOP} printf(\"{mark}{COUNT}%ld;\", (int64)@dyntrace_stop - 1); }}
"
        )
    }

    /// The `body` of a clause with marks around each line that it prints.
    fn with_marks(&self, body: &str, kind: TracerKind, begin: char) -> String {
        let Mark(mark) = self;
        let mut marked = String::new();
        for part in parts(body, kind) {
            match part {
                Part::Code(text) | Part::Comment(text) => marked.push_str(text),
                Part::Text(text) => {
                    let print = ["printf(", "printa("].into_iter().find(|print| marked.ends_with(print));
                    if let (Some(print), Some(text)) = (print, text.strip_prefix('"')) {
                        if begin == COUNTED {
                            marked.insert_str(marked.len() - print.len(), COUNTS_ONE);
                        }
                        let text = text.replace("\\n\"", &format!("{mark}{END}\\n\""));
                        marked += &format!("\"{mark}{begin}{text}");
                    } else {
                        marked.push_str(text);
                    }
                }
            }
        }
        marked
    }

    /// The text that begins a record.
    pub fn begin(&self) -> String {
        format!("{}{BEGIN}", self.0)
    }

    /// The text that ends a record.
    pub fn end(&self) -> String {
        format!("{}{END}", self.0)
    }

    /// The texts before and behind a count.
    pub fn around_count(&self) -> (String, String) {
        (format!("{}{COUNT}", self.0), format!("{};", self.0))
    }

    /// Where the first whole record of `text` is, and where it has ended. Records without an end are skipped.
    pub fn first_record(&self, text: &[u8]) -> Option<(Range<usize>, usize)> {
        let (begin, end) = (self.begin(), self.end());
        let closed = memmem::find(text, end.as_bytes())?;
        let from = memmem::rfind(&text[..closed], begin.as_bytes()).map_or(closed, |at| at + begin.len());
        Some((from..closed, closed + end.len()))
    }

    /// The text that a script prints when it has begun.
    pub fn ready(&self) -> String {
        format!("{}{READY}", self.0)
    }
}

/// Whether shipped scripts for this tracer count the lines of their probes.
pub fn is_counted(kind: TracerKind) -> bool {
    kind == TracerKind::Bpftrace
}

/// How many lines the probes of a script had to print, and how many arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The script's own count. `None` until its end has printed it.
    pub fired: Option<u64>,
    /// Lines of probes that arrived whole.
    pub printed: u64,
    /// Lines, also of other clauses, of which a part arrived.
    pub cut: u64,
}

/// Takes the marks out of a trace that arrives in pieces, and writes out the newlines and tabs between them.
pub struct Marked {
    mark: Mark,
    is_in_line: bool,
    is_in_counted: bool,
    /// Whether the script's lines have marks. A script of the user's has none.
    has_lines: bool,
    /// The lines so far.
    pub tally: Tally,
    /// Whether the script has not reported its begin yet. Until then all output is held back.
    pub is_awaited: bool,
    /// Perhaps the beginning of a mark whose end has not arrived yet.
    begun: String,
}

impl Marked {
    /// For a script with this mark. `is_awaited`: the script reports its begin.
    pub fn new(mark: Mark, is_awaited: bool) -> Marked {
        Marked {
            mark,
            is_in_line: false,
            is_in_counted: false,
            has_lines: false,
            tally: Tally::default(),
            is_awaited,
            begun: String::new(),
        }
    }

    /// Takes the next piece, and returns the text that is certainly not part of a mark.
    pub fn push(&mut self, piece: &str) -> String {
        let text = std::mem::take(&mut self.begun) + piece;
        if self.is_awaited && !text.contains(&self.mark.ready()) {
            self.begun = text;
            return String::new();
        }
        let mut rest = text.as_str();
        let mut out = String::new();
        while let Some((before, after)) = rest.split_once(&self.mark.0)
            && let Some(kind) = after.chars().next()
        {
            out += &self.shown(before);
            if kind == COUNT {
                let Some((count, after)) = after[1..].split_once(';') else {
                    self.begun = format!("{}{after}", self.mark.0);
                    return out;
                };
                self.tally.fired = count.trim().parse().ok();
                out += self.end_cut_line();
                rest = after;
                continue;
            }
            let begins = matches!(kind, BEGIN | COUNTED);
            if begins {
                out += self.end_cut_line();
            }
            self.tally.cut += u64::from(kind == END && !self.is_in_line);
            self.has_lines |= begins;
            self.tally.printed += u64::from(self.is_in_counted && kind == END);
            self.is_in_counted = kind == COUNTED;
            rest = &after[kind.len_utf8()..];
            if kind == READY {
                self.is_awaited = false;
                rest = without_row(&mut out, rest);
            }
            self.is_in_line = begins;
        }
        let Mark(mark) = &self.mark;
        let begun = (0..=mark.len()).rev().find(|&length| rest.ends_with(&mark[..length])).unwrap_or(0);
        let (whole, begun) = rest.split_at(rest.len() - begun);
        out += &self.shown(whole);
        self.begun = begun.to_owned();
        out
    }

    /// Returns the rest when the trace has ended, and the lines.
    pub fn finish(mut self) -> (String, Tally) {
        let begun = std::mem::take(&mut self.begun);
        let mut rest = String::new();
        if begun.starts_with(&self.mark.0) {
            self.tally.cut += 1;
        } else {
            rest = self.shown(&begun);
        }
        (rest + self.end_cut_line(), self.tally)
    }

    /// Ends the line, if there is one: the tracer has lost its end.
    fn end_cut_line(&mut self) -> &'static str {
        self.tally.cut += u64::from(self.is_in_line);
        if std::mem::take(&mut self.is_in_line) { "\n" } else { "" }
    }

    fn shown(&mut self, text: &str) -> String {
        if self.is_in_line {
            return text.replace('\n', r"\x0a").replace('\t', r"\x09");
        }
        let mut shown = String::new();
        for line in text.split_inclusive('\n') {
            let piece = line.trim_end_matches('\n');
            if self.has_lines && !piece.is_empty() && self.mark.0.starts_with(piece) {
                // Between lines a piece of a mark is all that is left of a line.
                self.tally.cut += 1;
            } else {
                shown += line;
            }
        }
        shown
    }
}

/// Removes the row that DTrace, unless it is quiet, prints around the output of a BEGIN clause. Cuts its first part from the end of
/// `out`, and returns `after` without its last part.
fn without_row<'t>(out: &mut String, after: &'t str) -> &'t str {
    if !out.ends_with(":BEGIN ") {
        return after;
    }
    out.truncate(out.rfind('\n').map_or(0, |end| end + 1));
    after.strip_prefix('\n').unwrap_or(after)
}

#[cfg(test)]
mod tests {
    use dyntrace::scripts;

    use crate::script::shipped_text;

    use super::*;

    fn marked() -> Marked {
        Marked::new(Mark("0a0b".to_owned()), false)
    }

    #[test]
    fn nothing_comes_before_the_script_has_begun() {
        let awaited = || Marked { is_awaited: true, ..marked() };
        let mut quiet = awaited();
        assert_eq!(quiet.push("hit ^C0a0"), "");
        assert!(quiet.is_awaited);
        assert_eq!(quiet.push("b!\n0a0b<one"), "hit ^C\none");
        assert!(!quiet.is_awaited);

        let mut rows = awaited();
        assert_eq!(rows.push("CPU ID\n  0  1  :BEGIN 0a0b!\n  1"), "CPU ID\n  1");
        let mut failed = awaited();
        assert_eq!(failed.push("some"), "");
        assert_eq!(failed.finish().0, "some");
    }

    #[test]
    fn a_name_cannot_end_its_line() {
        let trace = "0a0b<name one\ntwo\t 0a0b>\nbetween\n0a0b<00a0b>\n";
        assert_eq!(marked().push(trace), "name one\\x0atwo\\x09 \nbetween\n0\n");
        let mut pieces = marked();
        let shown: String = trace.split_inclusive(|_| true).map(|piece| pieces.push(piece)).collect();
        assert_eq!(shown + &pieces.finish().0, marked().push(trace));
    }

    #[test]
    fn a_line_whose_end_is_lost_ends_where_the_next_begins() {
        let mut lines = marked();
        assert_eq!(lines.push("0a0b<one0a0b<two0a0b>\n0a0b<thr"), "one\ntwo\nthr");
        assert_eq!(lines.finish(), ("\n".to_owned(), Tally { cut: 2, ..Tally::default() }));
    }

    #[test]
    fn a_piece_of_a_mark_is_no_line() {
        for (trace, left) in [
            ("0a0b<one0a0b>\n0a", "one\n"),
            ("0a0b<one0a0b>\n0a\n", "one\n"),
            ("0a0b<one0a0b>\n0a0a0b<two0a0b>\n", "one\ntwo\n"),
            ("0a0b<one0a0b>\n0a0b", "one\n"),
            ("0a0b<one0a0b>\nwo0a0b>\n", "one\nwo\n"),
            ("0a0b<one0a0b>\n0a0b<t0a", "one\nt0a\n"),
        ] {
            for pieces in [vec![trace], trace.split_inclusive(|_| true).collect()] {
                let mut lines = marked();
                let shown: String = pieces.iter().map(|piece| lines.push(piece)).collect();
                let (rest, tally) = lines.finish();
                assert_eq!((shown + &rest, tally.cut), (left.to_owned(), 1), "{trace:?}");
            }
        }
        // A script of the user's has no marks, and may end within a line.
        let mut own = marked();
        assert_eq!(own.push("count 0") + &own.finish().0, "count 0");
    }

    #[test]
    fn whole_lines_of_probes_are_counted() {
        let trace = "0a0b<table0a0b>\n0a0b+one0a0b>\n0a0b+lost 0a0b+two0a0b>\n0a0b=4;0a0b<table0a0b>\n";
        let mut whole = marked();
        assert_eq!(whole.push(trace), "table\none\nlost \ntwo\ntable\n");
        assert_eq!(whole.tally, Tally { fired: Some(4), printed: 2, cut: 1 });
        let mut pieces = marked();
        let shown: String = trace.split_inclusive(|_| true).map(|piece| pieces.push(piece)).collect();
        assert_eq!((shown.as_str(), pieces.tally), ("table\none\nlost \ntwo\ntable\n", whole.tally));
    }

    #[test]
    fn every_line_of_every_shipped_script_is_marked() {
        let mark = Mark::new();
        for script in scripts::ALL {
            for kind in [TracerKind::Dtrace, TracerKind::Stap, TracerKind::Bpftrace] {
                let text = mark.put_into(shipped_text(script, kind), kind);
                let count = format!("\"{}{COUNT}", mark.0);
                for printed in text.replace("printa(", "printf(").split("printf(").skip(1) {
                    let line = printed.split(['\n']).next().unwrap_or_default();
                    if line.starts_with(&count) {
                        continue;
                    }
                    let begins = [BEGIN, COUNTED].map(|begin| format!("\"{}{begin}", mark.0));
                    let end = format!("{}{END}\\n\"", mark.0);
                    assert!(begins.iter().any(|begin| line.starts_with(begin)), "{} for {kind}: {line}", script.name);
                    assert!(line.contains(&end), "{} for {kind}: {line}", script.name);
                }
                let counts = usize::from(is_counted(kind));
                assert_eq!(text.matches(&count).count(), counts, "{} for {kind}", script.name);
                if matches!(script.name, "efile_drv" | "messages" | "user-probe") && is_counted(kind) {
                    assert!(text.contains(COUNTS_ONE), "{} for {kind}", script.name);
                }
            }
        }
    }
}
