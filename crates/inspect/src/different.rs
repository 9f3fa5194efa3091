//! Counts different things, of which there may be a million, in little memory: by hashes so wide that no two are the same by chance.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher as _};

/// A hash of 128 bits.
pub fn wide(item: &impl Hash) -> u128 {
    let half = |number: u8| {
        let mut hasher = DefaultHasher::new();
        (number, item).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}

/// Things that are different from a first one.
#[derive(Debug, Default)]
pub struct DifferentItems(HashSet<u128>);

impl DifferentItems {
    /// Adds a thing that is not the first one.
    pub fn add(&mut self, item: &impl Hash) {
        self.0.insert(wide(item));
    }

    /// Adds the things of another list. `first` and `its_first`: the first ones of both.
    pub fn append<T: Hash>(&mut self, others: DifferentItems, first: &T, its_first: &T) {
        self.0.extend(others.0);
        self.0.insert(wide(its_first));
        self.0.remove(&wide(first));
    }

    /// How many different things there are, with the first one.
    pub fn count(&self) -> usize {
        self.0.len() + 1
    }

    /// The first one as `shown`, if there are no others; else how many different ones there are.
    pub fn told(&self, shown: String) -> String {
        if self.0.is_empty() { shown } else { format!("({} different)", self.count()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_are_counted_once() {
        let of = |items: &[&str]| {
            let mut others = DifferentItems::default();
            items[1..].iter().filter(|item| **item != items[0]).for_each(|item| others.add(item));
            others
        };
        assert_eq!(of(&["a", "a"]).told("a".to_owned()), "a");
        assert_eq!(of(&["a", "b", "a", "b"]).told("a".to_owned()), "(2 different)");
        let mut joined = of(&["a", "b"]);
        joined.append(of(&["b", "a", "c"]), &"a", &"b");
        assert_eq!(joined.count(), 3);
        let mut same = of(&["a"]);
        same.append(of(&["a"]), &"a", &"a");
        assert_eq!(same.count(), 1);
    }
}
