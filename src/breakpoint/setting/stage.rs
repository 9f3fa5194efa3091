//! Steps 2 and 3: the breakpoints that a setting changes, and their next generation.
//!
//! Sites of the program that are set alike share a breakpoint, so that a setting of many sites writes little. If a setting concerns only
//! some of the sites of a breakpoint, these get a copy of it first, in their words at once. Both generations of a copy are the active one,
//! so that a hit of either does the same. Threads that read the word before leave the breakpoint (4) before the two differ (7).
//!
//! A site of a library, which may leave at any time, has a breakpoint of its own. So has a site with entries of its own.

use std::collections::HashMap;

use super::edit::Edit;
use super::group::Group;
use crate::breakpoint::site::sites::{Sites, give_way};
use crate::breakpoint::state::block::NewBps;
use crate::breakpoint::state::generic_bp::Bp;

/// A breakpoint that the setting changes.
pub(super) struct Changed<'s> {
    /// The sites that have it, or get it.
    pub(super) sites: Group<'s>,
    pub(super) bp: Bp,
    /// Whether the sites had none.
    pub(super) is_new: bool,
    /// Whether it is in the sites' words, or was when a site's library left, which then frees it.
    pub(super) is_published: bool,
    /// Whether the sites still have entries after the change.
    pub(super) remains: bool,
}

impl Changed<'_> {
    /// Does nothing if the site is gone.
    pub(super) async fn publish(&mut self) {
        for (number, site) in self.sites.iter().enumerate() {
            self.is_published = site.with(|site| self.bp.publish(site)).is_some();
            give_way(number).await;
        }
    }

    /// A breakpoint in the word of a site that is gone stays published.
    pub(super) async fn retract(&mut self) {
        if !self.is_published {
            return;
        }
        for (number, site) in self.sites.iter().enumerate() {
            self.is_published = site.with(Bp::retract).is_none();
            give_way(number).await;
        }
    }
}

/// The staged changes of a part.
pub(super) struct Staged<'s> {
    pub(super) changed: Vec<Changed<'s>>,
    /// The number of sites where the edit could not take effect.
    pub(super) left: usize,
    /// The setting's number.
    number: u32,
}

/// Stages the change of these sites for the setting of this `number`, but for those that are gone, and those that another part of the
/// setting changes.
pub(super) async fn stage(sites: &Sites, mut edit: Edit, number: u32) -> Staged<'_> {
    let mut new = NewBps::new(sites.len());
    let mut staged = Staged { changed: Vec::new(), left: 0, number };
    let mut alike = Alike::default();
    let each_is_alone = edit.is_of_each() || sites.len() == 1;
    let is_alone = |bp: Option<&Bp>| each_is_alone || bp.is_some_and(|bp| bp.sites() == 1);
    for (place, site) in (0..).zip(sites.iter()) {
        // `None` if the site is gone. A breakpoint found there stays until the permission is released.
        let found = site.with(Bp::of).filter(|found| !found.as_ref().is_some_and(|bp| bp.is_staged_by(number)));
        match found {
            None => {}
            Some(found) if is_alone(found.as_ref()) || site.is_of_library() => {
                staged.change(found, Group::of_one(sites, place), &mut edit, &mut new).await;
            }
            Some(found) => alike.add(found, sites, place),
        }
        give_way(place as usize).await;
    }
    for (found, group) in alike.groups {
        staged.change(found, group, &mut edit, &mut new).await;
    }
    staged
}

impl<'s> Staged<'s> {
    /// Stages the change of sites that have the breakpoint `found`.
    async fn change(&mut self, found: Option<Bp>, sites: Group<'s>, edit: &mut Edit, new: &mut NewBps) {
        let function = sites.function();
        let change = match &found {
            None => edit.change(function, &None),
            Some(bp) => bp.with_active(|now| edit.change(function, now)),
        };
        let Some(change) = change else { return };
        let count = sites.len();
        self.left += if change.has_no_effect { count } else { 0 };
        let (is_new, remains) = (found.is_none(), change.to.is_some());
        if is_new && !remains {
            return;
        }
        let bp = match found {
            None => new.next(count), // 2
            Some(bp) if bp.sites() == count => bp,
            Some(bp) => {
                let copy = bp.split(new.next(count)); // 2
                for (number, site) in sites.iter().enumerate() {
                    site.with(|site| bp.hand_over(site, &copy));
                    give_way(number).await;
                }
                copy
            }
        };
        bp.stage(change.to, self.number); // 3
        self.changed.push(Changed { sites, bp, is_new, is_published: !is_new, remains });
    }
}

/// Sites of a part, by the breakpoint that they have.
#[derive(Default)]
struct Alike<'s> {
    groups: Vec<(Option<Bp>, Group<'s>)>,
    /// By address of the breakpoint, the place in `groups`.
    places: HashMap<usize, usize>,
    /// The last of these: neighbours often have the same.
    last: Option<(usize, usize)>,
}

impl<'s> Alike<'s> {
    fn add(&mut self, found: Option<Bp>, of: &'s Sites, place: u32) {
        let address = found.as_ref().map_or(0, Bp::address);
        let group = match self.last {
            Some((last, group)) if last == address => Some(group),
            _ => self.places.get(&address).copied(),
        };
        match group {
            Some(group) => {
                self.groups[group].1.push(place);
                self.last = Some((address, group));
            }
            None => {
                self.last = Some((address, self.groups.len()));
                self.places.insert(address, self.groups.len());
                self.groups.push((found, Group::of_one(of, place)));
            }
        }
    }
}
