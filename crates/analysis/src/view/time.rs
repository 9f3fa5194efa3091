//! Points in time as text: `2026-11-21T10:00:00.000000000Z`, and as users write them.

use std::time::{Duration, UNIX_EPOCH};

use jiff::{SignedDuration, Timestamp};

const SECOND: i64 = 1_000_000_000;

/// The time, in nanoseconds since 1970.
pub fn now() -> i64 {
    UNIX_EPOCH.elapsed().map_or(0, |time| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX))
}

/// Writes times. The text up to the second is kept for the next event.
#[derive(Default)]
pub struct Time {
    second: Option<i64>,
    text: String,
}

impl Time {
    /// Appends `time`, in nanoseconds since 1970.
    pub fn append(&mut self, time: i64, out: &mut Vec<u8>) {
        let second = time.div_euclid(SECOND);
        if self.second != Some(second) {
            self.second = Some(second);
            // Every i64 of nanoseconds is in the range of Timestamp.
            self.text = Timestamp::from_second(second).unwrap_or_default().strftime("%Y-%m-%dT%H:%M:%S.").to_string();
        }
        out.extend_from_slice(self.text.as_bytes());
        let mut rest = time.rem_euclid(SECOND);
        let mut digits = *b"000000000Z";
        for digit in digits[..9].iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
        out.extend_from_slice(&digits);
    }
}

/// A point in time as users give it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instant {
    /// Nanoseconds since 1970.
    At(i64),
    /// Nanoseconds after the first event.
    After(i64),
}

impl Instant {
    /// Nanoseconds since 1970, if the first event was at `first`.
    pub fn at(self, first: i64) -> i64 {
        match self {
            Instant::At(time) => time,
            Instant::After(time) => first.saturating_add(time),
        }
    }
}

/// Reads `2026-11-21T10:00:00Z` or `1.5s`.
pub fn instant(text: &str) -> Result<Instant, String> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return i64::try_from(time.as_nanosecond())
            .map(Instant::At)
            .map_err(|_| "expected a year between 1678 and 2262".to_owned());
    }
    duration(text).map(Instant::After).map_err(|_| {
        "expected a date and time like 2026-11-21T10:00:00.5Z, or a duration after the first event like 1.5s".to_owned()
    })
}

/// Reads `1.5s` or `200us`, in nanoseconds.
pub fn duration(text: &str) -> Result<i64, String> {
    let duration: Option<SignedDuration> =
        text.parse().ok().filter(|duration: &SignedDuration| !duration.is_negative());
    let nanoseconds = duration.and_then(|duration| i64::try_from(duration.as_nanos()).ok());
    nanoseconds.ok_or_else(|| "expected a number with a unit, like 1.5s, 20ms or 300us".to_owned())
}

/// The same.
pub fn length(text: &str) -> Result<Duration, String> {
    Ok(Duration::from_nanos(duration(text)?.unsigned_abs()))
}

/// Reads a duration of at least that many milliseconds.
pub fn at_least<const MILLISECONDS: u64>(text: &str) -> Result<Duration, String> {
    let duration = length(text)?;
    let is_enough = duration >= Duration::from_millis(MILLISECONDS);
    is_enough.then_some(duration).ok_or_else(|| format!("it is shorter than {MILLISECONDS}ms"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_with_all_their_digits() {
        let mut time = Time::default();
        let mut written = |at| {
            let mut out = Vec::new();
            time.append(at, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(written(0), "1970-01-01T00:00:00.000000000Z");
        assert_eq!(written(1_795_255_200_000_000_001), "2026-11-21T10:00:00.000000001Z");
        assert_eq!(written(1_795_255_200_999_999_999), "2026-11-21T10:00:00.999999999Z");
        assert_eq!(written(-1), "1969-12-31T23:59:59.999999999Z");
        for extreme in [i64::MIN, i64::MAX] {
            let text = written(extreme);
            assert_eq!(i128::from(extreme), text.parse::<Timestamp>().unwrap().as_nanosecond());
        }
    }

    #[test]
    fn times_as_users_write_them() {
        assert_eq!(instant("2026-11-21T10:00:00.5Z"), Ok(Instant::At(1_795_255_200_500_000_000)));
        assert_eq!(instant("2026-11-21 12:00+02"), Ok(Instant::At(1_795_255_200_000_000_000)));
        assert_eq!(instant("1.5s").map(|at| at.at(100)), Ok(1_500_000_100));
        assert_eq!(duration("300us"), Ok(300_000));
        assert_eq!(duration("1m 30s"), Ok(90_000_000_000));
        for wrong in ["", "5", "-1s", "yesterday", "1e9999s"] {
            assert!(instant(wrong).is_err() && duration(wrong).is_err(), "{wrong}");
        }
    }
}
