//! Sets of processes.

use std::fmt;
use std::ops::Range;

use super::Pid;
use super::pid_filter::PidFilter;

/// A set of processes of this program: given ones, all existing ones, or all future ones.
///
/// ```
/// use dyntrace::process::{self, Processes};
///
/// let me = process::current();
/// let others = Processes::existing().without(&me.into());
/// assert!(!others.contains(me) && !Processes::to_come().contains(me));
/// assert_eq!(Processes::from(me).to_string(), me.to_string());
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Processes {
    /// Ranges of pid numbers: in order, with gaps between.
    ranges: Vec<Range<u64>>,
}

/// Beyond this a pid_filter contains all processes.
const MANY: u64 = 64;

impl Processes {
    /// All processes, now and later.
    pub fn all() -> Processes {
        Processes::one_range(0..u64::MAX)
    }

    /// All processes that have a pid now. A thread gets its pid when it first needs it.
    pub fn existing() -> Processes {
        // `next` allocates a number for no process, which separates the existing from the future ones.
        Processes::one_range(0..Pid::next().0)
    }

    /// All processes that get their pid from now on.
    pub fn to_come() -> Processes {
        Processes::one_range(Pid::next().0..u64::MAX)
    }

    fn one_range(numbers: Range<u64>) -> Processes {
        Processes { ranges: Vec::from([numbers]) }
    }

    /// Returns whether the process is in the set.
    #[inline]
    pub fn contains(&self, process: Pid) -> bool {
        self.ranges.iter().any(|range| range.contains(&process.0))
    }

    /// Returns the union.
    #[must_use]
    pub fn with(&self, others: &Processes) -> Processes {
        let mut all = [&*self.ranges, &*others.ranges].concat();
        all.sort_by_key(|range| range.start);
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for range in all {
            match ranges.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => ranges.push(range),
            }
        }
        Processes { ranges }
    }

    /// Returns this set without the processes in `others`.
    #[must_use]
    pub fn without(&self, others: &Processes) -> Processes {
        let mut ranges = self.ranges.clone();
        for other in &others.ranges {
            let parts = ranges.into_iter().flat_map(|range| {
                let before = range.start..range.end.min(other.start);
                let behind = range.start.max(other.end)..range.end;
                [before, behind]
            });
            ranges = parts.filter(|range| !range.is_empty()).collect();
        }
        Processes { ranges }
    }

    /// Whether all processes are in the set.
    #[doc(hidden)]
    pub fn are_all(&self) -> bool {
        *self == Processes::all()
    }

    /// A pid_filter that contains the set.
    #[doc(hidden)]
    pub fn pid_filter(&self) -> PidFilter {
        let count = self.ranges.iter().fold(0_u64, |sum, range| sum.saturating_add(range.end - range.start));
        if count > MANY { PidFilter::ALL } else { self.ranges.iter().cloned().flatten().map(Pid).collect() }
    }
}

impl From<Pid> for Processes {
    fn from(process: Pid) -> Processes {
        Processes::one_range(process.0..process.0 + 1)
    }
}

impl FromIterator<Pid> for Processes {
    fn from_iter<I: IntoIterator<Item = Pid>>(processes: I) -> Processes {
        let ranges = processes.into_iter().map(|process| process.0..process.0 + 1).collect();
        Processes::default().with(&Processes { ranges })
    }
}

impl fmt::Display for Processes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.are_all() {
            return f.write_str("all");
        }
        if self.ranges.is_empty() {
            return f.write_str("none");
        }
        for (number, &Range { start, end }) in self.ranges.iter().enumerate() {
            if number > 0 {
                f.write_str(", ")?;
            }
            match (start, end) {
                (_, u64::MAX) => write!(f, "all from {} on", Pid(start))?,
                (0, _) => write!(f, "all before {}", Pid(end))?,
                _ if end == start + 1 => write!(f, "{}", Pid(start))?,
                _ => write!(f, "{} to {}", Pid(start), Pid(end - 1))?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pids(numbers: impl IntoIterator<Item = u64>) -> Processes {
        numbers.into_iter().map(Pid).collect()
    }

    #[test]
    fn sets_are_joined_and_taken_from_each_other() {
        let some = pids([7, 3, 8, 9, 3]);
        assert_eq!(some.to_string(), "<0.3.0>, <0.7.0> to <0.9.0>");
        for (set, shown) in [
            (some.with(&pids([4, 6])), "<0.3.0> to <0.4.0>, <0.6.0> to <0.9.0>"),
            (some.without(&pids([8])), "<0.3.0>, <0.7.0>, <0.9.0>"),
            (some.without(&Processes::all()), "none"),
            (Processes::all().without(&pids([5])), "all before <0.5.0>, all from <0.6.0> on"),
            (Processes::all().without(&pids([5])).with(&pids([5])), "all"),
        ] {
            assert_eq!(set.to_string(), shown);
        }
        for number in 0..20 {
            assert_eq!(some.contains(Pid(number)), [3, 7, 8, 9].contains(&number));
        }
    }

    #[test]
    fn those_that_exist_and_those_that_come_have_nobody_in_common() {
        let before = Pid::next();
        let (existing, to_come) = (Processes::existing(), Processes::to_come());
        let behind = Pid::next();
        assert!(existing.contains(before) && !existing.contains(behind));
        assert!(!to_come.contains(before) && to_come.contains(behind));
        assert_eq!(existing.without(&to_come), existing);
    }

    #[test]
    fn few_processes_have_a_sieve() {
        assert_eq!(pids([3]).pid_filter(), PidFilter::from(Pid(3)));
        assert_eq!(Processes::default().pid_filter(), PidFilter::from_iter(None::<Pid>));
        assert_eq!(pids(0..100).pid_filter(), PidFilter::ALL);
        assert_eq!(Processes::all().pid_filter(), PidFilter::ALL);
    }
}
