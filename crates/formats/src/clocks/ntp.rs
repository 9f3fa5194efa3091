//! Estimates of NTP: by how much a host's clock may differ from UTC, as chrony tells.
//!
//! A line is `HOST,TIME,` and what `chronyc -c tracking` prints on that host. TIME is that of its clock then, in seconds. By chrony's
//! documentation the clock is wrong by at most the offset that it still corrects, the root dispersion and half of the root delay together.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use dyntrace_terminal::escape;

/// The form of a line, for people.
const FORM: &str = "HOST,TIME,$(chronyc -c tracking)";

/// The reference of a clock that follows itself.
const LOCAL: &str = "7F7F0101";
const UNSYNCHRONIZED: &str = "Not synchronised";
const NANOSECONDS: f64 = 1e9;

/// A clock showed `time`, and was wrong by at most `error`, in nanoseconds.
#[derive(Debug, PartialEq, Eq)]
pub struct Estimate {
    pub host: String,
    pub time: i64,
    /// `time + error` is in range, too.
    pub error: i64,
}

/// The estimates of all files.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Estimates {
    pub all: Vec<Estimate>,
    /// Lines without an estimate, such as those of clocks that follow no other.
    pub skipped: u64,
}

pub fn read(files: &[PathBuf]) -> anyhow::Result<Estimates> {
    let mut estimates = Estimates::default();
    for file in files {
        let bytes = fs::read(file).with_context(|| format!("cannot read {}", escape::path(file)))?;
        let before = estimates.all.len();
        for line in String::from_utf8_lossy(&bytes).lines().filter(|line| !line.trim().is_empty()) {
            match estimate(line) {
                Some(estimate) => estimates.all.push(estimate),
                None => estimates.skipped += 1,
            }
        }
        if estimates.all.len() == before {
            return Err(nothing(file));
        }
    }
    Ok(estimates)
}

fn nothing(file: &Path) -> anyhow::Error {
    anyhow!(
        "{} has no estimate of NTP: its lines must be {FORM}, of hosts whose chronyd follows a server",
        escape::path(file)
    )
}

/// The estimate of a line, if it has one.
fn estimate(line: &str) -> Option<Estimate> {
    let fields: Vec<&str> = line.trim().split(',').collect();
    let [host, time, reference, .., leap] = fields[..] else { return None };
    let [offset, delay, dispersion] = [6, 12, 13].map(|at| fields.get(at).and_then(|field| seconds(field)));
    // Two fields before chrony's 14.
    if fields.len() != 16 || host.is_empty() || reference == LOCAL || leap == UNSYNCHRONIZED {
        return None;
    }
    let error = offset?.abs() + dispersion?.abs() + delay?.abs() / 2.0;
    let time = nanoseconds(seconds(time)?)?;
    let error = nanoseconds(error).filter(|error| time.checked_add(*error).is_some())?;
    Some(Estimate { host: host.to_owned(), time, error })
}

/// Rounded up.
fn nanoseconds(seconds: f64) -> Option<i64> {
    let nanoseconds = (seconds * NANOSECONDS).ceil();
    (nanoseconds.abs() < i64::MAX as f64).then_some(nanoseconds as i64)
}

fn seconds(field: &str) -> Option<f64> {
    field.parse().ok().filter(|seconds: &f64| seconds.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYNCHRONIZED: &str = "web-1,1795765821.5,C0A80001,192.168.0.1,3,1795765820.531139195,-0.000001501,-0.000001632,\
        0.000002360,-331.898,0.004,0.154,0.000373169,0.000024780,64.2,Normal";

    #[test]
    fn the_error_is_chronys_bound() {
        // 1501 + 24780 + 373169 / 2 ns, rounded up.
        let expected = Estimate { host: "web-1".to_owned(), time: 1_795_765_821_500_000_000, error: 212_866 };
        assert_eq!(estimate(SYNCHRONIZED), Some(expected));
    }

    #[test]
    fn other_lines_have_none() {
        for (old, new) in [
            ("Normal", "Not synchronised"),
            ("C0A80001", "7F7F0101"),
            ("web-1", ""),
            (",64.2", ""),
            ("0.000024780", "inf"),
            ("0.000024780", "NaN"),
            ("1795765821.5", "1e300"),
            ("1795765821.5", "9223372036.8547"),
            ("0.000024780", "9223372036"),
            ("1795765821.5", "today"),
        ] {
            assert!(SYNCHRONIZED.contains(old));
            assert_eq!(estimate(&SYNCHRONIZED.replace(old, new)), None, "{new}");
        }
        assert_eq!(estimate("web-1,1795765821.5,506 Cannot talk to daemon"), None);
    }

    #[test]
    fn a_file_without_any_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let [good, bad] = ["good.csv", "bad.csv"].map(|name| folder.path().join(name));
        fs::write(&good, format!("{SYNCHRONIZED}\n\nweb-1,1,506 Cannot talk to daemon\n")).unwrap();
        fs::write(&bad, b"\xff\n").unwrap();
        let estimates = read(std::slice::from_ref(&good)).unwrap();
        assert_eq!((estimates.all.len(), estimates.skipped), (1, 1));
        let error = read(&[good, bad]).unwrap_err().to_string();
        assert!(error.contains("bad.csv has no estimate of NTP"), "{error}");
        assert!(read(&[folder.path().join("none")]).unwrap_err().to_string().contains("none"));
    }
}
