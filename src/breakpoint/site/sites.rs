//! Selections of sites.

use std::ops::Range;
use std::sync::Arc;

use super::site_ref::SiteRef;

/// The number of sites after which other tasks get a turn.
const SLICE: usize = 256;

/// Lets other tasks run after each slice of sites.
pub(crate) async fn give_way(number: usize) {
    if number % SLICE == SLICE - 1 {
        tokio::task::yield_now().await;
    }
}

/// A selection of a list of sites, without duplicates. It holds numbers, not references: writing much memory takes longer than reading it.
#[derive(Clone)]
pub(crate) struct Sites {
    list: Arc<[SiteRef]>,
    /// Positions in the list.
    numbers: Vec<u32>,
}

impl Sites {
    pub(crate) fn none_of(list: &Arc<[SiteRef]>) -> Sites {
        Sites { list: Arc::clone(list), numbers: Vec::new() }
    }

    /// Adds a site by its position in the list.
    pub(crate) fn push(&mut self, number: usize) {
        self.numbers.push(u32::try_from(number).expect("no program has so many functions"));
    }

    pub(crate) fn retain(&mut self, keep: impl Fn(&SiteRef) -> bool) {
        self.numbers.retain(|number| keep(&self.list[*number as usize]));
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &SiteRef> {
        self.at(0..self.len())
    }

    /// Returns the sites at a run of places in the selection.
    pub(crate) fn at(&self, places: Range<usize>) -> impl Iterator<Item = &SiteRef> {
        self.numbers[places].iter().map(|number| &self.list[*number as usize])
    }

    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    pub(crate) fn are_gone(&self) -> bool {
        self.iter().all(SiteRef::is_gone)
    }
}

/// Selects the whole list.
impl From<Vec<SiteRef>> for Sites {
    fn from(list: Vec<SiteRef>) -> Sites {
        let mut sites = Sites::none_of(&list.into());
        (0..sites.list.len()).for_each(|number| sites.push(number));
        sites
    }
}
