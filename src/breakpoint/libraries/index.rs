//! All sites, sorted by name.

use std::sync::Arc;

use crate::breakpoint::pattern::Pattern;
use crate::breakpoint::site::site_ref::SiteRef;
use crate::breakpoint::site::sites::{Sites, give_way};

/// Sorted by the functions' names, so that those with a common prefix are adjacent.
pub(crate) struct Index(Arc<[SiteRef]>);

impl Index {
    pub(crate) fn new(mut all: Vec<SiteRef>) -> Index {
        all.retain(|site| !site.function().name.is_empty());
        all.sort_by_key(|site| (site.function().name, site.function().line));
        Index(all.into())
    }

    pub(crate) fn with(&self, more: &[SiteRef]) -> Index {
        Index::new([&self.0, more].concat())
    }

    pub(crate) fn without_gone(&self) -> Index {
        Index(self.0.iter().filter(|site| !site.is_gone()).cloned().collect())
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|site| site.function().name)
    }

    /// Returns the sites that the pattern selects. Gives way to other tasks.
    pub(crate) async fn selected(&self, pattern: &Pattern) -> Sites {
        let (first, beginning) = self.beginning_with(pattern.prefix());
        let mut selected = Sites::none_of(&self.0);
        for (number, site) in beginning.iter().enumerate() {
            let function = site.function();
            if pattern.selects_after_prefix(function.path(), function.arguments.len()) {
                selected.push(first + number);
            }
            give_way(number).await;
        }
        selected
    }

    /// Returns the sites whose names begin with `start`, and the position of the first.
    fn beginning_with(&self, start: &str) -> (usize, &[SiteRef]) {
        let first = self.0.partition_point(|site| site.function().name < start);
        let behind = self.0[first..].partition_point(|site| site.function().name.starts_with(start));
        (first, &self.0[first..first + behind])
    }
}
