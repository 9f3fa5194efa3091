//! A timeline of limited length: when time runs past its end, neighbours merge and each bucket covers twice the time.

/// The most buckets; once the timeline was full, at least half of them are in use.
pub const BUCKETS: usize = 240;

pub struct Timeline<B> {
    start: i64,
    /// Nanoseconds of a bucket.
    pub width: u64,
    /// Up to the last used one.
    pub buckets: Vec<B>,
}

/// The value of a bucket.
pub trait Bucket: Default {
    /// Adds the value of the next bucket.
    fn merge(&mut self, next: Self);
}

impl<B: Bucket> Timeline<B> {
    pub fn new(start: i64) -> Self {
        Timeline { start, width: 1 << 10, buckets: Vec::new() }
    }

    /// The bucket of `time`; the first one if that is before the start.
    pub fn at(&mut self, time: i64) -> &mut B {
        let offset = u64::try_from(i128::from(time) - i128::from(self.start)).unwrap_or(0);
        while offset / self.width >= BUCKETS as u64 {
            self.halve();
        }
        let index = (offset / self.width) as usize;
        if self.buckets.len() <= index {
            self.buckets.resize_with(index + 1, B::default);
        }
        &mut self.buckets[index]
    }

    fn halve(&mut self) {
        self.width *= 2;
        let mut old = std::mem::take(&mut self.buckets).into_iter();
        while let Some(mut bucket) = old.next() {
            old.next().into_iter().for_each(|next| bucket.merge(next));
            self.buckets.push(bucket);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Bucket for u64 {
        fn merge(&mut self, next: Self) {
            *self += next;
        }
    }

    #[test]
    fn nothing_is_lost_when_neighbours_merge() {
        let mut timeline = Timeline::<u64>::new(1_000);
        let mut time = 1_000;
        for count in 1..200 {
            *timeline.at(time) += 1;
            assert_eq!(timeline.buckets.iter().sum::<u64>(), count);
            assert!(timeline.buckets.len() <= BUCKETS);
            time += time / 5;
        }
        assert!(timeline.buckets.len() > BUCKETS / 2);
    }

    #[test]
    fn a_time_has_one_bucket_however_wide() {
        let mut timeline = Timeline::<u64>::new(0);
        *timeline.at(5_000_000) += 7;
        *timeline.at(9_000_000_000) += 1;
        assert_eq!(*timeline.at(5_000_000), 7);
        assert_eq!(*timeline.at(-1), 7);
    }

    #[test]
    fn clocks_may_be_absurd() {
        let mut timeline = Timeline::<u64>::new(i64::MIN);
        *timeline.at(i64::MAX) += 1;
        *timeline.at(i64::MIN) += 1;
        assert_eq!(timeline.buckets.iter().sum::<u64>(), 2);
    }
}
