//! A hash table from paths to places in the index.
//!
//! Settings are rare, so that a search finds its data in no cache. Here it reads about seven cache lines. A binary search among 100,000
//! functions reads fifty: a reference, a description and a name at each of 17 steps.

use std::iter;

use crate::breakpoint::site::site_ref::SiteRef;

/// The place of the first site of each path, in a list in which sites of one path are adjacent. Takes 6 bytes for each site.
pub(super) struct Paths {
    /// Open addressing with linear probing. 0: empty. Else the place plus one in the bits of `numbers`, and bits of the path's hash in the
    /// other ones, so that a search reads few names of other paths.
    slots: Box<[u32]>,
    numbers: u32,
}

impl Paths {
    pub(super) fn of(list: &[SiteRef]) -> Paths {
        let count = u32::try_from(list.len()).expect("no program has so many functions");
        // More slots than paths, so that each search ends at an empty one.
        let slots = vec![0; list.len() + list.len() / 2 + 1].into();
        let mut paths = Paths { slots, numbers: u32::MAX.checked_shr(count.leading_zeros()).unwrap_or(0) };
        let mut last = None;
        for (site, number) in iter::zip(list, 1..) {
            let path = site.function().path();
            if last.replace(path) != Some(path) {
                paths.insert(path, number);
            }
        }
        paths
    }

    fn insert(&mut self, path: &str, number: u32) {
        let (start, tag) = self.hashed(path);
        if let Some(empty) = self.probed_from(start).find(|slot| self.slots[*slot] == 0) {
            self.slots[empty] = tag | number;
        }
    }

    /// Returns the place of the first site with this path, in the list that this was made of.
    pub(super) fn first(&self, path: &str, list: &[SiteRef]) -> Option<usize> {
        let (start, tag) = self.hashed(path);
        let slots = self.probed_from(start).map(|slot| self.slots[slot]).take_while(|slot| *slot != 0);
        let mut places =
            slots.filter(|slot| slot & !self.numbers == tag).map(|slot| (slot & self.numbers) as usize - 1);
        places.find(|place| list[*place].function().path() == path)
    }

    fn probed_from(&self, start: usize) -> impl Iterator<Item = usize> + use<> {
        (start..self.slots.len()).chain(0..start)
    }

    /// Returns the first slot to look into, and the bits of the hash in that slot.
    fn hashed(&self, path: &str) -> (usize, u32) {
        // Eight bytes at a time, as rustc's own hash: little code, and 1 ms for 100,000 names.
        let (words, rest) = path.as_bytes().as_chunks();
        let words = words.iter().map(|word| u64::from_le_bytes(*word)).chain(rest.iter().map(|byte| u64::from(*byte)));
        let hash = words.fold(0, |hash: u64, word| (hash.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let start = (u128::from(hash) * self.slots.len() as u128) >> u64::BITS;
        (start as usize, hash as u32 & !self.numbers)
    }
}

#[cfg(all(not(any(loom, miri)), test))]
mod tests {
    use super::*;
    use crate::breakpoint::site::{Function, Site};

    fn sites(names: impl IntoIterator<Item = String>) -> Vec<SiteRef> {
        let mut names: Vec<_> = names.into_iter().collect();
        names.sort();
        let function = |name: String| Box::leak(Box::new(Function::new(name.leak(), "", 0, &[])));
        let site = |name| SiteRef::of_program(Box::leak(Box::new(Site::new(function(name)))));
        names.into_iter().map(site).collect()
    }

    #[test]
    fn each_path_leads_to_its_first_site() {
        for count in [0, 1, 2, 3, 255, 256, 10_000] {
            let name = |number: usize| format!("shop::f{}/{}", number / 3, number % 3);
            let sites = sites((0..count).map(name));
            let paths = Paths::of(&sites);
            for site in &sites {
                let path = site.function().path();
                let found = paths.first(path, &sites).expect(path);
                assert_eq!(sites[found].function().path(), path);
                assert!(found == 0 || sites[found - 1].function().path() != path);
            }
            for other in ["", "shop", "shop::f", "shop::f0/0", "shop::f10000"] {
                assert_eq!(paths.first(other, &sites), None, "{other} of {count}");
            }
        }
    }
}
