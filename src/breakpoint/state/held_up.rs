//! Who has held up a setting.

use std::fmt;
use std::time::{Duration, SystemTime};

use crate::thread_progress::Late;

/// Threads that have held up a change of trace settings: they were in the middle of a hit, and had no processor, or had to wait for
/// memory. Nobody waits for the setting meanwhile but who asked for it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HeldUp {
    /// The threads, by the system's ids and the names that they have there. None, where the system would not do what it has to do
    /// for the setting.
    pub threads: Vec<String>,
    /// Since when.
    pub since: SystemTime,
    /// For how long; a bit more than it was, since nobody tells when they go on.
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
    use super::*;
    use crate::thread_progress::Pinned;

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
