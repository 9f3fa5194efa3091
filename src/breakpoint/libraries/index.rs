//! All sites, sorted by name.

use std::sync::Arc;

use super::paths::Paths;
use crate::breakpoint::pattern::Pattern;
use crate::breakpoint::site::site_ref::SiteRef;
use crate::breakpoint::site::sites::{Sites, give_way};

/// Sorted by the functions' names, so that those with a common prefix are adjacent. Those of one path have the prefix `path/`.
pub(crate) struct Index {
    sites: Arc<[SiteRef]>,
    paths: Paths,
}

impl Index {
    pub(crate) fn new(mut all: Vec<SiteRef>) -> Index {
        all.retain(|site| !site.function().name.is_empty());
        all.sort_by_key(|site| (site.function().name, site.function().line));
        Index::of(all.into())
    }

    fn of(sorted: Arc<[SiteRef]>) -> Index {
        Index { paths: Paths::of(&sorted), sites: sorted }
    }

    pub(crate) fn with(&self, more: &[SiteRef]) -> Index {
        Index::new([&self.sites, more].concat())
    }

    pub(crate) fn without_gone(&self) -> Index {
        Index::of(self.sites.iter().filter(|site| !site.is_gone()).cloned().collect())
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.sites.iter().map(|site| site.function().name)
    }

    /// Returns the sites that the pattern selects. Gives way to other tasks.
    pub(crate) async fn selected(&self, pattern: &Pattern) -> Sites {
        let (first, candidates) = match pattern.only_path() {
            Some(path) => self.of_path(path),
            None => self.beginning_with(pattern.prefix()),
        };
        let mut selected = Sites::none_of(&self.sites);
        for (number, site) in candidates.iter().enumerate() {
            let function = site.function();
            if pattern.selects_after_prefix(function.path(), function.arguments.len()) {
                selected.push(first + number);
            }
            give_way(number).await;
        }
        selected
    }

    /// Returns the sites with this path, and the position of the first.
    fn of_path(&self, path: &str) -> (usize, &[SiteRef]) {
        let first = self.paths.first(path, &self.sites).unwrap_or(self.sites.len());
        let behind = self.sites[first..].iter().take_while(|site| site.function().path() == path).count();
        (first, &self.sites[first..first + behind])
    }

    /// Returns the sites whose names begin with `start`, and the position of the first.
    fn beginning_with(&self, start: &str) -> (usize, &[SiteRef]) {
        let first = self.sites.partition_point(|site| site.function().name < start);
        let behind = self.sites[first..].partition_point(|site| site.function().name.starts_with(start));
        (first, &self.sites[first..first + behind])
    }
}
