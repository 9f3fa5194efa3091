//! Limits, and their text form: `long_schedule:100ms,long_wait:5s,too_many_tasks:10000,snapshot`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::kind::Kind;
use crate::recorder::{time, write_time};

/// The shortest time of a limit.
pub(super) const SHORTEST: Duration = Duration::from_millis(1);
/// The longest one.
pub(super) const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// The word that asks for snapshots.
const SNAPSHOT: &str = "snapshot";

/// The limits of a monitor, and whether flight recorders take snapshots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Limits {
    /// By kind: nanoseconds, or a number.
    of: [Option<u64>; Kind::ALL.len()],
    pub(super) snapshot: bool,
}

/// Why limits are invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitsError {
    /// There is none.
    #[error("a monitor needs a limit: {KINDS}")]
    None,
    /// An unknown kind.
    #[error("{0:?} is no kind of event with a limit: expected {KINDS}, or snapshot")]
    Unknown(String),
    /// A kind that occurs twice.
    #[error("{0} is given twice")]
    Twice(Kind),
    /// An invalid limit.
    #[error("the limit {value:?} of {kind}: expected {}", expected(*.kind))]
    Value {
        /// The kind.
        kind: Kind,
        /// The text found.
        value: String,
    },
}

const KINDS: &str = "long_schedule:TIME, long_wait:TIME, long_message_queue:NUMBER, busy_port:NUMBER, long_blocking_queue:NUMBER, \
                     too_many_tasks:NUMBER";

fn expected(kind: Kind) -> &'static str {
    if kind.is_time() { "a time from 1ms to 24h, in us, ms or s, like 100ms" } else { "a whole number, like 1000" }
}

impl Limits {
    pub(super) fn get(&self, kind: Kind) -> Option<u64> {
        self.of[kind as usize]
    }

    pub(super) fn set(&mut self, kind: Kind, limit: u64) {
        self.of[kind as usize] = Some(limit);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Kind, u64)> {
        Kind::ALL.into_iter().filter_map(|kind| Some((kind, self.get(kind)?)))
    }

    /// Whether a monitor can have them.
    pub(super) fn check(&self) -> Result<(), LimitsError> {
        let times = SHORTEST.as_nanos() as u64..=LONGEST.as_nanos() as u64;
        if let Some((kind, limit)) = self.iter().find(|(kind, limit)| kind.is_time() && !times.contains(limit)) {
            return Err(LimitsError::Value { kind, value: Limit(kind, limit).to_string() });
        }
        self.iter().next().map(|_| ()).ok_or(LimitsError::None)
    }
}

impl FromStr for Limits {
    type Err = LimitsError;

    fn from_str(text: &str) -> Result<Limits, LimitsError> {
        let mut limits = Limits::default();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            if part == SNAPSHOT {
                limits.snapshot = true;
                continue;
            }
            let known = part.split_once(':').and_then(|(name, value)| {
                let kind = Kind::ALL.into_iter().find(|kind| kind.name() == name)?;
                Some((kind, value))
            });
            let (kind, value) = known.ok_or_else(|| LimitsError::Unknown(part.to_owned()))?;
            if limits.get(kind).is_some() {
                return Err(LimitsError::Twice(kind));
            }
            let limit = match kind.is_time() {
                true => time(value).and_then(|time| u64::try_from(time.as_nanos()).ok()),
                false => value.parse().ok(),
            };
            limits.set(kind, limit.ok_or_else(|| LimitsError::Value { kind, value: value.to_owned() })?);
        }
        limits.check()?;
        Ok(limits)
    }
}

impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limits = self.iter().map(|(kind, limit)| format!("{kind}:{}", Limit(kind, limit)));
        let words: Vec<String> = limits.chain(self.snapshot.then(|| SNAPSHOT.to_owned())).collect();
        f.write_str(&words.join(","))
    }
}

/// A limit or an amount of a kind.
pub(super) struct Limit(pub(super) Kind, pub(super) u64);

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_time() { write_time(Duration::from_nanos(self.1), f) } else { self.1.fmt(f) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_read_back() {
        for text in [
            "long_schedule:100ms",
            "long_schedule:1ms,long_wait:5s,long_message_queue:0,busy_port:128,long_blocking_queue:7,too_many_tasks:10000,snapshot",
        ] {
            assert_eq!(text.parse::<Limits>().unwrap().to_string(), text);
        }
        let limits: Limits = "snapshot,,long_wait:1500us".parse().unwrap();
        assert!(limits.snapshot && limits.iter().eq([(Kind::LongWait, 1_500_000)]), "{limits:?}");
    }

    #[test]
    fn wrong_limits_say_what_is_right() {
        for (text, why) in [
            ("", "a monitor needs a limit: long_schedule:TIME"),
            ("snapshot", "a monitor needs a limit"),
            ("long_gc:5ms", "\"long_gc:5ms\" is no kind of event with a limit: expected long_schedule:TIME"),
            ("long_wait", "\"long_wait\" is no kind of event with a limit"),
            ("long_wait:5s,long_wait:6s", "long_wait is given twice"),
            ("long_wait:5", "the limit \"5\" of long_wait: expected a time from 1ms to 24h"),
            ("long_wait:999us", "the limit \"999us\" of long_wait"),
            ("long_schedule:86401s", "the limit \"86401s\" of long_schedule"),
            ("busy_port:5s", "the limit \"5s\" of busy_port: expected a whole number"),
            ("busy_port:-1", "the limit \"-1\" of busy_port"),
        ] {
            let error = text.parse::<Limits>().unwrap_err().to_string();
            assert!(error.starts_with(why), "{text}: {error}");
        }
    }
}
