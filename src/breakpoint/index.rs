//! All sites, by name.

use super::pattern::Pattern;
use super::setting::slice;
use super::site_ref::SiteRef;

/// Sorted by the functions' names, so that those that begin alike are found together.
pub(super) struct Index(Vec<SiteRef>);

impl Index {
    pub(super) fn new(mut all: Vec<SiteRef>) -> Index {
        all.retain(|site| !site.function().name.is_empty());
        all.sort_by_key(|site| (site.function().name, site.function().line));
        Index(all)
    }

    /// With these, too.
    pub(super) fn with(&self, more: &[SiteRef]) -> Index {
        Index::new([&self.0, more].concat())
    }

    /// Without those that are gone.
    pub(super) fn without_gone(&self) -> Index {
        Index(self.0.iter().filter(|site| !site.is_gone()).cloned().collect())
    }

    /// The names of all functions.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|site| site.function().name)
    }

    /// The sites that the pattern selects. Others run now and then meanwhile.
    pub(super) async fn selected(&self, pattern: &Pattern) -> Vec<SiteRef> {
        let mut selected = Vec::new();
        for (number, site) in self.beginning_with(pattern.prefix()).iter().enumerate() {
            let function = site.function();
            if pattern.selects(function.path(), function.arguments.len()) {
                selected.push(site.clone());
            }
            slice(number).await;
        }
        selected
    }

    fn beginning_with(&self, start: &str) -> &[SiteRef] {
        let first = self.0.partition_point(|site| site.function().name < start);
        let behind = self.0[first..].partition_point(|site| site.function().name.starts_with(start));
        &self.0[first..first + behind]
    }
}
