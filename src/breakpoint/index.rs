//! All sites of the program, by name.

use std::sync::OnceLock;

use super::pattern::Pattern;
use super::section::sites;
use super::setting::slice;
use super::site::Site;

/// Sorted by the functions' names, so that those that begin alike are found together.
pub(super) struct Index(Vec<&'static Site>);

impl Index {
    /// Made when it is first asked for.
    pub(super) fn get() -> &'static Index {
        static INDEX: OnceLock<Index> = OnceLock::new();
        INDEX.get_or_init(|| {
            let mut all: Vec<_> = sites().iter().filter(|site| !site.function().name.is_empty()).collect();
            all.sort_by_key(|site| (site.function().name, site.function().line));
            Index(all)
        })
    }

    /// The names of all functions.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|site| site.function().name)
    }

    /// The sites that the pattern selects. Others run now and then meanwhile.
    pub(super) async fn selected(&self, pattern: &Pattern) -> Vec<&'static Site> {
        let mut selected = Vec::new();
        for (number, site) in self.beginning_with(pattern.prefix()).iter().enumerate() {
            let function = site.function();
            if pattern.selects(function.path(), function.arguments.len()) {
                selected.push(*site);
            }
            slice(number).await;
        }
        selected
    }

    fn beginning_with(&self, start: &str) -> &[&'static Site] {
        let first = self.0.partition_point(|site| site.function().name < start);
        let behind = self.0[first..].partition_point(|site| site.function().name.starts_with(start));
        &self.0[first..first + behind]
    }
}
