//! The history of modules, for display and for tracers.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use crate::code::version::image::Image;
use dyntrace_processes::probes::code;

/// The number of events kept.
const MOST: usize = 1000;

/// An event in the history of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Event {
    /// The time of the commit.
    pub at: SystemTime,
    /// The kind of change.
    pub kind: EventKind,
    /// The module.
    pub module: Arc<str>,
    /// The version.
    pub version: Arc<str>,
}

/// The kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventKind {
    /// The version became current; there was no current version before.
    Load,
    /// The version became current in place of another one.
    Upgrade,
    /// The version became old, and no version is current.
    Delete,
    /// The version became unreachable.
    Purge,
}

static EVENTS: Mutex<VecDeque<Event>> = Mutex::new(VecDeque::new());

fn events() -> MutexGuard<'static, VecDeque<Event>> {
    EVENTS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn prepare() {
    dyntrace_probes::forks::hold_across_forks!(VecDeque<Event>, events());
}

/// Returns the last 1,000 events, the oldest first.
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
