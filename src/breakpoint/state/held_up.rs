//! Threads that delay settings.

use std::fmt;
use std::time::{Duration, SystemTime};

use dyntrace_probes::thread_progress::Late;

/// Threads that have delayed a change of trace settings: each was in the middle of a hit and had no processor, or waited for memory. Only
/// the task that made the change waits meanwhile.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HeldUp {
    /// The threads, by the system's ids and names. Empty if the system itself delayed the change.
    pub threads: Vec<String>,
    /// When the delay began.
    pub since: SystemTime,
    /// How long it lasted, rounded up to the next check.
    pub time: Duration,
}

impl HeldUp {
    pub(crate) fn until_now(late: &Late) -> HeldUp {
        HeldUp {
            threads: late.threads.iter().map(ToString::to_string).collect(),
            since: SystemTime::now().checked_sub(late.waited).unwrap_or(SystemTime::UNIX_EPOCH),
            time: late.waited,
        }
    }
}

impl fmt::Display for HeldUp {
    /// `held up for 12 ms by thread 4711 (worker-2)`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "held up for {} ms by ", self.time.as_millis())?;
        if self.threads.is_empty() {
            return f.write_str("the system");
        }
        f.write_str(&self.threads.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use dyntrace_probes::thread_progress::Pinned;

    use super::*;

    #[test]
    fn shown() {
        let pinned = |thread, name: &str| Pinned { thread, name: name.into() };
        let mut late =
            Late { threads: vec![pinned(7, "worker-2"), pinned(8, "")], waited: Duration::from_micros(12_999) };
        let held_up = HeldUp::until_now(&late);
        assert_eq!(held_up.to_string(), "held up for 12 ms by thread 7 (worker-2), thread 8");
        assert!(held_up.since + held_up.time <= SystemTime::now());
        late.threads.clear();
        assert_eq!(HeldUp::until_now(&late).to_string(), "held up for 12 ms by the system");
    }
}
