//! Resources that processes wait for, and their numbers.

use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64 as Counter, Ordering};

use dyntrace_probes::primitives::atomic::AtomicU64;
use dyntrace_probes::text::SourcePlace;

use super::future::{Waited, numbered};
use super::kind::{Operation, ResourceKind};
use crate::probes::resource as probes;
use crate::task_table;

/// Returns a number that no other resource of the program has.
fn next() -> u64 {
    static LAST: Counter = Counter::new(0);
    // Relaxed: the numbers need only differ.
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

/// A resource that is one value, as a mutex. It gets its number when a tracer first has to see it.
#[derive(Debug)]
pub struct Resource {
    /// 0 until a tracer has to see it.
    number: AtomicU64,
    kind: ResourceKind,
    name: Option<&'static str>,
    place: &'static Location<'static>,
}

impl Resource {
    /// A resource in a constant. Its `resource-new` fires before the first wait for it.
    #[cfg(not(loom))]
    #[track_caller]
    pub const fn in_constant(kind: ResourceKind) -> Resource {
        Resource { number: AtomicU64::new(0), kind, name: None, place: Location::caller() }
    }

    /// Fires `resource-new`.
    #[track_caller]
    #[inline]
    pub fn new(kind: ResourceKind, name: Option<&'static str>) -> Resource {
        let resource = Resource { number: AtomicU64::new(0), kind, name, place: Location::caller() };
        if probes::new::is_enabled() {
            resource.number();
        }
        resource
    }

    /// A resource made at `place`, whose name [`number_named`](Resource::number_named) asks for. Fires nothing.
    #[inline]
    pub fn at(kind: ResourceKind, place: &'static Location<'static>) -> Resource {
        Resource { number: AtomicU64::new(0), kind, name: None, place }
    }

    pub(super) fn number(&self) -> u64 {
        // Relaxed: nothing but the number is published.
        match self.number.load(Ordering::Relaxed) {
            0 => self.begin(|| None),
            number => number,
        }
    }

    /// The number. The first call fires `resource-new`, with `name` if a tracer looks.
    pub fn number_named(&self, name: impl FnOnce() -> Option<String>) -> u64 {
        match self.number.load(Ordering::Relaxed) {
            0 => self.begin(name),
            number => number,
        }
    }

    /// The number; 0 if no tracer had to see it.
    pub fn told(&self) -> u64 {
        self.number.load(Ordering::Relaxed)
    }

    /// The call that made it.
    pub fn place(&self) -> &'static Location<'static> {
        self.place
    }

    #[cold]
    fn begin(&self, name: impl FnOnce() -> Option<String>) -> u64 {
        let number = next();
        match self.number.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => {
                let asked = if self.name.is_none() && probes::new::is_enabled() { name() } else { None };
                tell_new(number, self.kind, asked.as_deref().or(self.name), self.place);
                number
            }
            Err(number) => number,
        }
    }
}

impl Drop for Resource {
    #[inline]
    fn drop(&mut self) {
        let number = self.number.load(Ordering::Relaxed);
        if number != 0 {
            probes::drop(|| (numbered(number), self.kind.text()));
        }
    }
}

/// One of the halves of a channel. All halves have the channel's number.
#[derive(Clone, Debug)]
pub struct Half {
    number: u64,
    /// Present if a tracer looked at the channel's beginning: fires `resource-drop` with the last half.
    _told: Option<Arc<ChannelEnd>>,
}

#[derive(Debug)]
struct ChannelEnd {
    number: u64,
    kind: ResourceKind,
}

impl Half {
    /// The first half of a channel. Fires `resource-new`.
    #[track_caller]
    #[inline]
    pub fn new(kind: ResourceKind, name: Option<&'static str>) -> Half {
        let number = next();
        let is_watched = probes::new::is_enabled() || probes::drop::is_enabled();
        let _told = if is_watched { Some(Half::tell(number, kind, name, Location::caller())) } else { None };
        Half { number, _told }
    }

    #[cold]
    fn tell(number: u64, kind: ResourceKind, name: Option<&'static str>, place: &Location<'_>) -> Arc<ChannelEnd> {
        tell_new(number, kind, name, place);
        Arc::new(ChannelEnd { number, kind })
    }
}

impl Drop for ChannelEnd {
    fn drop(&mut self) {
        probes::drop(|| (numbered(self.number), self.kind.text()));
    }
}

/// An operation on a resource.
pub struct On<R>(pub R, pub Operation);

/// An operation on a resource, by its text.
#[derive(Clone, Copy)]
pub struct In<R>(pub R, pub &'static str);

/// A resource or a half of a channel, by its number.
pub trait Numbered {
    /// Its number.
    fn number(&self) -> u64;
}

impl Numbered for Resource {
    fn number(&self) -> u64 {
        self.number()
    }
}

impl Numbered for Half {
    fn number(&self) -> u64 {
        self.number
    }
}

/// By the number itself.
impl Numbered for u64 {
    fn number(&self) -> u64 {
        *self
    }
}

impl<N: Numbered> Numbered for &N {
    fn number(&self) -> u64 {
        N::number(self)
    }
}

impl<N: Numbered> Waited for On<N> {
    fn key(&self) -> task_table::Resource {
        task_table::Resource::Numbered(self.0.number())
    }

    fn kind(&self) -> &'static str {
        self.1.text()
    }
}

impl<N: Numbered> Waited for In<N> {
    fn key(&self) -> task_table::Resource {
        task_table::Resource::Numbered(self.0.number())
    }

    fn kind(&self) -> &'static str {
        self.1
    }
}

#[cold]
fn tell_new(number: u64, kind: ResourceKind, name: Option<&str>, place: &Location<'_>) {
    let place = SourcePlace::new(place);
    probes::new(|| (numbered(number), kind.text(), name, place.text()));
}

#[cfg(all(test, loom))]
mod models {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    #[test]
    fn loom_all_threads_see_one_number() {
        loom::model(|| {
            let resource = Arc::new(Resource::new(ResourceKind::Mutex, None));
            let other = thread::spawn({
                let resource = Arc::clone(&resource);
                move || resource.number()
            });
            let number = resource.number();
            assert_eq!(number, other.join().unwrap());
            assert_eq!(number, resource.number());
        });
    }
}
