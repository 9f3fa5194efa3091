//! Where the lines of a shipped script begin and end, whatever names are in them.
//!
//! Tracers print a newline in a name as it is, and what follows it looks like a line of its own: a file's name could pretend that
//! something happened. So the tracer gets the script with a mark at both ends of every line, which is made anew for each run. By a
//! third mark a script says that it has begun.

use std::hash::{BuildHasher as _, RandomState};

const BEGIN: char = '<';
const END: char = '>';
const READY: char = '!';

/// What stands before [`BEGIN`], [`END`] and [`READY`]: nobody who chose a name can have known it.
#[derive(Clone)]
pub struct Mark(String);

impl Mark {
    /// One that was never there before.
    pub fn new() -> Mark {
        Mark(format!("{:016x}", RandomState::new().hash_one(std::process::id())))
    }

    /// `script` with marks in what it prints: shipped scripts print one whole line at a time.
    pub fn put_into(&self, script: &str) -> String {
        let Mark(mark) = self;
        let mut marked = script.replace("\\n\"", &format!("{mark}{END}\\n\""));
        for print in ["printf(\"", "printa(\""] {
            marked = marked.replace(print, &format!("{print}{mark}{BEGIN}"));
        }
        marked
    }

    /// What a script prints to say that it has begun.
    pub fn ready(&self) -> String {
        format!("{}{READY}", self.0)
    }
}

/// Takes the marks out of a trace that arrives in pieces, and writes out the newlines and tabs between them.
pub struct Marked {
    mark: Mark,
    is_in_line: bool,
    /// Whether the script has not said yet that it has begun: until then all is held back.
    pub is_awaited: bool,
    /// Perhaps the beginning of a mark whose end has not arrived yet.
    begun: String,
}

impl Marked {
    /// The trace of a script with this mark; whether the script will say that it has begun.
    pub fn new(mark: Mark, is_awaited: bool) -> Marked {
        Marked { mark, is_in_line: false, is_awaited, begun: String::new() }
    }

    /// The next piece, as far as it is known to be no mark.
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
            if self.is_in_line && kind == BEGIN {
                // The tracer has lost the end of a line.
                out.push('\n');
            }
            rest = &after[kind.len_utf8()..];
            if kind == READY {
                self.is_awaited = false;
                rest = without_row(&mut out, rest);
            }
            self.is_in_line = kind == BEGIN;
        }
        let Mark(mark) = &self.mark;
        let begun = (0..=mark.len()).rev().find(|&length| rest.ends_with(&mark[..length])).unwrap_or(0);
        let (whole, begun) = rest.split_at(rest.len() - begun);
        out += &self.shown(whole);
        self.begun = begun.to_owned();
        out
    }

    /// What is left when the trace has ended.
    pub fn finish(self) -> String {
        self.shown(&self.begun)
    }

    fn shown(&self, text: &str) -> String {
        if self.is_in_line { text.replace('\n', r"\x0a").replace('\t', r"\x09") } else { text.to_owned() }
    }
}

/// Takes the row from the end of `out` that DTrace puts around what a clause for BEGIN prints, unless it is told to be quiet; gives what
/// comes after it.
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
    use crate::tracer::Kind;

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
        assert_eq!(failed.finish(), "some");
    }

    #[test]
    fn a_name_cannot_end_its_line() {
        let trace = "0a0b<name one\ntwo\t 0a0b>\nbetween\n0a0b<00a0b>\n";
        assert_eq!(marked().push(trace), "name one\\x0atwo\\x09 \nbetween\n0\n");
        let mut pieces = marked();
        let shown: String = trace.split_inclusive(|_| true).map(|piece| pieces.push(piece)).collect();
        assert_eq!(shown + &pieces.finish(), marked().push(trace));
    }

    #[test]
    fn a_line_whose_end_is_lost_ends_where_the_next_begins() {
        let mut marked = marked();
        assert_eq!(marked.push("0a0b<one0a0b<two0a0b>\n0a"), "one\ntwo\n");
        assert_eq!(marked.finish(), "0a");
    }

    #[test]
    fn every_line_of_every_shipped_script_is_marked() {
        let mark = Mark::new();
        for script in scripts::ALL {
            for kind in [Kind::Dtrace, Kind::Stap, Kind::Bpftrace] {
                let text = mark.put_into(shipped_text(script, kind));
                for printed in text.replace("printa(", "printf(").split("printf(").skip(1) {
                    let line = printed.split(['\n']).next().unwrap_or_default();
                    let (begin, end) = (format!("\"{}{BEGIN}", mark.0), format!("{}{END}\\n\"", mark.0));
                    assert!(line.starts_with(&begin) && line.contains(&end), "{} for {kind}: {line}", script.name);
                }
            }
        }
    }
}
