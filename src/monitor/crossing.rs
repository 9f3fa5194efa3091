//! Subjects above a limit: each is told once until it was found below.

use std::collections::HashSet;
use std::hash::Hash;

/// The subjects that were above the limit at the last look.
#[derive(Debug)]
pub(super) struct Above<K>(HashSet<K>);

impl<K: Copy + Eq + Hash> Above<K> {
    pub(super) fn new() -> Above<K> {
        Above(HashSet::new())
    }

    /// Takes the subjects that are above the limit now. Returns those that were not at the last look.
    pub(super) fn update<S>(&mut self, now: impl IntoIterator<Item = S>, key: impl Fn(&S) -> K) -> Vec<S> {
        let now: Vec<S> = now.into_iter().collect();
        let keys = now.iter().map(&key).collect();
        let before = std::mem::replace(&mut self.0, keys);
        now.into_iter().filter(|subject| !before.contains(&key(subject))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_is_told_once_until_it_was_below() {
        let mut above = Above::new();
        let mut look = |now: &[u32]| above.update(now.to_vec(), |subject| *subject);
        assert_eq!(look(&[1, 2]), [1, 2]);
        assert_eq!(look(&[2, 3]), [3]);
        assert_eq!(look(&[1, 2, 3]), [1]);
        assert!(look(&[]).is_empty());
        assert_eq!(look(&[2]), [2]);
    }
}
