//! The reader: what it makes of a sound table, and that a hostile one harms nobody.
#![cfg(not(loom))]

use std::cell::{Cell, RefCell};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dyntrace_task_table::layout::{
    LAST_PID, LIMIT, MAGIC, SLOT, SLOT_WORDS, TEXT_AREA, TEXT_LIMIT, TEXT_UNIT, TEXTS, Text, VERSION, header, slot,
};
use dyntrace_task_table::lock::joined;
use dyntrace_task_table::{Compact, Error, Resource, Source, State, Table, Task, TaskKind, Texted, Thing, Waker};
use proptest::prelude::*;

/// Where the slots of the samples begin.
const SLOTS: usize = TEXTS + 4096;

/// A table made by hand.
struct Sample(Vec<u8>);

impl Sample {
    fn new(slots: usize) -> Sample {
        let mut sample = Sample(vec![0; SLOTS + slots * SLOT]);
        sample.set(0, header::MAGIC, MAGIC);
        sample.set(0, header::VERSION, 4711 << 32 | u64::from(VERSION));
        sample.set(0, header::STARTED, 99);
        sample.set(0, header::SLOTS, SLOTS as u64);
        sample.set(0, header::LENGTH, slots as u64);
        sample.set(0, header::LIMIT, 2048);
        sample.set(0, header::WITHOUT_SLOT, 3);
        sample.set(0, header::WITHOUT_SPACE, 1);
        for (word, value) in
            [(header::RUNTIMES, 2), (header::COUNTED, 40), (header::COUNTED_WITH_SLOT, 1), (header::COUNTED_AT, 3_000)]
        {
            sample.set(0, word, value);
        }
        for (word, value) in [(1, 1_000), (2, 50), (3, 250)] {
            sample.set(0, header::CLOCK + word, value);
        }
        sample
    }

    fn set(&mut self, place: usize, word: usize, value: u64) {
        self.0[place + 8 * word..][..8].copy_from_slice(&value.to_ne_bytes());
    }

    fn set_slot(&mut self, number: usize, words: &[(usize, u64)]) {
        words.iter().for_each(|(word, value)| self.set(SLOTS + number * SLOT, *word, *value));
    }

    fn text(&mut self, reference: usize, first: &str, second: &str) {
        let place = TEXTS + reference * TEXT_UNIT;
        self.set(place, 0, (second.len() as u64) << 32 | first.len() as u64);
        let bytes = [first, second].concat();
        self.0[place + 8..][..bytes.len()].copy_from_slice(bytes.as_bytes());
    }

    fn read(&self) -> Table {
        Table::read(&self.0[..]).unwrap()
    }
}

fn references(spawn: u32, tag: u32, wait: u32) -> u64 {
    Text::Wait.put(Text::Tag.put(Text::Spawn.put(0, spawn), tag), wait)
}

fn sample() -> Sample {
    let mut sample = Sample::new(3);
    sample.text(1, "server::serve", "src/server.rs:7");
    sample.text(5, "request 12", "");
    sample.text(8, "lock", "src/cache.rs:40");
    sample.set_slot(
        1,
        &[
            (slot::LOCK, joined(6, 17)),
            (slot::PID, Task::pid_word(57, TaskKind::Future, State::Idle)),
            (slot::PARENT, 3 << 16 | 1),
            (slot::TEXTS, references(1, 5, 8)),
            (slot::WOKEN_BY, Waker::Process(58).word()),
            (slot::SPAWNED, 1_000),
            (slot::SCHEDULED, 2_000),
            (slot::POLLS, Task::next_poll(8, 4712)),
            (slot::BUSY, 500),
            (slot::LONGEST, u64::from(10f32.to_bits()) << 32 | u64::from(200f32.to_bits())),
            (slot::RESOURCE, Resource::Numbered(12).word()),
            (slot::SINCE, 2_001),
        ],
    );
    sample
}

#[test]
fn a_table_is_read() {
    let table = sample().read();
    let header = table.header;
    assert_eq!((header.process, header.started, header.without_slot, header.without_space), (4711, 99, 3, 1));
    assert_eq!((header.runtimes, header.counted, header.counted_with_slot, header.counted_at), (2, 40, 1, 3_000));
    assert_eq!((table.unsettled, table.damaged_texts, table.cut), (0, 0, 0));
    let [seen] = &table.tasks[..] else { panic!("{:?}", table.tasks) };
    let site = seen.site.as_ref().unwrap();
    assert_eq!(
        (&*site.first, &*site.second, seen.tag.as_deref()),
        ("server::serve", "src/server.rs:7", Some("request 12"))
    );
    let (task, wait) = (seen.task, seen.wait.as_ref().unwrap());
    assert_eq!((task.pid, task.parent, task.generation, task.id), (57, 3, 1, 17));
    assert_eq!((task.thread, task.polls, task.woken_by), (4712, 9, Some(Waker::Process(58))));
    assert_eq!(
        (task.state, task.kind, task.busy, task.longest, task.last),
        (State::Idle, TaskKind::Future, 500, 200., 10.)
    );
    assert_eq!((&*wait.site.as_ref().unwrap().first, &wait.resource), ("lock", &Thing::Numbered(12)));
    // 50 s, and 250 of 1000 cycles a second.
    let clock = table.clock.unwrap();
    assert_eq!((clock.realtime(2_000), clock.nanoseconds(500)), (52_250_000_000, 500_000_000));
}

#[test]
fn a_compact_table_has_the_same_tasks_in_the_order_of_their_pids() {
    let of_slot = |pid, id, texts, resource: Resource, since| {
        let pid = Task::pid_word(pid, TaskKind::Future, State::Idle);
        [
            (slot::LOCK, joined(4, id)),
            (slot::PID, pid),
            (slot::TEXTS, texts),
            (slot::RESOURCE, resource.word()),
            (slot::SINCE, since),
        ]
    };
    let mut sample = Sample::new(6);
    sample.text(1, "server::serve", "src/server.rs:7");
    sample.text(5, "request 12", "");
    sample.text(8, "lock", "src/cache.rs:40");
    sample.text(11, "request 13", "");
    for (number, words) in [
        of_slot(90, 17, references(1, 0, 8), Resource::Numbered(12), 5),
        of_slot(70, 18, references(1, 0, 8), Resource::Numbered(12), 6),
        of_slot(80, 0, references(1, 5, 8), Resource::Named(8), 7),
        of_slot(60, 20, references(1, 11, 0), Resource::Numbered(0), 0),
        of_slot(LAST_PID, 20, references(1, 0, 8), Resource::Process(70), 8),
    ]
    .iter()
    .enumerate()
    {
        sample.set_slot(number, words);
    }
    let Table { mut tasks, .. } = sample.read();
    tasks.sort_unstable_by_key(|seen| seen.task.pid);
    let compact = Compact::read(&sample.0[..]).unwrap();
    assert_eq!((compact.len(), compact.is_empty(), compact.table.tasks.len()), (5, false, 0));
    let mut last = None;
    for (place, seen) in tasks.iter().enumerate() {
        assert_eq!(compact.seen(place, &mut last), Some(seen));
        assert_eq!(compact.slot(place), Some(seen.task));
        assert_eq!(compact.place_of(seen.task.pid), Some(place));
    }
    // Whichever task was before.
    for (place, seen) in tasks.iter().enumerate().rev() {
        assert_eq!(compact.seen(place, &mut last), Some(seen));
    }
    assert_eq!((compact.seen(5, &mut last), compact.place_of(71), compact.place_of(LAST_PID + 1)), (None, None, None));
}

#[test]
fn each_form_of_a_resource_is_read() {
    let name = || Thing::Named(Some(Arc::new(Texted { first: "lock".into(), second: "src/cache.rs:40".into() })));
    for (resource, thing) in [
        (Resource::Numbered(12), Thing::Numbered(12)),
        (Resource::Named(8), name()),
        (Resource::Process(7), Thing::Process(7)),
        (Resource::Process(LAST_PID), Thing::Process(LAST_PID)),
        (Resource::Operation { thread: 3, tag: 17 }, Thing::Operation { thread: 3, tag: 17 }),
        (Resource::Operation { thread: 1, tag: -1 }, Thing::Operation { thread: 1, tag: -1 }),
        (
            Resource::Operation { thread: (1 << 30) - 1, tag: i32::MIN },
            Thing::Operation { thread: (1 << 30) - 1, tag: i32::MIN },
        ),
    ] {
        let mut sample = sample();
        sample.set_slot(1, &[(slot::RESOURCE, resource.word())]);
        assert_eq!(sample.read().tasks[0].wait.as_ref().unwrap().resource, thing);
    }
}

#[test]
fn a_slot_that_was_changing_when_the_program_was_killed_is_counted() {
    let mut sample = sample();
    sample.set_slot(1, &[(slot::LOCK, joined(7, 17))]);
    sample.set(0, header::CLOCK, joined(1, 0));
    let table = sample.read();
    assert_eq!((table.tasks.len(), table.unsettled, table.clock), (0, 1, None));
}

/// A table whose slot 1 changes before each copy.
struct Changing<C>(RefCell<(Sample, u32)>, C);

impl<C: Fn(&mut Sample, u32)> Source for Changing<C> {
    fn copy(&self, bytes: &mut [u8], place: u64) -> io::Result<usize> {
        let (sample, changes) = &mut *self.0.borrow_mut();
        *changes += 1;
        // As often as a poll does.
        sample.set_slot(1, &[(slot::LOCK, joined(6 + 4 * *changes, 17))]);
        (self.1)(sample, *changes);
        sample.0[..].copy(bytes, place)
    }
}

fn read_changing(change: impl Fn(&mut Sample, u32)) -> Table {
    let table = Table::read(&Changing(RefCell::new((sample(), 0)), change)).unwrap();
    assert_eq!((table.damaged_texts, table.cut), (0, 0));
    assert_eq!(table.tasks.len() as u64 + table.unsettled, 1);
    table
}

#[test]
fn a_task_that_is_polled_at_each_copy_is_read() {
    let table = read_changing(|sample, changes| {
        sample.set_slot(1, &[(slot::POLLS, Task::next_poll(changes.into(), 4712)), (slot::BUSY, changes.into())]);
    });
    assert_eq!(table.blurred, 1);
    let [seen] = &table.tasks[..] else { panic!("{:?}", table.tasks) };
    let whole = &sample().read().tasks[0];
    assert_eq!((&seen.site, &seen.tag, &seen.wait), (&whole.site, &whole.tag, &whole.wait));
    let (task, settled) = (seen.task, whole.task);
    assert_eq!(
        (task.pid, task.parent, task.id, task.thread),
        (settled.pid, settled.parent, settled.id, settled.thread)
    );
    assert!(task.polls > 64, "{task:?}");
}

#[test]
fn a_wait_that_changes_at_each_copy_is_left_out() {
    let table = read_changing(|sample, changes| sample.set_slot(1, &[(slot::SINCE, changes.into())]));
    let [seen] = &table.tasks[..] else { panic!("{:?}", table.tasks) };
    assert_eq!((table.blurred, &seen.wait, seen.task.wait), (1, &None, None));
    assert_eq!(seen.tag.as_deref(), Some("request 12"));
}

#[test]
fn a_slot_whose_tasks_or_tags_change_at_each_copy_is_counted() {
    let by_generation =
        |sample: &mut Sample, changes: u32| sample.set_slot(1, &[(slot::PARENT, 3 << 16 | u64::from(changes % 5))]);
    let by_pid = |sample: &mut Sample, changes: u32| {
        let pid = 57 + u64::from(changes);
        sample.set_slot(1, &[(slot::PID, Task::pid_word(pid, TaskKind::Future, State::Idle))]);
    };
    let by_tag = |sample: &mut Sample, changes: u32| sample.text(5, &format!("request {changes}"), "");
    let stands_still = |sample: &mut Sample, _: u32| sample.set_slot(1, &[(slot::LOCK, joined(7, 17))]);
    for table in
        [read_changing(by_generation), read_changing(by_pid), read_changing(by_tag), read_changing(stands_still)]
    {
        assert_eq!((table.tasks.len(), table.blurred, table.unsettled), (0, 0, 1));
    }
}

/// A table whose slot 0 is in a change until the reader has waited.
struct Halted(RefCell<Sample>);

impl Source for Halted {
    fn copy(&self, bytes: &mut [u8], place: u64) -> io::Result<usize> {
        self.0.borrow().0[..].copy(bytes, place)
    }

    fn wait(&self) -> bool {
        self.0.borrow_mut().set_slot(0, &[(slot::LOCK, joined(8, 18))]);
        true
    }
}

#[test]
fn a_thread_that_does_not_run_during_a_change_is_waited_for() {
    let mut sample = sample();
    let pid = Task::pid_word(58, TaskKind::Future, State::Idle);
    sample.set_slot(0, &[(slot::LOCK, joined(7, 18)), (slot::PID, pid)]);
    let table = Table::read(&Halted(RefCell::new(sample))).unwrap();
    let pids: Vec<u64> = table.tasks.iter().map(|seen| seen.task.pid).collect();
    assert_eq!((pids, table.unsettled, table.blurred), (vec![58, 57], 0, 0));
}

/// A table that counts the copies of its slots. `lock` gives the lock that all slots have in the copy of this number, and after a
/// wait. Waits take no time.
struct Stuck<L> {
    sample: Sample,
    copies: Cell<u32>,
    is_later: Cell<bool>,
    lock: L,
}

impl<L: Fn(u32, bool) -> u32> Stuck<L> {
    /// All slots are those of tasks, in the reverse order of their pids.
    fn new(slots: usize, lock: L) -> Self {
        let mut sample = Sample::new(slots);
        for number in 0..slots {
            let pid = Task::pid_word((slots - number) as u64, TaskKind::Future, State::Idle);
            sample.set_slot(number, &[(slot::PID, pid)]);
        }
        Stuck { sample, copies: Cell::new(0), is_later: Cell::new(false), lock }
    }
}

impl<L: Fn(u32, bool) -> u32> Source for Stuck<L> {
    fn copy(&self, bytes: &mut [u8], place: u64) -> io::Result<usize> {
        let length = self.sample.0[..].copy(bytes, place)?;
        if place >= SLOTS as u64 {
            self.copies.set(self.copies.get() + 1);
            let lock = joined((self.lock)(self.copies.get(), self.is_later.get()), 17);
            bytes[..length].chunks_mut(SLOT).for_each(|slot| slot[..8].copy_from_slice(&lock.to_ne_bytes()));
        }
        Ok(length)
    }

    fn wait(&self) -> bool {
        self.is_later.set(true);
        true
    }
}

#[test]
fn slots_that_never_settle_cost_a_limited_time_in_all() {
    const SLOTS: usize = 20_000;
    fn costs(lock: impl Fn(u32, bool) -> u32) -> u32 {
        let table = Stuck::new(SLOTS, lock);
        let read = Table::read(&table).unwrap();
        assert_eq!(read.unsettled + read.blurred, SLOTS as u64);
        table.copies.get()
    }
    let (stand_still, change) = (costs(|_, _| 7), costs(|copies, _| 2 * copies + 1));
    // Three copies for each of 2^18 retries, and for each block.
    for copies in [stand_still, change] {
        assert!(copies <= 3 * (1 << 18) + 100, "{stand_still} {change}");
    }
}

#[test]
fn many_slots_that_settle_late_are_read_in_their_order() {
    const SLOTS: usize = 150_000;
    let began = Instant::now();
    let table = Table::read(&Stuck::new(SLOTS, |_, is_later| if is_later { 8 } else { 7 })).unwrap();
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    let pids = table.tasks.iter().map(|seen| seen.task.pid);
    assert_eq!((table.unsettled, table.tasks.len()), (0, SLOTS));
    assert!(pids.eq((1..=SLOTS as u64).rev()));
}

#[test]
fn texts_outside_of_their_area_are_counted() {
    let mut sample = sample();
    sample.set_slot(1, &[(slot::TEXTS, references(u32::MAX, 5, 8))]);
    let place = TEXTS + 5 * TEXT_UNIT;
    sample.set(place, 0, u64::MAX);
    let table = sample.read();
    let [seen] = &table.tasks[..] else { panic!("{:?}", table.tasks) };
    assert_eq!((&seen.site, &seen.tag, table.damaged_texts), (&None, &None, 2));
}

#[test]
fn a_file_that_is_cut_gives_the_slots_that_it_has() {
    let mut sample = sample();
    sample.0.truncate(SLOTS + 2 * SLOT + 5);
    let table = sample.read();
    assert_eq!((table.tasks.len(), table.cut), (1, 1));
    for length in 0..8 * header::WORDS {
        assert!(matches!(Table::read(&sample.0[..length]), Err(Error::Unknown)), "{length} bytes");
    }
}

#[test]
fn a_header_that_claims_too_much_is_refused() {
    for (word, value) in [
        (header::LENGTH, LIMIT as u64 + 1),
        (header::LENGTH, u64::MAX),
        (header::SLOTS, 0),
        (header::SLOTS, SLOTS as u64 + 8),
        (header::SLOTS, (TEXTS + TEXT_AREA) as u64 + 4096),
        (header::SLOTS, u64::MAX),
    ] {
        let mut sample = sample();
        sample.set(0, word, value);
        assert!(matches!(Table::read(&sample.0[..]), Err(Error::Damaged(_))), "word {word} is {value}");
    }
}

/// Texts that overlap, so that together they are larger than the file.
#[test]
fn texts_take_no_more_memory_than_their_area() {
    let slots = (TEXT_AREA / (2 * TEXT_LIMIT)) * 2;
    let begin = TEXTS + TEXT_AREA;
    let mut sample = Sample(vec![0; begin + slots * SLOT]);
    sample.0[..TEXTS].copy_from_slice(&self::sample().0[..TEXTS]);
    sample.set(0, header::SLOTS, begin as u64);
    sample.set(0, header::LENGTH, slots as u64);
    for text in 1..=slots {
        sample.set(TEXTS + text * TEXT_UNIT, 0, (TEXT_LIMIT as u64) << 32 | TEXT_LIMIT as u64);
        let slot = begin + (text - 1) * SLOT;
        sample.set(slot, slot::PID, Task::pid_word(text as u64, TaskKind::Future, State::Idle));
        sample.set(slot, slot::TEXTS, text as u64);
    }
    let table = sample.read();
    let bytes = |seen: &dyntrace_task_table::TaskEntry| {
        seen.site.as_ref().map_or(0, |pair| pair.first.len() + pair.second.len())
    };
    assert_eq!(table.tasks.len(), slots);
    assert!(table.tasks.iter().map(bytes).sum::<usize>() <= TEXT_AREA);
    assert!(table.damaged_texts > 0);
}

/// Whatever is returned can be shown.
fn show(table: &Table) {
    let clock = table.clock.unwrap_or(dyntrace_task_table::Clock { frequency: 1, seconds: i64::MIN, cycles: u64::MAX });
    for seen in &table.tasks {
        clock.nanoseconds(seen.task.busy);
        clock.realtime(seen.task.scheduled);
    }
}

proptest! {
    #[test]
    fn each_part_of_a_word_keeps_the_others(word: u64, polls in 0..1_u64 << 42, thread in 0..1_u32 << 22, reference in 0..1_u32 << 21) {
        for text in [Text::Spawn, Text::Tag, Text::Wait] {
            let changed = text.put(word, reference);
            for other in [Text::Spawn, Text::Tag, Text::Wait] {
                prop_assert_eq!(other.of(changed), if other == text { reference } else { other.of(word) });
            }
        }
        let mut words = [0; SLOT_WORDS];
        words[slot::PID] = Task::pid_word(57, TaskKind::Future, State::Idle);
        words[slot::POLLS] = Task::next_poll(Task::next_poll(polls, 1), thread);
        for woken_by in [Waker::Process(polls), Waker::Task(word as u32), Waker::Thread(thread)] {
            words[slot::WOKEN_BY] = woken_by.word();
            let task = Task::of(&words).unwrap();
            prop_assert_eq!((task.polls, task.thread, task.woken_by), ((polls + 2) % (1 << 42), thread, Some(woken_by)));
        }
        words[slot::WOKEN_BY] = word & !0xffff;
        prop_assert_eq!(Task::of(&words).unwrap().woken_by, None);
    }

    #[test]
    fn damage_harms_no_reader(damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..200), cut: prop::sample::Index) {
        let mut bytes = sample().0;
        for (place, byte) in damage {
            // The first two words stay, so that the reader reads further.
            let place = 16 + place.index(bytes.len() - 16);
            bytes[place] = byte;
        }
        bytes.truncate(bytes.len() - cut.index(bytes.len() / 4));
        if let Ok(table) = Table::read(&bytes[..]) {
            show(&table);
            prop_assert!(table.tasks.len() <= bytes.len() / SLOT);
        }
    }

    #[test]
    fn any_slots_are_read(slots in prop::collection::vec(any::<[u64; SLOT_WORDS]>(), 1..40), texts: [u64; 64]) {
        let mut sample = Sample::new(slots.len());
        texts.iter().enumerate().for_each(|(word, text)| sample.set(TEXTS, word, text % 700));
        for (number, words) in slots.iter().enumerate() {
            sample.set_slot(number, &words.iter().copied().enumerate().collect::<Vec<_>>());
            // A slot in use, whose texts are near the area.
            sample.set_slot(number, &[(slot::PID, words[slot::PID] & !0xff | (1 + words[slot::PID] % 3)), (slot::TEXTS, words[slot::TEXTS] & references(0x3ff, 0x3ff, 0x3ff))]);
        }
        let table = sample.read();
        show(&table);
        let odd = slots.iter().filter(|words| words[slot::LOCK] % 2 != 0).count();
        prop_assert_eq!((table.tasks.len(), table.unsettled), (slots.len() - odd, odd as u64));
    }

    #[test]
    fn any_bytes_are_read(bytes: Vec<u8>) {
        prop_assert!(Table::read(&bytes[..]).is_err());
    }
}
