//! Options as text.

use std::fmt::{self, Write as _};
use std::str::FromStr;
use std::time::Duration;

use dyntrace_metadata::Format;

use super::triggers::Triggers;
use super::{Mode, Options};
use crate::glob::Glob;
use crate::recorder::filter::Filter;

/// Why a text cannot be parsed as options.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// It does not begin with `record:DIRECTORY`.
    #[error(
        "{0:?} does not begin with record:DIRECTORY; an example: record:/tmp/trace,probes=efile_drv*,mode=overwrite"
    )]
    NotRecord(String),
    /// An unknown option.
    #[error("{name:?} is not one of the options: {allowed}")]
    Unknown {
        /// The text found.
        name: String,
        /// The values allowed there.
        allowed: &'static str,
    },
    /// An option that occurs twice.
    #[error("{0} is given twice")]
    Twice(&'static str),
    /// An invalid value.
    #[error("{option}={value:?}: {allowed}")]
    Value {
        /// The option.
        option: &'static str,
        /// The text found.
        value: String,
        /// The values allowed there.
        allowed: &'static str,
    },
    /// Triggers that can never take a snapshot.
    #[error("{0}")]
    Triggers(&'static str),
}

const BEGINNING: &str = "record:";
const KEYS: &str = "probes=GLOB+GLOB, mode=stream|discard|overwrite, size=BYTES, tag=GLOB, command=NUMBER, \
                    path=GLOB, process=PID, thread=NUMBER, rate=NUMBER, failed, format=ctf1.8|ctf2, on-panic, \
                    slower=TIME, snapshots=NUMBER";
const CHANGEABLE: &str = "probes=GLOB+GLOB, tag=GLOB, command=NUMBER, path=GLOB, process=PID, thread=NUMBER, rate=NUMBER, failed can \
                          be changed";

impl FromStr for Options {
    type Err = OptionsError;

    fn from_str(options: &str) -> Result<Options, OptionsError> {
        parse(options)
    }
}

impl fmt::Display for Options {
    /// Writes a text that parses as these options, if the directory's name is UTF-8.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(self, f)
    }
}

/// Parses `record:DIRECTORY,...`.
fn parse(text: &str) -> Result<Options, OptionsError> {
    let not_record = || OptionsError::NotRecord(text.to_owned());
    let mut parts = split(text.strip_prefix(BEGINNING).ok_or_else(not_record)?, ',');
    let directory = parts.next().map(plain).filter(|directory| !directory.is_empty()).ok_or_else(not_record)?;
    let mut reader = Reader { options: Options::new(directory), seen: Vec::new() };
    for part in parts {
        if !reader.read_changeable(part)? && !reader.read_fixed(part)? {
            return Err(OptionsError::Unknown { name: plain(part), allowed: KEYS });
        }
    }
    match reader.options.idle_triggers() {
        Some(why) => Err(OptionsError::Triggers(why)),
        None => Ok(reader.options),
    }
}

/// Parses the options that a running session can change, such as `probes=...,tag=...,failed`. Options left out have their defaults.
pub(crate) fn parse_change(text: &str) -> Result<(Vec<Glob>, Filter), OptionsError> {
    let mut reader = Reader { options: Options::new(""), seen: Vec::new() };
    for part in split(text, ',').filter(|part| !part.is_empty()) {
        if !reader.read_changeable(part)? {
            return Err(OptionsError::Unknown { name: plain(part), allowed: CHANGEABLE });
        }
    }
    Ok((reader.options.probes, reader.options.filter))
}

struct Reader {
    options: Options,
    seen: Vec<&'static str>,
}

impl Reader {
    fn read_changeable(&mut self, part: &str) -> Result<bool, OptionsError> {
        if part == "failed" {
            self.once("failed")?;
            self.options.filter.failed = true;
            return Ok(true);
        }
        match part.split_once('=') {
            Some(("probes", value)) => {
                self.once("probes")?;
                self.options.probes = split(value, '+').map(|glob| plain(glob).replace("__", "-").into()).collect();
            }
            Some(("tag", value)) => {
                self.once("tag")?;
                self.options.filter.tag = Some(plain(value).into());
            }
            Some(("path", value)) => {
                self.once("path")?;
                self.options.filter.path = Some(plain(value).into());
            }
            Some(("command", value)) => {
                self.options.filter.command = self.parsed("command", value, "expected the number of a command")?;
            }
            Some(("process", value)) => {
                self.options.filter.process = self.parsed("process", value, "expected a process like <0.57.0>")?;
            }
            Some(("thread", value)) => {
                let allowed = "expected the first number of operations' names";
                self.options.filter.thread = self.parsed("thread", value, allowed)?;
            }
            Some(("rate", value)) => {
                let allowed = "expected how many events of a probe there may be in a second";
                self.options.filter.rate = self.parsed("rate", value, allowed)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn read_fixed(&mut self, part: &str) -> Result<bool, OptionsError> {
        if part == "on-panic" {
            self.once("on-panic")?;
            self.options.triggers.on_panic = true;
            return Ok(true);
        }
        match part.split_once('=') {
            Some(("mode", value)) => {
                self.once("mode")?;
                let mode = Mode::ALL.into_iter().find(|mode| mode.name() == value);
                self.options.mode = mode.ok_or_else(|| bad("mode", value, "expected stream, discard or overwrite"))?;
            }
            Some(("size", value)) => {
                self.once("size")?;
                let size = bytes(value).filter(|size| (Options::SMALLEST..=Options::LARGEST).contains(size));
                let size =
                    size.ok_or_else(|| bad("size", value, "expected a number of bytes from 64K to 64G, like 16M"));
                self.options.size = Some(size?);
            }
            Some(("format", value)) => {
                self.once("format")?;
                let format = Format::ALL.into_iter().find(|format| format.name() == value);
                self.options.format = format.ok_or_else(|| bad("format", value, "expected ctf1.8 or ctf2"))?;
            }
            Some(("slower", value)) => {
                self.once("slower")?;
                let slower = time(value).filter(|time| !time.is_zero());
                let slower =
                    slower.ok_or_else(|| bad("slower", value, "expected a time in ns, us, ms or s, like 100ms"));
                self.options.triggers.slower = Some(slower?);
            }
            Some(("snapshots", value)) => {
                self.once("snapshots")?;
                let bad = || bad("snapshots", value, "expected a number, like 10");
                self.options.triggers.snapshots = value.parse().map_err(|_| bad())?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Parses a value by its type.
    fn parsed<T: FromStr>(
        &mut self,
        option: &'static str,
        value: &str,
        allowed: &'static str,
    ) -> Result<Option<T>, OptionsError> {
        self.once(option)?;
        value.parse().map(Some).map_err(|_| bad(option, value, allowed))
    }

    fn once(&mut self, option: &'static str) -> Result<(), OptionsError> {
        if self.seen.contains(&option) {
            return Err(OptionsError::Twice(option));
        }
        self.seen.push(option);
        Ok(())
    }
}

fn bad(option: &'static str, value: &str, allowed: &'static str) -> OptionsError {
    OptionsError::Value { option, value: plain(value), allowed }
}

/// Parses a number of bytes, or of KiB, MiB or GiB.
fn bytes(text: &str) -> Option<u64> {
    let (digits, unit) = match text.strip_suffix(['K', 'M', 'G']) {
        None => (text, 1),
        Some(digits) if text.ends_with('K') => (digits, 1 << 10),
        Some(digits) if text.ends_with('M') => (digits, 1 << 20),
        Some(digits) => (digits, 1 << 30),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

const UNITS: [(&str, u64); 4] = [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];

/// Parses a whole number of units of time.
pub(crate) fn time(text: &str) -> Option<Duration> {
    let (digits, unit) = UNITS.iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, unit)))?;
    Some(Duration::from_nanos(digits.parse::<u64>().ok()?.checked_mul(*unit)?))
}

/// Writes a time in the largest unit that divides it.
pub(crate) fn write_time(time: Duration, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let whole = UNITS.iter().rev().find(|(_, unit)| time.is_multiple_of(*unit));
    whole.map_or(Ok(()), |(name, unit)| write!(f, "{}{name}", time / unit))
}

/// Splits `text` at separators without a backslash before them.
fn split(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut is_escaped = false;
    text.split(move |c| {
        let is_separator = c == separator && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_separator
    })
}

/// Removes the escaping backslashes from a part.
fn plain(part: &str) -> String {
    let mut out = String::with_capacity(part.len());
    let mut characters = part.chars();
    while let Some(c) = characters.next() {
        out.push(if c == '\\' { characters.next().unwrap_or(c) } else { c });
    }
    out
}

fn write(options: &Options, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(BEGINNING)?;
    escaped(f, &options.directory.to_string_lossy())?;
    if options.mode != Mode::default() {
        write!(f, ",mode={}", options.mode)?;
    }
    if options.format != Format::default() {
        write!(f, ",format={}", options.format)?;
    }
    if let Some(size) = options.size {
        write!(f, ",size={size}")?;
    }
    let change = Change { probes: &options.probes, filter: &options.filter }.to_string();
    if !change.is_empty() {
        write!(f, ",{change}")?;
    }
    write_triggers(&options.triggers, f)
}

fn write_triggers(triggers: &Triggers, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if triggers.on_panic {
        f.write_str(",on-panic")?;
    }
    if let Some(slower) = triggers.slower {
        f.write_str(",slower=")?;
        write_time(slower, f)?;
    }
    if triggers.snapshots != Triggers::SNAPSHOTS {
        write!(f, ",snapshots={}", triggers.snapshots)?;
    }
    Ok(())
}

/// The options that a running session can change, as [`parse_change`] parses them.
pub(crate) struct Change<'a> {
    pub(crate) probes: &'a [Glob],
    pub(crate) filter: &'a Filter,
}

impl fmt::Display for Change<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Filter { tag, command, path, process, thread, rate, failed } = self.filter;
        let probes: Vec<_> = self.probes.iter().map(|glob| Escaped(glob).to_string()).collect();
        let parts = [
            (!probes.is_empty()).then(|| format!("probes={}", probes.join("+"))),
            tag.as_ref().map(|tag| format!("tag={}", Escaped(tag))),
            command.map(|command| format!("command={command}")),
            path.as_ref().map(|path| format!("path={}", Escaped(path))),
            process.map(|process| format!("process={process}")),
            thread.map(|thread| format!("thread={thread}")),
            rate.map(|rate| format!("rate={rate}")),
            failed.then(|| "failed".to_owned()),
        ];
        f.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join(","))
    }
}

/// A pattern, escaped for the text of options.
struct Escaped<'a>(&'a Glob);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        escaped(f, self.0.as_str())
    }
}

fn escaped(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    for c in text.chars() {
        if matches!(c, '\\' | ',' | '+') {
            f.write_char('\\')?;
        }
        f.write_char(c)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use dyntrace_processes::process::Pid;

    fn error(text: &str) -> String {
        text.parse::<Options>().unwrap_err().to_string()
    }

    #[test]
    fn everything_at_once() {
        let text = "record:/tmp/a=b,probes=efile_drv*+aio_pool__add,mode=overwrite,size=16M,tag=req-*,command=12,path=/var/*,\
             process=<0.7.0>,thread=3,rate=9,failed,format=ctf2,on-panic,slower=100ms,snapshots=3";
        let options: Options = text.parse().unwrap();
        let mut expected = Options::new("/tmp/a=b");
        expected.probes = vec!["efile_drv*".into(), "aio_pool-add".into()];
        expected.mode = Mode::Overwrite;
        expected.size = Some(16 << 20);
        expected.format = Format::Ctf2;
        let (path, process, thread) = (Some("/var/*".into()), "<0.7.0>".parse().ok(), Some(3));
        let (tag, command, rate) = (Some("req-*".into()), Some(12), Some(9));
        expected.filter = Filter { tag, command, path, process, thread, rate, failed: true };
        expected.triggers = Triggers { on_panic: true, slower: Some(Duration::from_millis(100)), snapshots: 3 };
        assert_eq!(options, expected);
    }

    #[test]
    fn wrong_options_and_allowed_ones() {
        for (text, what) in [
            ("", "does not begin with record:DIRECTORY"),
            ("record:", "does not begin with record:DIRECTORY"),
            ("trace:/tmp", "\"trace:/tmp\" does not begin"),
            ("record:/t,mode=fast", "mode=\"fast\": expected stream, discard or overwrite"),
            ("record:/t,format=ctf3", "format=\"ctf3\": expected ctf1.8 or ctf2"),
            ("record:/t,size=1", "from 64K to 64G"),
            ("record:/t,size=99999999999999999999G", "from 64K to 64G"),
            ("record:/t,size=-1", "from 64K to 64G"),
            ("record:/t,command=RENAME", "expected the number of a command"),
            ("record:/t,process=7", "expected a process like <0.57.0>"),
            ("record:/t,thread=main", "expected the first number"),
            ("record:/t,mode=overwrite,slower=100", "slower=\"100\": expected a time in ns, us, ms or s"),
            ("record:/t,mode=overwrite,slower=0s", "slower=\"0s\": expected a time"),
            ("record:/t,mode=overwrite,slower=99999999999s", "expected a time"),
            ("record:/t,mode=overwrite,snapshots=-1", "expected a number, like 10"),
            ("record:/t,on-panic", "only a session in mode=overwrite takes snapshots"),
            ("record:/t,mode=overwrite,slower=601s", "slower can be 600s at most"),
            ("record:/t,mode=discard,slower=1s", "only a session in mode=overwrite takes snapshots"),
            ("record:/t,mode=overwrite,slower=1s,probes=*-entry", "have them among the probes"),
            ("record:/t,failed,failed", "failed is given twice"),
            ("record:/t,colour=red", "\"colour=red\" is not one of the options: probes=GLOB"),
            ("record:/t,", "\"\" is not one of the options"),
            ("record:/t,\x1b[2J", "\"\\u{1b}[2J\" is not"),
        ] {
            assert!(error(text).contains(what), "{text}: {}", error(text));
        }
    }

    #[test]
    fn separators_in_values() {
        let options: Options = r"record:/a\,b\\,tag=x\,y".parse().unwrap();
        assert_eq!(options.directory.to_str(), Some(r"/a,b\"));
        assert_eq!(options.filter.tag, Some("x,y".into()));
        assert_eq!(r"record:\".parse::<Options>().unwrap().directory.to_str(), Some(r"\"));
    }

    #[test]
    fn only_some_can_be_changed() {
        assert_eq!(parse_change(""), Ok((Vec::new(), Filter::default())));
        let filter = Filter { failed: true, ..Filter::default() };
        assert_eq!(parse_change("failed,probes=a+b"), Ok((vec!["a".into(), "b".into()], filter)));
        let error = parse_change("size=1M").unwrap_err().to_string();
        assert!(error.contains("\"size=1M\" is not one of the options") && error.contains("can be changed"), "{error}");
    }

    #[test]
    fn times_in_their_largest_unit() {
        for text in ["1ns", "1500us", "100ms", "2s", "600s"] {
            let options = format!("record:/t,mode=overwrite,slower={text}");
            assert_eq!(options.parse::<Options>().unwrap().to_string(), options);
        }
        let options: Options = "record:/t,mode=overwrite,slower=3000000us".parse().unwrap();
        assert!(options.to_string().ends_with("slower=3s"), "{options}");
    }

    prop_compose! {
        fn any_triggers()(on_panic: bool, slower in prop::option::of(1..=600_000_000_000_u64), snapshots: u32) -> Triggers {
            Triggers { on_panic, slower: slower.map(Duration::from_nanos), snapshots }
        }
    }

    prop_compose! {
        fn any_options()(
            directory in ".+",
            mode in prop::sample::select(Mode::ALL.to_vec()),
            format in prop::sample::select(Format::ALL.to_vec()),
            probes in prop::collection::vec("[^_]*", 0..4),
            size in prop::option::of(Options::SMALLEST..=Options::LARGEST),
            tag in prop::option::of(".*"),
            command: Option<i64>,
            path in prop::option::of(".*"),
            process: Option<u64>,
            thread: Option<i64>,
            rate: Option<u32>,
            failed: bool,
            triggers in any_triggers(),
        ) -> Options {
            let probes = probes.into_iter().map(Glob::from).collect();
            let (path, process) = (path.map(Glob::from), process.map(Pid::numbered));
            let filter = Filter { tag: tag.map(Glob::from), command, path, process, thread, rate, failed };
            let mut options = Options { directory: directory.into(), mode, probes, size, filter, format, triggers };
            if options.idle_triggers().is_some() {
                options.triggers = Triggers { snapshots: options.triggers.snapshots, ..Triggers::default() };
            }
            options
        }
    }

    proptest! {
        #[test]
        fn written_options_read_back(options in any_options()) {
            prop_assert_eq!(options.to_string().parse::<Options>(), Ok(options.clone()));
            let change = Change { probes: &options.probes, filter: &options.filter }.to_string();
            prop_assert_eq!(parse_change(&change), Ok((options.probes, options.filter)));
        }

        #[test]
        fn any_text_is_options_or_an_error(text: String) {
            let _ = text.parse::<Options>();
            let _ = format!("record:{text}").parse::<Options>();
            let _ = parse_change(&text);
        }
    }
}
