//! The protocol of control sockets.
//!
//! A message is a length (four bytes, little endian, at most [`LONGEST`]) and that many bytes of UTF-8. The client's first message is the
//! [`GREETING`], which contains the version; each later one is a [`Request`]. The server answers each message with a [`Reply`], in order.
//!
//! | request | the answer's records |
//! |---|---|
//! | `start OPTIONS` | one: `session`, the number of the new session, which ends with the connection |
//! | `change ID CHANGE` | none |
//! | `stop ID` | one: the session's last status |
//! | `snapshot ID DIRECTORY` | one: the snapshot |
//! | `status` | one of the process, then one of each session |
//! | `metrics` | one of all pools, then one of each lane, of each command and of each session |
//! | `trace RECORD` | one of each pattern; then the messages of [`crate::trace::remote`] |
//! | `code RECORD` | see [`crate::code::remote`] |
//! | `monitor RECORD` | none; then the messages of the monitor's room, `monitor/remote.rs` |

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::glob::Glob;
use crate::recorder::filter::Filter;
use crate::recorder::options::Options;
use crate::recorder::options::text::{Change, OptionsError, parse_change};

/// The first message of every connection.
pub const GREETING: &str = "dyntrace 1";
/// The most bytes of a message after its length.
pub const LONGEST: usize = 64 << 10;
/// The size of the length, in bytes.
const LENGTH: usize = 4;

/// Why received bytes are invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProtocolError {
    /// A message is longer than allowed.
    #[error("a message of {0} bytes; {LONGEST} are the most")]
    TooLong(usize),
    /// A message is not UTF-8.
    #[error("a message that is not UTF-8")]
    NotUtf8,
    /// The first message is not the greeting.
    #[error("{0:?} instead of {GREETING:?}")]
    Greeting(String),
    /// An unknown request.
    #[error(
        "{0:?} is no request: expected start OPTIONS, change ID CHANGE, stop ID, snapshot ID DIRECTORY, status, metrics, trace RECORD, code RECORD, or monitor RECORD"
    )]
    Request(String),
    /// Invalid options.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// A relative path: client and server may have different working directories.
    #[error("the directory {0:?} is relative: give an absolute path")]
    Relative(PathBuf),
    /// An invalid answer.
    #[error("{0:?} is no answer")]
    Reply(String),
}

/// Encodes `text` as a message.
///
/// # Errors
///
/// [`ProtocolError::TooLong`].
pub fn frame(text: &str) -> Result<Vec<u8>, ProtocolError> {
    let length =
        u32::try_from(text.len()).ok().filter(|_| text.len() <= LONGEST).ok_or(ProtocolError::TooLong(text.len()))?;
    Ok([&length.to_le_bytes(), text.as_bytes()].concat())
}

/// Removes the first message from the received bytes; `None` if it is not complete.
///
/// # Errors
///
/// [`ProtocolError::TooLong`], [`ProtocolError::NotUtf8`]. The bytes that follow are invalid, too.
pub fn take(arrived: &mut Vec<u8>) -> Result<Option<String>, ProtocolError> {
    let Some((length, rest)) = arrived.split_first_chunk::<LENGTH>() else { return Ok(None) };
    let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
    if length > LONGEST {
        return Err(ProtocolError::TooLong(length));
    }
    let Some(text) = rest.get(..length) else { return Ok(None) };
    let text = str::from_utf8(text).map_err(|_| ProtocolError::NotUtf8)?.to_owned();
    arrived.drain(..LENGTH + length);
    Ok(Some(text))
}

/// A request to a process.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Request {
    /// Start a session.
    Start(Options),
    /// Change the probes and events that a session records.
    Change {
        /// The number of the session.
        session: u32,
        /// The probes, as in [`Options::probes`].
        probes: Vec<Glob>,
        /// The events.
        filter: Filter,
    },
    /// Stop a session.
    Stop(u32),
    /// Write a snapshot of a session in overwrite mode to a folder.
    Snapshot(u32, PathBuf),
    /// Report the status of process and sessions.
    Status,
    /// Report the counts of the pools and sessions.
    Metrics,
    /// Trace calls of functions. The recorder hands the connection over.
    Trace(Record),
    /// Load, upgrade, purge or list modules. The recorder hands the connection over.
    Code(Record),
    /// Tell when limits are crossed. The recorder hands the connection over.
    Monitor(Record),
}

impl FromStr for Request {
    type Err = ProtocolError;

    fn from_str(text: &str) -> Result<Request, ProtocolError> {
        let unknown = || ProtocolError::Request(text.to_owned());
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        let (number, argument) = rest.split_once(' ').unwrap_or((rest, ""));
        let session = || number.parse().map_err(|_| unknown());
        Ok(match word {
            "start" => {
                let options: Options = rest.parse()?;
                Request::Start(Options { directory: absolute(&options.directory)?, ..options })
            }
            "change" => {
                let (probes, filter) = parse_change(argument)?;
                Request::Change { session: session()?, probes, filter }
            }
            "stop" if argument.is_empty() => Request::Stop(session()?),
            "snapshot" if !argument.is_empty() => Request::Snapshot(session()?, absolute(argument.as_ref())?),
            "status" if rest.is_empty() => Request::Status,
            "metrics" if rest.is_empty() => Request::Metrics,
            "trace" => Request::Trace(rest.parse().map_err(|_| unknown())?),
            "code" => Request::Code(rest.parse().map_err(|_| unknown())?),
            "monitor" => Request::Monitor(rest.parse().map_err(|_| unknown())?),
            _ => return Err(unknown()),
        })
    }
}

fn absolute(directory: &Path) -> Result<PathBuf, ProtocolError> {
    if directory.is_absolute() { Ok(directory.to_owned()) } else { Err(ProtocolError::Relative(directory.to_owned())) }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Request::Start(options) => write!(f, "start {options}"),
            Request::Change { session, probes, filter } => write!(f, "change {session} {}", Change { probes, filter }),
            Request::Stop(session) => write!(f, "stop {session}"),
            Request::Snapshot(session, directory) => write!(f, "snapshot {session} {}", directory.to_string_lossy()),
            Request::Status => f.write_str("status"),
            Request::Metrics => f.write_str("metrics"),
            Request::Trace(wish) => write!(f, "trace {wish}"),
            Request::Code(order) => write!(f, "code {order}"),
            Request::Monitor(limits) => write!(f, "monitor {limits}"),
        }
    }
}

/// Named values, such as a number of events or the folder of a session.
///
/// As text: `NAME=VALUE`, separated by tabs. Newlines, tabs and backslashes in values are written `\n`, `\t`, `\\`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record(Vec<(String, String)>);

impl Record {
    /// Adds a value. A name consists of letters, digits and `_`.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl fmt::Display) -> Record {
        self.0.push((name.to_owned(), value.to_string()));
        self
    }

    /// The value of that name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|&(key, _)| key == name).map(|(_, value)| value)
    }

    /// The value of that name, if it is a number.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.parse().ok()
    }

    /// All names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, value)) in self.iter().enumerate() {
            let value = value.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t");
            write!(f, "{}{name}={value}", if i == 0 { "" } else { "\t" })?;
        }
        Ok(())
    }
}

impl FromStr for Record {
    type Err = ProtocolError;

    fn from_str(text: &str) -> Result<Record, ProtocolError> {
        let part = |part: &str| part.split_once('=').map(|(name, value)| (name.to_owned(), unescape(value)));
        let parts = text.split('\t').map(part).collect::<Option<_>>();
        parts.map(Record).ok_or_else(|| ProtocolError::Reply(text.to_owned()))
    }
}

/// The answer to a message: records, or the reason of a refusal.
///
/// As text: `ok`, followed by each record on a line of its own, or `error WHY`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply(pub Result<Vec<Record>, String>);

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let records = match &self.0 {
            Ok(records) => records,
            Err(why) => return write!(f, "error {why}"),
        };
        f.write_str("ok")?;
        records.iter().filter(|record| !record.0.is_empty()).try_for_each(|record| write!(f, "\n{record}"))
    }
}

impl FromStr for Reply {
    type Err = ProtocolError;

    fn from_str(text: &str) -> Result<Reply, ProtocolError> {
        let unknown = || ProtocolError::Reply(text.to_owned());
        if let Some(why) = text.strip_prefix("error ") {
            return Ok(Reply(Err(why.to_owned())));
        }
        let mut lines = text.split('\n');
        if lines.next() != Some("ok") {
            return Err(unknown());
        }
        lines
            .map(str::parse)
            .collect::<Result<_, _>>()
            .map(|records| Reply(Ok(records)))
            .map_err(|_: ProtocolError| unknown())
    }
}

fn unescape(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(c) = characters.next() {
        let escaped = if c == '\\' { characters.next() } else { None };
        out.push(match escaped {
            Some('n') => '\n',
            Some('t') => '\t',
            Some(other) => other,
            None => c,
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn requests() {
        let options = Options::new("/var/tmp/a b");
        assert_eq!("start record:/var/tmp/a b".parse(), Ok(Request::Start(options)));
        let filter = Filter { failed: true, ..Filter::default() };
        let change = Request::Change { session: 3, probes: vec!["efile*".into()], filter };
        assert_eq!("change 3 probes=efile*,failed".parse(), Ok(change));
        let nothing = Request::Change { session: 3, probes: vec![], filter: Filter::default() };
        assert_eq!("change 3 ".parse(), Ok(nothing.clone()));
        assert_eq!("change 3".parse(), Ok(nothing));
        assert_eq!("snapshot 1 /tmp/a b".parse(), Ok(Request::Snapshot(1, "/tmp/a b".into())));
        assert_eq!("stop 2".parse(), Ok(Request::Stop(2)));
        assert_eq!("status".parse(), Ok(Request::Status));
        assert_eq!(Request::Metrics.to_string().parse(), Ok(Request::Metrics));
    }

    #[test]
    fn malformed_requests_are_refused() {
        for text in [
            "", "begin", "stop", "stop x", "stop 1 2", "stop -1", "status 1", "metrics 1", "snapshot 1",
            "snapshot x /t", "change x failed", "trace", "trace x", "code x",
        ] {
            assert!(matches!(text.parse::<Request>(), Err(ProtocolError::Request(_))), "{text}");
        }
        assert!(matches!("start record:/t,x".parse::<Request>(), Err(ProtocolError::Options(_))));
        for text in ["start record:here", "snapshot 1 here"] {
            assert!(matches!(text.parse::<Request>(), Err(ProtocolError::Relative(_))), "{text}");
        }
    }

    #[test]
    fn messages_arrive_in_pieces() {
        let whole = [frame("one").unwrap(), frame("").unwrap(), frame("zwei ü").unwrap()].concat();
        let mut arrived = Vec::new();
        let mut messages = Vec::new();
        for byte in whole {
            arrived.push(byte);
            messages.extend(take(&mut arrived).unwrap());
        }
        assert_eq!(messages, ["one", "", "zwei ü"]);
        assert_eq!(arrived, b"");
    }

    #[test]
    fn malformed_messages_are_refused() {
        assert_eq!(take(&mut vec![1, 0, 1, 0]), Err(ProtocolError::TooLong(65537)));
        assert_eq!(take(&mut vec![1, 0, 0, 0, 0xff]), Err(ProtocolError::NotUtf8));
        assert_eq!(frame(&"x".repeat(LONGEST + 1)), Err(ProtocolError::TooLong(LONGEST + 1)));
    }

    prop_compose! {
        fn record()(parts in prop::collection::vec(("[a-z_0-9]+", ".*|[\n\t\\\\nt]*"), 1..4)) -> Record {
            parts.iter().fold(Record::default(), |record, (name, value)| record.with(name, value))
        }
    }

    proptest! {
        #[test]
        fn replies_read_back(records in prop::collection::vec(record(), 0..4), why: String) {
            for reply in [Reply(Ok(records)), Reply(Err(why))] {
                prop_assert_eq!(reply.to_string().parse(), Ok(reply));
            }
        }

        #[test]
        fn requests_read_back(session: u32, directory in "/[^\n]*", text: String, wish in record()) {
            let options = Options { filter: Filter { tag: Some(text.into()), ..Filter::default() }, ..Options::new(&directory) };
            let [trace, code] = [Request::Trace(wish.clone()), Request::Code(wish)];
            let snapshot = Request::Snapshot(session, directory.into());
            for request in [Request::Start(options), Request::Stop(session), snapshot, trace, code] {
                prop_assert_eq!(request.to_string().parse(), Ok(request));
            }
        }

        #[test]
        fn any_bytes_are_understood_or_refused(mut bytes: Vec<u8>, text: String) {
            while let Ok(Some(_)) = take(&mut bytes) {}
            let _ = text.parse::<Request>();
            let _ = format!("change 1 {text}").parse::<Request>();
            let _ = text.parse::<Reply>();
            let _ = format!("ok\n{text}").parse::<Reply>();
        }
    }
}
