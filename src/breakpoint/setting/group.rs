//! Sites of a selection that have the same breakpoint.

use std::iter;
use std::mem;
use std::ops::Range;

use crate::breakpoint::site::Function;
use crate::breakpoint::site::site_ref::SiteRef;
use crate::breakpoint::site::sites::Sites;

/// Some sites of a selection, at least one, by their places in it. Most groups are one run of places, which needs no memory of its own.
pub(super) struct Group<'s> {
    of: &'s Sites,
    run: Range<u32>,
    earlier: Vec<Range<u32>>,
}

impl<'s> Group<'s> {
    /// Makes a group of one site. A selection has fewer sites than `u32::MAX`.
    pub(super) fn of_one(of: &'s Sites, place: u32) -> Group<'s> {
        Group { of, run: place..place + 1, earlier: Vec::new() }
    }

    /// Adds the site of a later place.
    pub(super) fn push(&mut self, place: u32) {
        if self.run.end == place {
            self.run.end += 1;
        } else {
            self.earlier.push(mem::replace(&mut self.run, place..place + 1));
        }
    }

    pub(super) fn len(&self) -> usize {
        self.runs().map(|run| run.len()).sum()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &'s SiteRef> {
        let of = self.of;
        self.runs().flat_map(move |run| of.at(run))
    }

    /// Returns the function of one of its sites.
    pub(super) fn function(&self) -> &'static Function {
        self.iter().next().expect("a group has at least one site").function()
    }

    fn runs(&self) -> impl Iterator<Item = Range<usize>> {
        let runs = self.earlier.iter().chain(iter::once(&self.run));
        runs.map(|run| run.start as usize..run.end as usize)
    }
}
