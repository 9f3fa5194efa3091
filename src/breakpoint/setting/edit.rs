//! Edits: how a setting changes the entries at its sites.

use std::sync::Arc;

use crate::breakpoint::site::Function;
use crate::breakpoint::state::data::BpData;
use crate::breakpoint::state::entry::BpEntry;
use crate::breakpoint::state::generic_bp::Generation;

/// Maps the function of a site and the entries there to the new entries; `None` for no change.
type Ask = dyn FnMut(&'static Function, &[BpEntry]) -> Option<Edited> + Send;

/// A change of the entries at sites.
pub(crate) struct Edit {
    ask: Box<Ask>,
    /// The last result and its input, shared by sites with the same generation. `None` if each site gets its own.
    last: Option<Option<Made>>,
}

/// The new entries at a site.
pub(crate) struct Edited {
    pub(crate) entries: Vec<BpEntry>,
    /// Whether the edit could not take effect there.
    pub(crate) has_no_effect: bool,
}

struct Made {
    of: Generation,
    made: Option<Change>,
}

/// The new generation of a breakpoint.
#[derive(Clone)]
pub(crate) struct Change {
    pub(crate) to: Generation,
    pub(crate) has_no_effect: bool,
}

impl Edit {
    /// Makes an edit that calls `ask` for each site that the setting changes. A setting skips sites, such as those that are gone.
    pub(crate) fn of_each(ask: impl FnMut(&'static Function, &[BpEntry]) -> Option<Edited> + Send + 'static) -> Edit {
        Edit { ask: Box::new(ask), last: None }
    }

    /// Makes an edit that calls `ask` once for consecutive sites with the same generation, which then share the new one.
    pub(crate) fn of_all(mut ask: impl FnMut(&[BpEntry]) -> Option<Edited> + Send + 'static) -> Edit {
        Edit { ask: Box::new(move |_, before| ask(before)), last: Some(None) }
    }

    /// Whether each site gets entries of its own.
    pub(crate) fn is_of_each(&self) -> bool {
        self.last.is_none()
    }

    /// Returns the change of this generation, at a site of this function; `None` for no change.
    pub(crate) fn change(&mut self, function: &'static Function, before: &Generation) -> Option<Change> {
        let ask = &mut self.ask;
        let mut make = || {
            let Edited { entries, has_no_effect } = ask(function, before.as_ref().map_or(&[], |data| &data.entries))?;
            Some(Change { to: BpData::new(entries), has_no_effect })
        };
        let Some(last) = &mut self.last else { return make() };
        match last {
            Some(last) if is_same(&last.of, before) => last.made.clone(),
            _ => last.insert(Made { of: before.clone(), made: make() }).made.clone(),
        }
    }
}

impl From<Vec<BpEntry>> for Edited {
    fn from(entries: Vec<BpEntry>) -> Edited {
        Edited { entries, has_no_effect: false }
    }
}

fn is_same(one: &Generation, other: &Generation) -> bool {
    one.as_ref().map(Arc::as_ptr) == other.as_ref().map(Arc::as_ptr)
}

#[cfg(all(not(loom), test))]
mod tests {
    use super::*;

    const FUNCTION: &Function = &Function::new("edit::function/0", "", 0, &[]);

    /// Returns how often an edit calls `ask` for two sites without entries.
    fn asked(make: fn(Box<Ask>) -> Edit) -> usize {
        let asked = Arc::new(());
        let counts = Arc::clone(&asked);
        let mut seen = Vec::new();
        let mut edit = make(Box::new(move |_, before| {
            assert!(before.is_empty());
            seen.push(Arc::clone(&counts));
            Some(Edited { entries: Vec::new(), has_no_effect: true })
        }));
        for _ in 0..2 {
            assert!(edit.change(FUNCTION, &None).is_some_and(|change| change.to.is_none() && change.has_no_effect));
        }
        Arc::strong_count(&asked) - 2
    }

    #[test]
    fn sites_where_the_same_is_done_share_the_answer() {
        assert_eq!(asked(|mut ask| Edit::of_all(move |before| ask(FUNCTION, before))), 1);
        assert_eq!(asked(|ask| Edit::of_each(ask)), 2);
    }
}
