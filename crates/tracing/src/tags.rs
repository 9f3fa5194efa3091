//! The tags of spans, by the numbers of layer and span.
//!
//! They are found from inside of operations, where there is no subscriber at hand.

use std::cell::Cell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::mem::{self, ManuallyDrop};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use dyntrace::__spans::{around_fork, unless_inside};
use dyntrace::Tag;

use crate::rules::SpanTag;

/// Layer and span.
type Key = (u64, u64);
type Tags = HashMap<Key, SpanTag, BuildHasherDefault<NumberHasher>>;

/// A power of two.
const SHARDS: usize = 32;

/// Each tag is in the shard of its span. A thread locks one shard at a time, but a thread that forks locks all.
static TAGS: [RwLock<Tags>; SHARDS] = [const { RwLock::new(HashMap::with_hasher(BuildHasherDefault::new())) }; SHARDS];

type Held = [RwLockWriteGuard<'static, Tags>; SHARDS];

thread_local! {
    /// Whether this thread has, or waits for, one of the locks.
    static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
    /// The locks during a fork. Without a destructor, so that it lives as long as the thread.
    static HELD: Cell<Option<ManuallyDrop<Held>>> = const { Cell::new(None) };
}

/// The layer's handle of its tags. They end with it.
#[derive(Debug)]
pub(crate) struct LayerTags {
    number: u64,
    /// Whether stays in spans are noted: from the first span that may have a tag.
    noted: AtomicBool,
}

impl LayerTags {
    pub(crate) fn new() -> LayerTags {
        static LAST: AtomicU64 = AtomicU64::new(0);
        hold_across_forks();
        // Relaxed: the numbers need only differ.
        let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        LayerTags { number, noted: AtomicBool::new(false) }
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
        let _old = inside(|| write(shard(span)).insert((self.number, span), tag));
    }

    pub(crate) fn get(&self, span: u64) -> Option<Tag> {
        find(self.number, span)
    }

    /// Replaces the tag of a span that may have one, if the new one goes before it.
    pub(crate) fn replace(&self, span: u64, mut new: SpanTag) {
        // The old tag is dropped without the lock, as `new`.
        inside(|| {
            if let Some(known) = write(shard(span)).get_mut(&(self.number, span))
                && new.goes_before(known)
            {
                mem::swap(known, &mut new);
            }
        });
    }

    pub(crate) fn remove(&self, span: u64) -> Option<Tag> {
        inside(|| write(shard(span)).remove(&(self.number, span))).flatten()?.tag
    }
}

impl Drop for LayerTags {
    fn drop(&mut self) {
        for shard in &TAGS {
            // Dropped here, without the lock.
            let _tags: Option<Vec<_>> =
                inside(|| write(shard).extract_if(|(layer, _), _| *layer == self.number).collect());
        }
    }
}

/// Returns the tag of a span, if it has one and its layer has not ended.
pub(crate) fn find(layer: u64, span: u64) -> Option<Tag> {
    inside(|| read(shard(span)).get(&(layer, span))?.tag.clone()).flatten()
}

#[inline]
fn shard(span: u64) -> &'static RwLock<Tags> {
    &TAGS[span as usize % SHARDS]
}

/// Calls `act`, which takes locks. `None` in a signal handler that has interrupted such a call.
fn inside<R>(act: impl FnOnce() -> R) -> Option<R> {
    unless_inside(&IS_INSIDE, act)
}

// Nothing panics under these locks.
fn read(lock: &'static RwLock<Tags>) -> RwLockReadGuard<'static, Tags> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write(lock: &'static RwLock<Tags>) -> RwLockWriteGuard<'static, Tags> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

/// Has each fork find the locks free: a child would wait for ever for one that another thread of its parent held.
fn hold_across_forks() {
    extern "C" fn hold() {
        // A signal handler that forks may have interrupted a thread that has one of the locks.
        if !IS_INSIDE.replace(true) {
            HELD.set(Some(ManuallyDrop::new(TAGS.each_ref().map(write))));
        }
    }
    extern "C" fn release() {
        if let Some(held) = HELD.take() {
            drop(ManuallyDrop::into_inner(held));
            IS_INSIDE.set(false);
        }
    }
    // Without a lock, which a fork could leave locked.
    static NOTED: AtomicBool = AtomicBool::new(false);
    if !NOTED.load(Ordering::Relaxed) && !NOTED.swap(true, Ordering::Relaxed) {
        // Without memory for the handlers, a child may find a lock taken.
        let _ = around_fork(hold, release);
    }
}

/// Hashes the numbers of layers and spans, which are counted up and which the program's input does not choose.
#[derive(Default)]
struct NumberHasher(u64);

/// 2^64 divided by the golden ratio.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hasher for NumberHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = self.0.wrapping_mul(FACTOR) ^ number;
    }

    fn finish(&self) -> u64 {
        // All numbers of a shard have the same low bits. An odd factor spreads the others to the high bits, which tables use, too.
        (self.0 / SHARDS as u64).wrapping_mul(FACTOR)
    }
}

#[cfg(test)]
mod tests {
    use std::hash::BuildHasher;
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::rules::Rules;

    #[test]
    fn numbers_of_a_shard_have_different_hashes() {
        let hasher = BuildHasherDefault::<NumberHasher>::default();
        let hashes: Vec<u64> =
            (0..1000_u64).map(|number| hasher.hash_one((3_u64, number * SHARDS as u64 + 7))).collect();
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
        let writer = write(shard(1));
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
            let _writer = write(shard(1));
            find(layer.number(), 1)
        });
        assert_eq!(found, Some(None));
    }
}
