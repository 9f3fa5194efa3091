//! The script to run: found by name or path. Reads from its text the probes that it needs.

mod clauses;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use dyntrace::scripts;
use dyntrace_analysis::render::Settings;
use dyntrace_analysis::render::slow::{TAKER, refusal};
use dyntrace_programs::elf::Note;
use dyntrace_terminal::exit::Failure;
use dyntrace_terminal::{escape, near};

use crate::tracer::TracerKind;

pub use clauses::{Clause, with_clauses};

/// A script.
pub enum Script {
    /// One that comes with dyntrace, in three languages.
    Shipped(&'static scripts::Script),
    /// A file, in one language.
    File {
        /// Where it is.
        path: PathBuf,
        /// The tracer that runs it.
        kind: TracerKind,
        /// Its text.
        text: String,
    },
}

/// Why there is no such script.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No shipped script has this name.
    #[error("there is no script {}; {}shipped are: {}; or give the path of a .d, .stp or .bt file", escape::name(name), did_you_mean(name), names().join(", "))]
    Unknown {
        /// The name that the user gave.
        name: String,
    },
    /// A file whose language is unknown.
    #[error("{}: the name of a script ends in .d (DTrace), .stp (SystemTap) or .bt (bpftrace)", escape::path(.0))]
    Language(PathBuf),
    /// A file that cannot be read.
    #[error("cannot read the script {}", escape::path(path))]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl Script {
    /// Finds the script that the user calls `name`: a shipped one, or a file.
    pub fn find(name: &str) -> Result<Script, Error> {
        if let Some(script) = scripts::find(name) {
            return Ok(Script::Shipped(script));
        }
        let path = Path::new(name);
        match language(path) {
            Some(kind) => match fs::read_to_string(path) {
                Ok(text) => Ok(Script::File { path: path.to_owned(), kind, text }),
                Err(source) => Err(Error::Read { path: path.to_owned(), source }),
            },
            None if path.exists() => Err(Error::Language(path.to_owned())),
            None => Err(Error::Unknown { name: name.to_owned() }),
        }
    }

    /// Its name in messages.
    pub fn name(&self) -> String {
        match self {
            Script::Shipped(script) => script.name.to_owned(),
            Script::File { path, .. } => escape::path(path),
        }
    }

    /// Its settings with this bound of slow polls. Fails for a script without slow polls, and for one that dyntrace does not know.
    pub fn settings(&self, slow: Option<i64>) -> Result<Settings, Failure> {
        let Some(slow) = slow else { return Ok(Settings::default()) };
        match self {
            Script::Shipped(shipped) if shipped.name == TAKER => Ok(Settings { slow }),
            _ => Err(refusal(self.name())),
        }
    }

    /// Its text for `kind`, if it is written in that language.
    pub fn text(&self, kind: TracerKind) -> Option<&str> {
        match self {
            Script::Shipped(script) => Some(shipped_text(script, kind)),
            Script::File { kind: own, text, .. } => (*own == kind).then_some(text),
        }
    }
}

/// The tracer whose scripts end like the name of `script`.
fn language(script: &Path) -> Option<TracerKind> {
    let extension = script.extension()?;
    TracerKind::ALL.iter().copied().find(|kind| extension == kind.extension())
}

/// The text of a shipped script for `kind`.
pub fn shipped_text(script: &scripts::Script, kind: TracerKind) -> &'static str {
    match kind {
        TracerKind::Dtrace => script.d,
        TracerKind::Stap => script.stap,
        TracerKind::Bpftrace => script.bt,
    }
}

fn names() -> Vec<&'static str> {
    scripts::ALL.iter().map(|script| script.name).collect()
}

/// A shipped script whose name is close to `name`, as a question.
fn did_you_mean(name: &str) -> String {
    let stem = Path::new(name).file_stem().map_or(name.into(), |stem| stem.to_string_lossy());
    near::did_you_mean(&stem, names())
}

/// A part of a script: code, a string or a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'t> {
    /// Code that the tracer runs.
    Code(&'t str),
    /// A string with its quotes.
    Text(&'t str),
    /// A comment: `//`, `/* */`, and `#` in SystemTap's language.
    Comment(&'t str),
}

/// The parts of the script `text`.
pub fn parts(mut text: &str, kind: TracerKind) -> impl Iterator<Item = Part<'_>> {
    std::iter::from_fn(move || {
        let (part, length) = first_part(text, kind)?;
        text = &text[length..];
        Some(part)
    })
}

/// The first part of `text`, and its length; nothing if there is no more.
fn first_part(text: &str, kind: TracerKind) -> Option<(Part<'_>, usize)> {
    let is_line_comment = |text: &str| text.starts_with("//") || (kind == TracerKind::Stap && text.starts_with('#'));
    let is_other = |text: &str| text.starts_with('"') || text.starts_with("/*") || is_line_comment(text);
    let (part, length): (fn(_) -> _, _) = if let Some(comment) = text.strip_prefix("/*") {
        (Part::Comment, comment.find("*/").map_or(text.len(), |end| end + 4))
    } else if is_line_comment(text) {
        (Part::Comment, text.find('\n').unwrap_or(text.len()))
    } else if text.starts_with('"') {
        (Part::Text, string_end(text))
    } else {
        let other = text.char_indices().map(|(at, _)| at).find(|&at| is_other(&text[at..]));
        (Part::Code, other.unwrap_or(text.len()))
    };
    (length > 0).then(|| (part(&text[..length]), length))
}

/// `text` without its comments; strings stay.
pub fn without_comments(text: &str, kind: TracerKind) -> String {
    let shown = |part| match part {
        Part::Code(text) | Part::Text(text) => text,
        Part::Comment(_) => " ",
    };
    parts(text, kind).map(shown).collect()
}

/// Where the string that `text` begins with ends.
fn string_end(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            _ => escaped = c == '\\' && !escaped,
        }
    }
    text.len()
}

/// The first attach point of a script for bpftrace that names a program by its path, instead of by the script's first parameter.
pub fn fixed_attach_point(text: &str) -> Option<String> {
    let code = without_comments(text, TracerKind::Bpftrace);
    attach_points(&code).find(|point| !point.starts_with("$1:")).map(|point| format!("usdt:{point}"))
}

/// The probes that a script names, as patterns.
#[derive(Debug, PartialEq, Eq)]
pub struct Named(Vec<(String, String)>);

impl Named {
    /// Reads the probe descriptions in `text`.
    pub fn read(text: &str, kind: TracerKind) -> Named {
        let code = without_comments(text, kind);
        Named(match kind {
            TracerKind::Dtrace => d_descriptions(&code),
            TracerKind::Stap => marks(&code),
            TracerKind::Bpftrace => usdt_attach_points(&code),
        })
    }

    /// Those of these names, each with its provider: `dyntrace:efile_drv-entry`.
    pub fn exactly<'a>(probes: impl Iterator<Item = &'a str>) -> Named {
        let split = |probe: &'a str| probe.split_once(':').unwrap_or(("", probe));
        Named(probes.map(split).map(|(provider, probe)| (provider.to_owned(), probe.to_owned())).collect())
    }

    /// Their names without the provider, as in its definition.
    pub fn names(&self) -> Vec<String> {
        self.0.iter().map(|(_, probe)| probe.replace('-', "__")).collect()
    }

    /// Whether the probe at a site is among them.
    pub fn includes(&self, note: &Note) -> bool {
        let name = note.tool_name();
        self.0
            .iter()
            .any(|(provider, probe)| matches(provider, &note.provider) && matches(&probe.replace("__", "-"), &name))
    }
}

/// Whether `text` fits a pattern of the shell's kind; an empty pattern fits everything.
fn matches(pattern: &str, text: &str) -> bool {
    pattern.is_empty() || glob::Pattern::new(pattern).is_ok_and(|pattern| pattern.matches(text))
}

/// `provider$target:module:function:name`, at the end of which the name may be empty.
fn d_descriptions(code: &str) -> Vec<(String, String)> {
    code.split(|c: char| c.is_whitespace() || ";{},/\"()".contains(c))
        .filter_map(|word| {
            let mut fields = word.splitn(4, ':');
            let (provider, _module, _function, name) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
            let provider = provider.split('$').next()?.trim_end_matches(|c: char| c.is_ascii_digit());
            (!provider.is_empty()).then(|| (provider.to_owned(), name.to_owned()))
        })
        .collect()
}

/// `.mark("name")`, for any provider.
fn marks(code: &str) -> Vec<(String, String)> {
    code.split(".mark(")
        .skip(1)
        .filter_map(|rest| rest.trim_start().strip_prefix('"')?.split('"').next())
        .map(|name| (String::new(), name.to_owned()))
        .collect()
}

/// `usdt:path:provider:name`; the path may be quoted, the provider left out.
fn usdt_attach_points(code: &str) -> Vec<(String, String)> {
    attach_points(code)
        .map(|point| {
            let mut fields = point.rsplitn(3, ':');
            let name = fields.next().unwrap_or_default().to_owned();
            let provider = fields.next().filter(|provider| !provider.contains(['/', '$'])).unwrap_or_default();
            (provider.to_owned(), name)
        })
        .collect()
}

/// The text after each `usdt:` in a script for bpftrace.
fn attach_points(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| c.is_whitespace() || ";{},()".contains(c))
        .filter_map(|word| word.strip_prefix("usdt:").or_else(|| word.strip_prefix("U:")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(provider: &str, name: &str) -> Note {
        Note {
            provider: provider.into(),
            name: name.into(),
            location: 0,
            base: 0,
            semaphore: None,
            operands: Vec::new(),
        }
    }

    #[test]
    fn comments_go_and_strings_stay() {
        let text = "a // b\n/* c\n d */ \"// \\\" /* e */\" f /* never ends";
        assert_eq!(without_comments(text, TracerKind::Bpftrace), "a  \n  \"// \\\" /* e */\" f  ");
        assert_eq!(without_comments("# x\ny", TracerKind::Stap), " \ny");
        assert_eq!(without_comments("#pragma D option quiet", TracerKind::Dtrace), "#pragma D option quiet");
    }

    #[test]
    fn every_language_names_its_probes() {
        let entry = note("dyntrace", "efile_drv__int_entry");
        for (kind, text) in [
            (TracerKind::Dtrace, "dyntrace$target:::efile_drv-int_entry,\ndyntrace$target:::x { a ? b : c; }"),
            (TracerKind::Dtrace, "dyntrace4711:::efile_drv-int*{}"),
            (TracerKind::Dtrace, "dyntrace$target:::\n{ @[probename] = count(); }"),
            (TracerKind::Stap, "probe process(@1).mark(\"efile_drv-int*\") {}"),
            (TracerKind::Stap, "probe process(@1).mark( \"efile_drv__int_entry\" ) {}"),
            (TracerKind::Bpftrace, "usdt:/a/c:dyntrace:efile_drv__int_entry { }"),
            (TracerKind::Bpftrace, "BEGIN {}\nusdt:\"/a/b\":dyntrace:efile_drv__int*{ }"),
            (TracerKind::Bpftrace, "usdt:/a/b:efile_drv__int_entry { }"),
            (TracerKind::Bpftrace, "usdt:$1:efile_drv__int_entry { }"),
            (TracerKind::Bpftrace, "usdt:$1:dyntrace:efile_drv__int_entry { }"),
        ] {
            let named = Named::read(text, kind);
            assert!(named.includes(&entry), "{kind}: {text}");
            assert!(!Named::read(&format!("/* {text} */"), kind).includes(&entry), "{kind}: {text}");
        }
        let other = Named::read("usdt:/x:dyntrace:message__send {}", TracerKind::Bpftrace);
        assert!(!other.includes(&entry));
        assert!(
            !Named::read("usdt:/x:dyntrace:efile_drv__int_entry {}", TracerKind::Bpftrace)
                .includes(&note("other", "efile_drv__int_entry"))
        );
    }

    #[test]
    fn a_program_named_by_its_path_is_noticed() {
        assert_eq!(fixed_attach_point("usdt:$1:a:b {} usdt:/bin/x:a:c {}").as_deref(), Some("usdt:/bin/x:a:c"));
        assert_eq!(fixed_attach_point("// usdt:/bin/x:a:c\nusdt:$1:a:b, usdt:$1:a:c {}"), None);
    }

    #[test]
    fn a_misspelt_name_gets_a_hint() {
        let error = Script::find("efile_driver").err().unwrap().to_string();
        assert!(error.contains("did you mean efile_drv?"), "{error}");
        let error = Script::find("zzz").err().unwrap().to_string();
        assert!(!error.contains("did you mean") && error.contains("shipped are: "), "{error}");
    }

    #[test]
    fn the_language_shows_in_the_name() {
        assert_eq!(language(Path::new("a/b.stp")), Some(TracerKind::Stap));
        assert_eq!(language(Path::new("efile_drv")), None);
    }

    #[test]
    fn a_file_tells_its_language_by_its_name() {
        assert!(matches!(Script::find("/etc/passwd"), Err(Error::Language(_))));
        assert!(matches!(Script::find("/nonexistent/x.bt"), Err(Error::Read { .. })));
    }

    #[test]
    fn other_scripts_have_no_slow_polls() {
        let other = Script::Shipped(scripts::find("messages").unwrap());
        let said = other.settings(Some(1)).err().unwrap().error.to_string();
        assert_eq!(said, "messages takes no --slow: only task_latency shows slow polls");
        assert_eq!(other.settings(None).ok().unwrap().slow, Settings::default().slow);
    }
}
