//! The table: its header, the list of its free slots, and its texts.

use std::fs::File;
use std::io;
use std::panic::Location;
use std::process;
use std::ptr;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Mutex, MutexGuard, PoisonError};

use dyntrace_probes::clock::{self, Calibration};
use dyntrace_task_table::layout::{
    self, LAST_PID, MAGIC, PAGE, SLOT, Slot, State, TEXTS, Task, TaskKind, Text, VERSION, clock as of_clock, header,
    slot,
};

use super::Spawned;
use super::file::Mapped;
use super::id::low_bits;
use super::reference_cache;
use super::texts::{self, Constant, Texts};

/// Slots by which the table grows: whole pages.
const BLOCK: usize = 1024;
/// The largest number of slots, a multiple of [`BLOCK`].
const LIMIT: usize = if cfg!(target_pointer_width = "64") { layout::LIMIT } else { 1 << 16 };
/// The size of the area of texts, in bytes.
const TEXT_AREA: usize = if cfg!(target_pointer_width = "64") { layout::TEXT_AREA } else { 2 << 20 };
/// Where the slots begin.
const SLOTS: usize = TEXTS + TEXT_AREA;

const _: () = assert!((BLOCK * SLOT).is_multiple_of(PAGE) && LIMIT.is_multiple_of(BLOCK) && SLOTS.is_multiple_of(PAGE));

/// A table, and its file.
pub(super) struct Table {
    file: Mapped,
    /// The number of slots that the file has.
    length: AtomicUsize,
    /// How many tasks that a runtime counts have slots.
    with_slot: AtomicU64,
    free: Mutex<Free>,
    texts: Mutex<Texts>,
}

/// The free slots.
struct Free {
    /// Their numbers, from 1. The one that was used last is taken first.
    numbers: Vec<u32>,
    calibration: Calibration,
    /// When the clock was measured last, in cycles.
    measured: u64,
}

impl Table {
    /// Makes a table in `file`, which is empty.
    ///
    /// # Errors
    ///
    /// The file cannot grow, or cannot be mapped.
    pub(super) fn new(file: File) -> io::Result<Table> {
        let file = Mapped::new(file, SLOTS + LIMIT * SLOT)?;
        let calibration = Calibration::start();
        file.grow(0, PAGE)?;
        let free = Free { numbers: Vec::new(), calibration, measured: clock::now() };
        let texts = Texts::new(TEXTS, SLOTS);
        let (length, with_slot) = (AtomicUsize::new(0), AtomicU64::new(0));
        let table = Table { file, length, with_slot, free: Mutex::new(free), texts: Mutex::new(texts) };
        let words = table.file.header();
        let version = u64::from(process::id()) << 32 | u64::from(VERSION);
        for (word, value) in [
            (header::VERSION, version),
            (header::STARTED, started()),
            (header::SLOTS, SLOTS as u64),
            (header::LIMIT, LIMIT as u64),
        ] {
            words[word].store(value, Relaxed);
        }
        table.show_clock(&calibration);
        table.grow(&mut locked(&table.free))?;
        // Release: a reader that sees this word sees the others.
        words[header::MAGIC].store(MAGIC, Release);
        Ok(table)
    }

    /// Returns the slot with a number from 1, if it is that of the process `pid`.
    #[inline(always)]
    pub(super) fn slot(&self, number: u32, pid: u64) -> Option<&Slot> {
        // Acquire: with the Release of `grow`. A slot within the length is in the file.
        let slots = self.file.slots(SLOTS, self.length.load(Acquire));
        let slot = slots.get((number as usize).wrapping_sub(1))?;
        (slot.word(slot::PID) >> 16 == pid).then_some(slot)
    }

    /// All slots, also free ones.
    pub(super) fn slots(&self) -> &[Slot] {
        // Acquire: as in `slot`.
        self.file.slots(SLOTS, self.length.load(Acquire))
    }

    /// The number of slots that are not free.
    pub(super) fn used(&self) -> usize {
        let free = locked(&self.free);
        // Relaxed: it changes under the lock.
        self.length.load(Relaxed) - free.numbers.len()
    }

    /// Takes a free slot for a task, and returns its number. `None`, and counts, if there is none.
    pub(super) fn take(&self, spawned: &Spawned<'_>) -> Option<u32> {
        let now = clock::now();
        let number = if spawned.pid <= LAST_PID { self.free_number(now, spawned.is_counted) } else { None };
        let Some(number) = number else {
            self.count(header::WITHOUT_SLOT);
            return None;
        };
        let slot = self.slot(number, 0)?;
        let site = self.site(spawned.function, spawned.place);
        let tag = spawned.tag.map_or(0, |tag| self.tag(tag));
        let kind = if spawned.is_blocking { TaskKind::Blocking } else { TaskKind::Future };
        slot.change(|words| {
            words.set_beside(spawned.task.map_or(0, low_bits));
            let generation = words.get(slot::PARENT).wrapping_add(1) & 0xffff;
            let parent = spawned.parent.min(LAST_PID);
            for (word, value) in [
                (slot::PID, Task::pid_word(spawned.pid, kind, State::Scheduled)),
                (slot::PARENT, parent << 16 | generation),
                (slot::TEXTS, Text::Tag.put(Text::Spawn.put(0, site), tag)),
                (slot::WOKEN_BY, 0),
                (slot::SPAWNED, now),
                (slot::SCHEDULED, now),
                (slot::POLLS, 0),
                (slot::BUSY, 0),
                (slot::LONGEST, 0),
                (slot::RESOURCE, 0),
                (slot::SINCE, 0),
            ] {
                words.set(word, value);
            }
        });
        Some(number)
    }

    /// Frees the slot of a task, if it has one. `is_counted`: whether a runtime counts it. `free` takes the pid out of the slot, and tells
    /// whether it could.
    pub(super) fn leave(&self, number: u32, pid: u64, is_counted: bool, free: impl FnOnce(&Slot) -> bool) {
        let Some(slot) = self.slot(number, pid) else { return };
        let tag = Text::Tag.of(slot.word(slot::TEXTS));
        if free(slot) {
            if tag != 0 {
                self.texts().release(tag);
            }
            let mut free = locked(&self.free);
            free.numbers.push(number);
            if is_counted {
                self.add_with_slot(&mut free, 0_u64.wrapping_sub(1));
            }
        }
    }

    /// Changes the tag in the slot of a task that the current thread runs.
    pub(super) fn set_tag(&self, slot: &Slot, tag: Option<&str>) {
        let before = Text::Tag.of(slot.word(slot::TEXTS));
        let new = tag.map_or(0, |tag| self.tag(tag));
        slot.change(|words| {
            words.set(slot::TEXTS, Text::Tag.put(words.get(slot::TEXTS), new));
        });
        if before != 0 {
            self.texts().release(before);
        }
    }

    /// A reference to a tag; the caller releases it. 0 if there is no space.
    fn tag(&self, tag: &str) -> u32 {
        let reference = self.texts().tag(&self.file, tag);
        self.known_or_none(reference)
    }

    /// A reference to a function or an operation, and its place; 0 if there is no space.
    pub(super) fn site(&self, what: &'static str, place: &'static Location<'static>) -> u32 {
        self.known(texts::site(what, place), |texts| texts.site(&self.file, what, place))
    }

    /// A reference to a name; 0 if there is no space.
    pub(super) fn name(&self, name: &'static str) -> u32 {
        self.known(texts::name(name), |texts| texts.name(&self.file, name))
    }

    fn known(&self, constant: Constant, find: impl FnOnce(&mut Texts) -> Option<u32>) -> u32 {
        let find = || {
            let reference = find(&mut self.texts());
            self.known_or_none(reference)
        };
        reference_cache::reference(ptr::from_ref(self).cast(), constant, find)
    }

    /// The reference, or 0 for a text without space, which it counts.
    fn known_or_none(&self, text: Option<u32>) -> u32 {
        text.unwrap_or_else(|| {
            self.count(header::WITHOUT_SPACE);
            0
        })
    }

    fn count(&self, word: usize) {
        self.add(word, 1);
    }

    /// Adds to a word of the header, modulo 2^64.
    pub(super) fn add(&self, word: usize, value: u64) {
        self.file.header()[word].fetch_add(value, Relaxed);
    }

    /// Notes that a task that a runtime counts takes a slot, or leaves one: 1, or -1 modulo 2^64. The caller has the lock of the free slots.
    fn add_with_slot(&self, _free: &mut Free, value: u64) {
        // Relaxed, and no read-modify-write: it changes under the lock.
        self.with_slot.store(self.with_slot.load(Relaxed).wrapping_add(value), Relaxed);
    }

    /// Notes that a runtime has counted its tasks.
    pub(super) fn counted(&self, now: u64) {
        let words = self.file.header();
        words[header::COUNTED_WITH_SLOT].store(self.with_slot.load(Relaxed), Relaxed);
        words[header::COUNTED_AT].store(now, Relaxed);
    }

    pub(super) fn texts(&self) -> MutexGuard<'_, Texts> {
        locked(&self.texts)
    }

    /// The number of a free slot, from 1, for a task that a runtime counts or does not. Once a second it measures the clock.
    fn free_number(&self, now: u64, is_counted: bool) -> Option<u32> {
        let mut free = locked(&self.free);
        if now.wrapping_sub(free.measured) > free.calibration.frequency {
            free.measured = now;
            free.calibration.refine();
            self.show_clock(&free.calibration);
        }
        if free.numbers.is_empty() {
            self.grow(&mut free).ok()?;
        }
        let number = free.numbers.pop()?;
        if is_counted {
            self.add_with_slot(&mut free, 1);
        }
        Some(number)
    }

    /// Adds a block of slots. Without effect at the limit.
    fn grow(&self, free: &mut Free) -> io::Result<()> {
        let length = self.length.load(Relaxed);
        if length >= LIMIT {
            return Ok(());
        }
        let more = length + BLOCK;
        self.file.grow(SLOTS + length * SLOT, SLOTS + more * SLOT)?;
        free.numbers.extend((length as u32 + 1..=more as u32).rev());
        // Release: with `slot`.
        self.length.store(more, Release);
        self.file.header()[header::LENGTH].store(more as u64, Release);
        Ok(())
    }

    /// Shows the measured clock. The caller is the only one: it has the lock of the free slots, or the table is new.
    fn show_clock(&self, calibration: &Calibration) {
        self.file.clock().change(|words| {
            words.set(of_clock::FREQUENCY, calibration.frequency);
            words.set(of_clock::SECONDS, calibration.offset_seconds.cast_unsigned());
            words.set(of_clock::CYCLES, calibration.offset_cycles);
        });
    }
}

const _: () = assert!(size_of::<AtomicU64>() == 8 && align_of::<AtomicU64>() <= 8);

/// Nothing panics under these locks that leaves their values half changed.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// When the kernel started this process, in its ticks since the machine's start; 0 without `/proc`.
fn started() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    layout::started(&stat).unwrap_or(0)
}
