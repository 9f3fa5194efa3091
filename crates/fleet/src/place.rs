//! The folder of a row: its host, date and hour.

use std::fmt::Write as _;

use jiff::Timestamp;
use jiff::tz::TimeZone;

const SECONDS_OF_HOUR: i64 = 3600;
const HOUR: i64 = SECONDS_OF_HOUR * 1_000_000_000;

/// The longest encoded name of a host. A longer one is cut, and gets a hash of the whole name.
const LONGEST: usize = 200;

/// The value that stands for no name: Spark and DuckDB 2 read it as null.
const NULL: &str = "__HIVE_DEFAULT_PARTITION__";

/// The host and the hour of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RowPlace {
    /// Whole hours since 1970, in UTC.
    hour: i64,
}

impl RowPlace {
    /// Returns the place of rows at this time, in nanoseconds since 1970.
    pub fn at(time: i64) -> RowPlace {
        RowPlace { hour: time.div_euclid(HOUR) }
    }

    /// Returns the names of the folders in a table's folder, joined by `/`. They need no quotes in a shell, and stay in the folder whatever
    /// the host is called.
    ///
    /// ```
    /// use dyntrace_fleet::RowPlace;
    ///
    /// let place = RowPlace::at(1_795_255_200_000_000_000);
    /// assert_eq!(place.folder("web-1"), "host=web-1/date=2026-11-21/hour=10");
    /// assert_eq!(place.folder("../a b"), "host=..%2Fa%20b/date=2026-11-21/hour=10");
    /// ```
    pub fn folder(self, hostname: &str) -> String {
        // All times of 64 bits are in the range of dates.
        let time = Timestamp::from_second(self.hour * SECONDS_OF_HOUR).unwrap_or_default().to_zoned(TimeZone::UTC);
        let (year, month, day) = (time.year(), time.month(), time.day());
        format!("host={}/date={year:04}-{month:02}-{day:02}/hour={:02}", encoded(hostname), time.hour())
    }
}

/// Returns the host of a folder such as `host=web-1`, as [`RowPlace::folder`] names it; `None` if it has no name, or a name that was cut.
///
/// ```
/// assert_eq!(dyntrace_fleet::hostname("host=..%2Fa%20b").as_deref(), Some("../a b"));
/// assert_eq!(dyntrace_fleet::hostname("date=2026-11-21"), None);
/// ```
pub fn hostname(folder: &str) -> Option<String> {
    let name = folder.strip_prefix("host=").filter(|name| *name != NULL && name.len() < LONGEST)?;
    let (mut bytes, mut rest) = (Vec::new(), name.as_bytes());
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        if *first == b'%' {
            let (digits, behind) = behind.split_at_checked(2)?;
            bytes.push(u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()?);
            rest = behind;
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

/// The name of a host in the name of a folder: percent-encoded, as engines decode it.
fn encoded(hostname: &str) -> String {
    if hostname.is_empty() {
        return NULL.to_owned();
    }
    // Engines look for words for null before they decode: one encoded byte keeps the name. DuckDB 1 takes `null` in any case.
    let is_null = hostname == NULL || hostname.eq_ignore_ascii_case("null");
    let mut out = String::new();
    for byte in hostname.bytes() {
        if out.len() >= LONGEST {
            let hash = hostname
                .bytes()
                .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
            let _ = write!(out, "%7E{hash:016x}");
            break;
        }
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' if !is_null || !out.is_empty() => {
                out.push(char::from(byte));
            }
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn long_names_stay_apart_and_fit() {
        let names = [1, 2].map(|last| format!("{}{last}", "ä".repeat(5_000)));
        let [one, other] = names.each_ref().map(|name| encoded(name));
        assert_ne!(one, other);
        assert!(one.len() < 255 - "host=".len(), "{one}");
        assert_eq!(encoded(""), NULL);
        for unknown in
            ["host=%", "host=%0", "host=%zz", "host=%FF", "hosts=a", &format!("host={one}"), &format!("host={NULL}")]
        {
            assert_eq!(hostname(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn names_that_engines_read_as_null_are_encoded() {
        for (name, folder) in [
            (NULL, "%5F_HIVE_DEFAULT_PARTITION__"),
            ("NULL", "%4EULL"),
            ("null", "%6Eull"),
            ("nUlL", "%6EUlL"),
            // No engine reads these as null.
            ("null-1", "null-1"),
            ("__hive_default_partition__", "__hive_default_partition__"),
        ] {
            assert_eq!(encoded(name), folder);
            assert_eq!(hostname(&format!("host={folder}")).as_deref(), Some(name));
        }
    }

    #[test]
    fn extreme_times_have_places() {
        assert_eq!(RowPlace::at(-1).folder("h"), "host=h/date=1969-12-31/hour=23");
        assert_eq!(RowPlace::at(i64::MIN).folder("h"), "host=h/date=1677-09-21/hour=00");
        assert_eq!(RowPlace::at(i64::MAX).folder("h"), "host=h/date=2262-04-11/hour=23");
    }

    proptest! {
        #[test]
        fn names_are_single_and_come_back(name in ".{1,60}") {
            let encoded = encoded(&name);
            prop_assert!(encoded.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.%".contains(&byte)), "{encoded}");
            if encoded.len() < LONGEST {
                prop_assert_eq!(hostname(&format!("host={encoded}")), Some(name));
            }
        }
    }
}
