//! Publishes counts into the recorder of the `metrics` facade.

use std::collections::HashMap;
use std::time::Duration;

use metrics::{Key, KeyName, Label, Level, Metadata, Recorder};

use crate::families::{FAMILIES, Family, Kind, Unit, Value};
use crate::figures::{Figures, Times};

const METADATA: Metadata<'static> = Metadata::new("dyntrace", Level::INFO, Some(module_path!()));

/// Publishes the counts of this process's pools, and remembers what it has published.
///
/// Keep one for the life of the program: a second one would publish each time of a histogram again.
#[derive(Debug, Default)]
pub struct Publisher {
    counters: HashMap<Key, Counter>,
    histograms: HashMap<Key, Times>,
}

/// A counter that goes on when its source starts again from 0, as in a forked child.
#[derive(Debug, Default)]
struct Counter {
    before: u64,
    last: u64,
}

impl Publisher {
    /// Publishes the counts as they are now into the facade's present recorder.
    pub fn publish(&mut self) {
        metrics::with_recorder(|recorder| self.publish_to(&Figures::now(), recorder));
    }

    fn publish_to(&mut self, figures: &Figures, recorder: &dyn Recorder) {
        for family in FAMILIES {
            let mut is_described = false;
            family.series(figures, &mut |labels, value| {
                if !is_described {
                    describe(family, recorder);
                    is_described = true;
                }
                let labels: Vec<Label> =
                    labels.iter().map(|&(name, value)| Label::new(name, value.to_owned())).collect();
                self.set(family, Key::from_parts(family.name, labels), value, recorder);
            });
        }
    }

    fn set(&mut self, family: &Family, key: Key, value: Value<'_>, recorder: &dyn Recorder) {
        match value {
            Value::Number(number) if family.kind == Kind::Counter => {
                let counter = recorder.register_counter(&key, &METADATA);
                counter.absolute(self.counters.entry(key).or_default().advance(number));
            }
            Value::Number(number) => recorder.register_gauge(&key, &METADATA).set(number as f64),
            Value::Time(time) => recorder.register_gauge(&key, &METADATA).set(time.as_secs_f64()),
            Value::Times(times) => {
                let histogram = recorder.register_histogram(&key, &METADATA);
                let last = self.histograms.entry(key).or_default();
                for (value, count) in since(times, last) {
                    histogram.record_many(value, usize::try_from(count).unwrap_or(usize::MAX));
                }
                last.clone_from(times);
            }
        }
    }
}

impl Counter {
    fn advance(&mut self, now: u64) -> u64 {
        if now < self.last {
            self.before = self.before.saturating_add(self.last);
        }
        self.last = now;
        self.before.saturating_add(now)
    }
}

fn describe(family: &Family, recorder: &dyn Recorder) {
    let unit = match family.unit {
        Unit::Count => metrics::Unit::Count,
        Unit::Bytes => metrics::Unit::Bytes,
        Unit::Seconds => metrics::Unit::Seconds,
    };
    let (name, unit, help) = (KeyName::from_const_str(family.name), Some(unit), family.help.into());
    match (family.kind, family.unit) {
        (Kind::Histogram, _) => recorder.describe_histogram(name, unit, help),
        (Kind::Counter, Unit::Count | Unit::Bytes) => recorder.describe_counter(name, unit, help),
        _ => recorder.describe_gauge(name, unit, help),
    }
}

/// The times of `now` that are not in `last`: values in seconds, and how many there are of each.
///
/// A bucket begins at half its bound. All values lie at the same part of their buckets, at which their sum is that of the times.
fn since(now: &Times, last: &Times) -> Vec<(f64, u64)> {
    let before = |bound| last.buckets.iter().find(|(end, _)| *end == bound).map_or(0, |(_, count)| *count);
    // In a forked child all sources start again from 0.
    let is_anew = last.buckets.iter().any(|(bound, count)| {
        now.buckets.iter().find(|(end, _)| end == bound).is_none_or(|(_, present)| present < count)
    });
    let added = now.buckets.iter().map(|&(bound, count)| (bound, if is_anew { count } else { count - before(bound) }));
    let added: Vec<(Duration, u64)> = added.filter(|(_, count)| *count > 0).collect();
    let sum = if is_anew { now.sum } else { now.sum.saturating_sub(last.sum) };
    let lowest: f64 = added.iter().map(|&(bound, count)| begin(bound) * count as f64).sum();
    let room: f64 = added.iter().map(|&(bound, count)| width(bound) * count as f64).sum();
    let part = if room > 0.0 { ((sum.as_secs_f64() - lowest) / room).clamp(0.0, 1.0) } else { 0.0 };
    added.into_iter().map(|(bound, count)| (begin(bound) + part * width(bound), count)).collect()
}

/// Where the bucket with this bound begins, in seconds.
fn begin(bound: Duration) -> f64 {
    if bound == Duration::MAX { LAST.as_secs_f64() } else { bound.as_secs_f64() / 2.0 }
}

/// The width of the bucket with this bound, in seconds. That of the last one is as if it had an end.
fn width(bound: Duration) -> f64 {
    if bound == Duration::MAX { LAST.as_secs_f64() } else { bound.as_secs_f64() / 2.0 }
}

/// Where the last bucket begins.
const LAST: Duration = Duration::from_nanos(1 << 38);

#[cfg(test)]
mod tests {
    use super::*;

    fn times(sum: u64, buckets: &[(u32, u64)]) -> Times {
        let buckets = buckets.iter().map(|&(bits, count)| (Duration::from_nanos(1 << bits), count)).collect();
        Times { sum: Duration::from_nanos(sum), buckets }
    }

    #[test]
    fn only_new_times_with_their_sum() {
        let first = times(1500, &[(10, 2)]);
        let second = times(1500 + 700 + 3000, &[(10, 3), (12, 1)]);
        assert_eq!(since(&first, &first), []);
        let added = since(&second, &first);
        assert_eq!(added.iter().map(|(_, count)| *count).collect::<Vec<_>>(), [1, 1]);
        let (short, long) = (added[0].0 * 1e9, added[1].0 * 1e9);
        assert!((512.0..1024.0).contains(&short) && (2048.0..4096.0).contains(&long), "{added:?}");
        assert!((short + long - 3700.0).abs() < 0.01, "{added:?}");
        // In a forked child, which has had these times only.
        assert_eq!(since(&first, &second).iter().map(|(_, count)| *count).sum::<u64>(), 2);
    }

    #[test]
    fn times_without_an_upper_bound() {
        let long = Times { sum: Duration::from_secs(300), buckets: vec![(Duration::MAX, 1)] };
        let added = since(&long, &Times::default());
        assert!((added[0].0 - 300.0).abs() < 1e-6, "{added:?}");
    }

    #[test]
    fn counters_never_fall() {
        let mut counter = Counter::default();
        let shown = [5, 7, 2, 3].map(|now| counter.advance(now));
        assert_eq!(shown, [5, 7, 9, 10]);
    }
}
