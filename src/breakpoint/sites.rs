//! Some of the sites that there are.

use std::sync::Arc;

use super::site_ref::SiteRef;

/// Some sites of a list, each once. Many of them take little room: to write much memory takes longer than to look at it.
#[derive(Clone)]
pub(super) struct Sites {
    list: Arc<[SiteRef]>,
    /// Which of the list.
    numbers: Vec<u32>,
}

impl Sites {
    pub(super) fn none_of(list: &Arc<[SiteRef]>) -> Sites {
        Sites { list: Arc::clone(list), numbers: Vec::new() }
    }

    /// Adds one by its number in the list.
    pub(super) fn push(&mut self, number: usize) {
        self.numbers.push(u32::try_from(number).expect("no program has so many functions"));
    }

    pub(super) fn retain(&mut self, keep: impl Fn(&SiteRef) -> bool) {
        self.numbers.retain(|number| keep(&self.list[*number as usize]));
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &SiteRef> {
        self.numbers.iter().map(|number| &self.list[*number as usize])
    }

    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether none of them is there any more.
    pub(super) fn are_gone(&self) -> bool {
        self.iter().all(SiteRef::is_gone)
    }
}

/// All of the list.
impl From<Vec<SiteRef>> for Sites {
    fn from(list: Vec<SiteRef>) -> Sites {
        let mut sites = Sites::none_of(&list.into());
        (0..sites.list.len()).for_each(|number| sites.push(number));
        sites
    }
}
