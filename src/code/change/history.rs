//! What has become of modules, for people and tracers.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use crate::code::version::image::Image;
use crate::probes::code;

/// So many events are remembered.
const MOST: usize = 1000;

/// Something that has happened to a module.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// When it was in force.
    pub at: SystemTime,
    /// What happened.
    pub kind: EventKind,
    /// The module.
    pub module: Arc<str>,
    /// The version that it happened to.
    pub version: Arc<str>,
}

/// What happens to modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventKind {
    /// The version is the first one that is current.
    Load,
    /// The version took the place of another one.
    Upgrade,
    /// The version is not current any more, and no other one is.
    Delete,
    /// The version cannot be reached any more.
    Purge,
}

static EVENTS: Mutex<VecDeque<Event>> = Mutex::new(VecDeque::new());

fn events() -> MutexGuard<'static, VecDeque<Event>> {
    EVENTS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn prepare() {
    crate::forks::hold_across_forks!(VecDeque<Event>, events());
}

/// What has happened to modules, the oldest first: the last 1,000 events.
pub fn history() -> Vec<Event> {
    prepare();
    events().iter().cloned().collect()
}

/// Step 7 of a finish.
pub(crate) fn finished(image: &Image, replaced: Option<&Image>) {
    let (range, file) = (image.mapping.range(), image.mapping.source().to_string_lossy());
    let (start, size) = (range.start as u64, range.len() as u64);
    match replaced {
        None => {
            note(EventKind::Load, image);
            code::load(|| (&*image.module, &*image.version, &*file, start, size));
        }
        Some(old) => {
            note(EventKind::Upgrade, image);
            code::upgrade(|| (&*image.module, &*image.version, &*file, start, size, &*old.version));
        }
    }
}

pub(crate) fn deleted(image: &Image) {
    note(EventKind::Delete, image);
}

pub(crate) fn purged(image: &Image) {
    note(EventKind::Purge, image);
    let range = image.mapping.range();
    code::purge(|| (&*image.module, &*image.version, range.start as u64, range.len() as u64));
}

fn note(kind: EventKind, image: &Image) {
    prepare();
    let (module, version) = (Arc::clone(&image.module), Arc::clone(&image.version));
    let mut events = events();
    if events.len() == MOST {
        events.pop_front();
    }
    events.push_back(Event { at: SystemTime::now(), kind, module, version });
}
