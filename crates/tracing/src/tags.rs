//! The tags of a layer's spans, by number of the span.
//!
//! They are found from inside of operations, where there is no subscriber at hand: by number of the layer, then by number of the span.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, TryLockError};
use std::{mem, process, thread};

use dyntrace::__spans::unless_inside;
use dyntrace::Tag;

use crate::rules::SpanTag;

static LAYERS: RwLock<BTreeMap<u64, Arc<Tags>>> = RwLock::new(BTreeMap::new());

/// The process that made the first layer. A forked child has another id.
static MADE_BY: OnceLock<u32> = OnceLock::new();

thread_local! {
    /// Whether this thread has, or waits for, one of the locks here.
    static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// A power of two.
const SHARDS: usize = 32;

type Shard = RwLock<HashMap<u64, SpanTag, BuildHasherDefault<NumberHasher>>>;

/// The tags of a layer's spans.
#[derive(Debug, Default)]
struct Tags {
    shards: [Shard; SHARDS],
}

/// The layer's handle of its tags. They end with it.
#[derive(Debug)]
pub(crate) struct LayerTags {
    number: u64,
    tags: Arc<Tags>,
    /// Whether stays in spans are noted: from the first span that may have a tag.
    noted: AtomicBool,
}

impl LayerTags {
    pub(crate) fn new() -> LayerTags {
        static LAST: AtomicU64 = AtomicU64::new(0);
        // Relaxed: the numbers need only differ.
        let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        let tags = Arc::new(Tags::default());
        MADE_BY.get_or_init(process::id);
        inside(|| write(&LAYERS).insert(number, tags.clone()));
        LayerTags { number, tags, noted: AtomicBool::new(false) }
    }

    /// The number of the layer.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Whether stays in spans are noted.
    #[inline]
    pub(crate) fn are_noted(&self) -> bool {
        // Relaxed: a thread that hands a span over to another one orders this, too.
        self.noted.load(Ordering::Relaxed)
    }

    /// Notes stays in spans from now on.
    #[inline]
    pub(crate) fn note(&self) {
        if !self.are_noted() {
            self.noted.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn insert(&self, span: u64, tag: SpanTag) {
        // Dropped here, without the lock.
        let _old = inside(|| write(self.tags.shard(span)).insert(span, tag));
    }

    pub(crate) fn get(&self, span: u64) -> Option<Tag> {
        inside(|| self.tags.get(span)).flatten()
    }

    /// Replaces the tag of a span that may have one, if the new one goes before it.
    pub(crate) fn replace(&self, span: u64, mut new: SpanTag) {
        // The old tag is dropped without the lock, as `new`.
        inside(|| {
            if let Some(known) = write(self.tags.shard(span)).get_mut(&span)
                && new.goes_before(known)
            {
                mem::swap(known, &mut new);
            }
        });
    }

    pub(crate) fn remove(&self, span: u64) -> Option<Tag> {
        inside(|| write(self.tags.shard(span)).remove(&span)).flatten()?.tag
    }
}

impl Drop for LayerTags {
    fn drop(&mut self) {
        // Dropped here, without the lock.
        let _tags = inside(|| write(&LAYERS).remove(&self.number));
    }
}

/// Returns the tag of a span, if it has one and its layer has not ended.
pub(crate) fn find(layer: u64, span: u64) -> Option<Tag> {
    inside(|| read(&LAYERS)?.get(&layer)?.get(span)).flatten()
}

impl Tags {
    fn get(&self, span: u64) -> Option<Tag> {
        read(self.shard(span))?.get(&span)?.tag.clone()
    }

    #[inline]
    fn shard(&self, span: u64) -> &Shard {
        &self.shards[span as usize % SHARDS]
    }
}

/// Calls `act`, which takes locks. `None` in a signal handler that has interrupted such a call.
fn inside<R>(act: impl FnOnce() -> R) -> Option<R> {
    unless_inside(&IS_INSIDE, act)
}

/// How often a reader in a forked child tries: some milliseconds.
const TRIES: u32 = 10_000;

/// Locks for reading. Waits for a writer; in a forked child not for ever, as the writer may have stayed in the parent.
fn read<T>(lock: &RwLock<T>) -> Option<RwLockReadGuard<'_, T>> {
    for _ in 0..TRIES {
        match lock.try_read() {
            Ok(guard) => return Some(guard),
            // Nothing panics under these locks.
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) if MADE_BY.get() == Some(&process::id()) => {
                return Some(lock.read().unwrap_or_else(PoisonError::into_inner));
            }
            Err(TryLockError::WouldBlock) => thread::yield_now(),
        }
    }
    None
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

/// Hashes the numbers of spans, which a subscriber counts up and the program's input does not choose.
#[derive(Default)]
struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 ^= number;
    }

    fn finish(&self) -> u64 {
        // All numbers of a shard have the same low bits. An odd factor spreads the others to the high bits, which tables use, too.
        (self.0 / SHARDS as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

#[cfg(test)]
mod tests {
    use std::hash::BuildHasher;
    use std::time::Duration;

    use super::*;
    use crate::rules::Rules;

    #[test]
    fn numbers_of_a_shard_have_different_hashes() {
        let hasher = BuildHasherDefault::<NumberHasher>::default();
        let hashes: Vec<u64> = (0..1000).map(|number| hasher.hash_one(number * SHARDS as u64 + 7)).collect();
        let different = |part: fn(u64) -> u64| {
            let parts: std::collections::BTreeSet<u64> = hashes.iter().map(|hash| part(*hash)).collect();
            parts.len()
        };
        assert_eq!(different(|hash| hash), 1000);
        assert_eq!(different(|hash| hash % 1024), 1000);
        assert!(different(|hash| hash >> 57) > 100);
    }

    #[test]
    fn a_reader_waits_for_a_writer_that_takes_long() {
        let layer = LayerTags::new();
        let mut tag = Rules::default().find(|_| {});
        tag.tag = Some(Tag::from("waited for"));
        layer.insert(1, tag);
        let writer = write(layer.tags.shard(1));
        thread::scope(|scope| {
            let reader = scope.spawn(|| find(layer.number(), 1));
            thread::sleep(Duration::from_millis(100));
            drop(writer);
            assert_eq!(reader.join().unwrap().as_deref(), Some("waited for"));
        });
    }

    /// As a signal handler, or a memory allocator that asks for the tag, would.
    #[test]
    fn a_call_that_interrupts_its_own_thread_finds_nothing() {
        let layer = LayerTags::new();
        let found = inside(|| {
            let _writer = write(layer.tags.shard(1));
            find(layer.number(), 1)
        });
        assert_eq!(found, Some(None));
    }
}
