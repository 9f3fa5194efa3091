//! The program's table, and the slots of its tasks.

use std::cell::Cell;
use std::fs::File;
#[cfg(all(tokio_unstable, feature = "runtime"))]
use std::hint;
use std::io;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::{Acquire, Release};
#[cfg(all(tokio_unstable, feature = "runtime"))]
use std::thread;
#[cfg(all(tokio_unstable, feature = "runtime"))]
use std::time::Duration;

use dyntrace_probes::clock;
use dyntrace_probes::forks::ZeroedByFork;
use dyntrace_task_table::layout::{self, SLOT_WORDS, Slot, State, Task, Text, Waker, slot};
use dyntrace_task_table::lock;

use super::id::of_current;
use super::polls::{self, Current, Poll};
use super::table::Table;
use super::{Begun, Operation, Resource, Spawned};

/// The words of a slot during a change.
type Changed<'s> = lock::Changed<'s, { SLOT_WORDS - 1 }>;

/// The table; null until there is one. Never freed.
static TABLE: ZeroedByFork<AtomicPtr<Table>> = ZeroedByFork::new(AtomicPtr::new(ptr::null_mut()));

#[inline(always)]
pub(super) fn table() -> Option<&'static Table> {
    // Acquire: with the Release of `start`.
    // SAFETY: null, or a table that is never freed.
    unsafe { TABLE.load(Acquire).as_ref() }
}

/// Whether there is a table.
#[inline(always)]
pub fn is_kept() -> bool {
    table().is_some()
}

/// Keeps tasks in `file` from now on; it is new and empty. There is no table yet, and one caller at a time.
///
/// # Errors
///
/// The file cannot grow, or cannot be mapped.
pub fn start(file: File) -> io::Result<()> {
    let new = Box::into_raw(Box::new(Table::new(file)?));
    // Release: with `table`.
    TABLE.store(new, Release);
    Ok(())
}

/// Has the kernel leave forked children without a table. Returns `false` where it cannot.
pub fn wipe_in_children() -> bool {
    // Both: each is asked for.
    TABLE.wipe_in_children() & polls::wipe_in_children()
}

/// Leaves a forked child without a table.
///
/// # Safety
///
/// The caller is the child's only thread.
pub unsafe fn forget() {
    // SAFETY: as the caller promises.
    unsafe {
        TABLE.forget();
        polls::forget();
    }
}

/// The slot of a task, by its number from 1; 0 for none. With marks in the highest bits.
#[cfg_attr(all(tokio_unstable, feature = "runtime"), derive(Clone, Copy))]
pub struct TaskSlot(u32);

/// Until the first poll. No slot has such a number, so polls after the first one pay nothing for what the first one does.
const UNPOLLED: u32 = 1 << 31;
/// If a runtime counts the task.
const COUNTED: u32 = 1 << 30;
/// If it is a closure for blocking work, which may take its time: watches do not see its call.
const CLOSURE: u32 = 1 << 29;

const _: () = assert!(layout::LIMIT < CLOSURE as usize);

impl TaskSlot {
    pub const NONE: TaskSlot = TaskSlot(0);
    /// No slot, for a closure for blocking work.
    pub const NONE_OF_CLOSURE: TaskSlot = TaskSlot(CLOSURE);

    /// Takes a slot for a task that begins. Returns no slot without a table; also if the table is full, which it counts.
    #[cold]
    pub fn take(spawned: &Spawned<'_>) -> TaskSlot {
        let Some(number) = table().and_then(|table| table.take(spawned)) else {
            return if spawned.is_blocking { TaskSlot::NONE_OF_CLOSURE } else { TaskSlot::NONE };
        };
        let mut seat = TaskSlot(number);
        if spawned.is_blocking {
            seat.0 |= CLOSURE;
        }
        if spawned.task.is_none() {
            seat.0 |= UNPOLLED;
        }
        if spawned.is_counted {
            seat.0 |= COUNTED;
        }
        seat
    }

    fn number(&self) -> u32 {
        self.0 & !(UNPOLLED | COUNTED | CLOSURE)
    }

    /// Notes that the current thread runs the task, until the value is dropped. `woken_by`: what [`wakes`] returned at the task's last
    /// wake; 0 without one. `now` is asked for the time only if there is a table. Watches see the polls of tasks without a slot, too.
    #[inline(always)]
    pub fn run(&mut self, pid: u64, woken_by: u64, now: impl FnOnce() -> u64) -> Option<Running> {
        let table = table()?;
        let slot = match table.slot(self.0 & !(COUNTED | CLOSURE), pid) {
            Some(slot) => Some(slot),
            None => self.first(table, pid),
        };
        let poll = polls::own_for(table);
        let began = now();
        if let Some(slot) = slot {
            begin_poll(slot, poll.thread(), woken_by, began);
        }
        let before = poll.current();
        let since = if self.0 & CLOSURE == 0 { began } else { 0 };
        poll.set(Current { seat: self.number(), pid, since });
        Some(Running { table, slot, poll, began, before })
    }

    /// [`run`](TaskSlot::run) for callers whose end of a poll is elsewhere. Another thread may still have to tell the end of the poll before:
    /// this ends it, and that thread does nothing.
    #[cfg(all(tokio_unstable, feature = "runtime"))]
    pub fn poll_begins(self, pid: u64, now: u64) -> Outer {
        let Some(table) = table() else { return Outer { begun: None, before: None } };
        let poll = polls::own_for(table);
        let begun = table.slot(self.number(), pid).and_then(|slot| {
            let mut polls = 0;
            let began = change_settled(slot, pid, |words| {
                end_if_running(words, now);
                begin(words, poll.thread(), 0, now);
                polls = words.get(slot::POLLS);
            });
            began.then_some(Beginning { table, slot, polls })
        });
        let before = poll.current();
        poll.set(Current { seat: self.number(), pid, since: now });
        Outer { begun, before: Some((poll, before)) }
    }

    /// [`leave`](TaskSlot::leave) for a task whose last poll another thread may still have to end. That thread finds the slot without the pid,
    /// and does nothing.
    #[cfg(all(tokio_unstable, feature = "runtime"))]
    pub fn leave_after_polls(self, pid: u64) {
        if self.0 & !CLOSURE != 0 {
            leave(&self, pid, |slot| change_settled(slot, pid, free));
        }
    }

    /// Returns the slot of a task that is polled for the first time, with the id of the tokio task in which that happens.
    #[cold]
    fn first<'t>(&mut self, table: &'t Table, pid: u64) -> Option<&'t Slot> {
        if self.0 & UNPOLLED == 0 {
            return None;
        }
        self.0 &= !UNPOLLED;
        let slot = table.slot(self.number(), pid)?;
        let id = of_current();
        slot.change(|words| words.set_beside(id));
        Some(slot)
    }

    /// Frees the slot of a task that ends.
    #[inline(always)]
    pub fn leave(&self, pid: u64) {
        if self.0 & !CLOSURE != 0 {
            leave(self, pid, |slot| slot.change(free));
        }
    }
}

#[cold]
fn leave(seat: &TaskSlot, pid: u64, free: impl FnOnce(&Slot) -> bool) {
    if let Some(table) = table() {
        table.leave(seat.number(), pid, seat.0 & COUNTED != 0, free);
    }
}

/// Without its pid a slot is free; [`Table::take`] sets the other words.
fn free(words: &Changed<'_>) {
    words.set(slot::PID, 0);
}

/// A poll whose end is told elsewhere, and the task that the thread polls around it.
#[cfg(all(tokio_unstable, feature = "runtime"))]
pub struct Outer {
    begun: Option<Beginning>,
    before: Option<(&'static Poll, Current)>,
}

/// A poll that has begun in the slot of its task.
#[cfg(all(tokio_unstable, feature = "runtime"))]
struct Beginning {
    table: &'static Table,
    slot: &'static Slot,
    /// The word with the number of the poll.
    polls: u64,
}

#[cfg(all(tokio_unstable, feature = "runtime"))]
impl Outer {
    /// Ends the poll of the process `pid` at this time, unless another thread has. The current thread polls the task around it again.
    pub fn ends(self, pid: u64, now: u64) {
        // A forked child has no table, or another one.
        if let Some(Beginning { table: of, slot, polls }) = self.begun
            && table().is_some_and(|table| ptr::eq(table, of))
            // Otherwise another thread changes it, which ends this poll first.
            && let Some(lock) = slot.settled()
            && slot.word(slot::PID) >> 16 == pid
            && slot.word(slot::POLLS) == polls
        {
            slot.change_if(lock, |words| end_if_running(words, now));
        }
        self.resume();
    }

    /// Notes that the current thread polls the task around it again.
    pub fn resume(self) {
        if let Some((poll, before)) = self.before {
            poll.set(before);
        }
    }
}

/// Changes the slot of the process `pid`, after the thread that may be changing it: that takes it some nanoseconds, unless the system stops
/// that thread meanwhile. Returns `false`, and changes nothing, if the process has ended, as a runtime that shuts down may end a task that one
/// of its threads begins to poll.
#[cfg(all(tokio_unstable, feature = "runtime"))]
fn change_settled(slot: &Slot, pid: u64, mut change: impl FnMut(&Changed<'_>)) -> bool {
    let mut turns = 0;
    loop {
        if let Some(lock) = slot.settled() {
            // The slot may be free, and then another thread takes it as its only writer.
            if slot.word(slot::PID) >> 16 != pid {
                return false;
            }
            if slot.change_if(lock, &mut change) {
                return true;
            }
        }
        turns += 1;
        // A sleep at last: a thread of lower priority gets no processor from one that only yields.
        match turns {
            ..100 => hint::spin_loop(),
            100..200 => thread::yield_now(),
            _ => thread::sleep(Duration::from_micros(50)),
        }
    }
}

#[cfg(all(tokio_unstable, feature = "runtime"))]
fn is_running(word: u64) -> bool {
    word & 0xff == State::Running as u64
}

#[cfg(all(tokio_unstable, feature = "runtime"))]
fn end_if_running(words: &Changed<'_>, now: u64) {
    if is_running(words.get(slot::PID)) {
        end(words, now.wrapping_sub(words.get(slot::SCHEDULED)));
    }
}

/// A poll of a task. Dropping it ends the poll, at the time that the clock then has.
pub struct Running {
    table: &'static Table,
    slot: Option<&'static Slot>,
    poll: &'static Poll,
    began: u64,
    before: Current,
}

impl Running {
    /// Ends the poll at a time that the caller has read.
    #[inline(always)]
    pub fn end(self, now: u64) {
        ManuallyDrop::new(self).end_at(|| now);
    }

    #[inline(always)]
    fn end_at(&self, now: impl FnOnce() -> u64) {
        self.poll.set(self.before);
        // A forked child has no table, or another one.
        if let Some(slot) = self.slot
            && table().is_some_and(|table| ptr::eq(table, self.table))
        {
            end_poll(slot, now().wrapping_sub(self.began));
        }
    }
}

impl Drop for Running {
    #[inline(always)]
    fn drop(&mut self) {
        self.end_at(clock::now);
    }
}

#[inline(always)]
fn begin_poll(slot: &Slot, thread: u32, woken_by: u64, now: u64) {
    slot.change(|words| begin(words, thread, woken_by, now));
}

#[inline(always)]
fn begin(words: &Changed<'_>, thread: u32, woken_by: u64, now: u64) {
    words.set(slot::PID, words.get(slot::PID) & !0xff | State::Running as u64);
    words.set(slot::WOKEN_BY, woken_by);
    words.set(slot::SCHEDULED, now);
    words.set(slot::POLLS, Task::next_poll(words.get(slot::POLLS), thread));
}

#[inline(always)]
fn end_poll(slot: &Slot, took: u64) {
    slot.change(|words| end(words, took));
}

#[inline(always)]
fn end(words: &Changed<'_>, took: u64) {
    let last = (took.cast_signed() as f32).to_bits();
    // The bits of numbers that are not negative have the order of the numbers.
    let longest = last.max(words.get(slot::LONGEST) as u32);
    words.set(slot::PID, words.get(slot::PID) & !0xff | State::Idle as u64);
    words.set(slot::BUSY, words.get(slot::BUSY).wrapping_add(took));
    words.set(slot::LONGEST, u64::from(last) << 32 | u64::from(longest));
}

/// The task that the current thread polls, else the task or the thread that this is, as the word of a slot: for a task that it wakes.
/// `None` without a table.
#[inline(always)]
pub fn wakes() -> Option<u64> {
    match polls::own().map_or(0, |poll| poll.current().pid) {
        0 => wakes_outside(),
        pid => Some(Waker::Process(pid).word()),
    }
}

#[cold]
fn wakes_outside() -> Option<u64> {
    let table = table()?;
    let waker = match of_current() {
        0 => Waker::Thread(polls::own_for(table).thread()),
        id => Waker::Task(id),
    };
    Some(waker.word())
}

/// A wait that has left its row to another one.
#[derive(Clone, Copy)]
struct GaveWay {
    row: u32,
    /// When the poll of the row's task began.
    poll_began: u64,
    wait: Begun,
}

thread_local! {
    /// A wait around others (a timeout) that has left the row to another wait; of several in a poll the first one. If that other wait was
    /// beside the timeout, not inside of it, and ends in the same poll, nothing polls the timeout again: so the timeout takes the place.
    static GAVE_WAY: Cell<Option<GaveWay>> = const { Cell::new(None) };
}

/// The row of the task that the current thread polls.
struct Polled {
    table: &'static Table,
    slot: &'static Slot,
    poll: &'static Poll,
    current: Current,
}

/// The row of the polled task, if it has one.
fn polled() -> Option<Polled> {
    let poll = polls::own()?;
    let current = poll.current();
    let table = table()?;
    Some(Polled { table, slot: table.slot(current.seat, current.pid)?, poll, current })
}

impl Polled {
    fn is_of(&self, pid: u64) -> bool {
        self.current.pid == pid
    }

    fn note_wait(&self, begun: &Begun) {
        let resource = match begun.resource {
            Resource::Numbered(number) => layout::Resource::Numbered(number),
            Resource::Named(name) => layout::Resource::Named(self.table.name(name)),
            Resource::Process(pid) => layout::Resource::Process(pid),
            Resource::Operation(Operation { thread, tag }) => layout::Resource::Operation { thread, tag },
        };
        let site = match begun.place {
            Some(place) => self.table.site(begun.kind, place),
            None => self.table.name(begun.kind),
        };
        self.slot.change(|words| {
            words.set(slot::TEXTS, Text::Wait.put(words.get(slot::TEXTS), site));
            words.set(slot::RESOURCE, resource.word());
            words.set(slot::SINCE, begun.since);
        });
    }

    /// When the wait in the row began; 0 without one.
    fn wait(&self) -> u64 {
        if Text::Wait.of(self.slot.word(slot::TEXTS)) == 0 { 0 } else { self.slot.word(slot::SINCE) }
    }

    /// When this poll began.
    fn began(&self) -> u64 {
        self.slot.word(slot::SCHEDULED)
    }

    /// Notes that a wait around others has left the row to another one.
    fn gives_way(&self, wait: &Begun) {
        // In a destructor of the thread's end, nothing is noted.
        let _ = GAVE_WAY.try_with(|first| {
            if self.has_given_way(first).is_none() {
                first.set(Some(GaveWay { row: self.current.seat, poll_began: self.began(), wait: *wait }));
            }
        });
    }

    /// The wait that has left the row in this poll of the task.
    fn has_given_way(&self, first: &Cell<Option<GaveWay>>) -> Option<Begun> {
        let is_of_this = |gave: &GaveWay| (gave.row, gave.poll_began) == (self.current.seat, self.began());
        first.get().filter(is_of_this).map(|gave| gave.wait)
    }

    /// Takes the wait out of the row. A wait that has left the row in this poll takes the place.
    fn end_wait(&self) {
        let first = GAVE_WAY.try_with(|first| self.has_given_way(first).inspect(|_| first.set(None)));
        match first.ok().flatten() {
            Some(wait) => self.note_wait(&wait),
            None => {
                self.slot.change(|words| {
                    words.set(slot::TEXTS, Text::Wait.put(words.get(slot::TEXTS), 0));
                    words.set(slot::SINCE, 0);
                });
            }
        }
    }
}

/// Notes what the polled task waits for. A later wait of the task replaces it. Returns the number of the task's row; 0 without one.
pub fn wait_begins(begun: &Begun) -> u32 {
    let Some(polled) = polled().filter(|polled| polled.is_of(begun.pid)) else { return 0 };
    polled.note_wait(begun);
    polled.current.seat
}

/// [`wait_begins`] for a wait around others, at the end of its first poll that returns pending. Does nothing if the row has a wait that
/// began in this poll, or was polled in it.
pub fn enclosing_wait_begins(begun: &Begun) -> u32 {
    let Some(polled) = polled().filter(|polled| polled.is_of(begun.pid)) else { return 0 };
    let (wait, began) = (polled.wait(), polled.began());
    if wait == 0 || wait < began && !polled.poll.has_lasting_wait(began) {
        polled.note_wait(begun);
    } else {
        polled.gives_way(begun);
    }
    polled.current.seat
}

/// Notes again a wait that lasts, which the current thread has polled. Since it was noted in the row with the number `row`, another wait
/// may have taken its place there, and its future may have moved to another task. Returns the number of its row now; 0 without one.
///
/// A wait that `encloses` others leaves the row to any other wait, which may be inside of it.
pub fn wait_lasts(row: u32, since: u64, encloses: bool, begun: impl FnOnce() -> Begun) -> u32 {
    let polled = polled();
    let now = polled.as_ref().map_or(0, |polled| polled.current.seat);
    if now != row {
        leave_row(row, since);
    }
    if let Some(polled) = polled {
        let wait = polled.wait();
        if wait != since {
            if encloses && wait != 0 {
                polled.gives_way(&begun());
                return now;
            }
            polled.note_wait(&begun());
        }
        polled.poll.wait_lasts(polled.began());
    }
    now
}

/// Notes that a wait has ended, which began at `since` and was noted last in the row with the number `row`.
pub fn wait_ends(row: u32, since: u64) {
    if row == 0 {
        return;
    }
    // Before the row: a wait that has ended takes no place.
    let _ = GAVE_WAY.try_with(|first| match first.get() {
        Some(gave) if gave.wait.since == since => first.set(None),
        _ => {}
    });
    match polled() {
        Some(polled) if polled.current.seat == row => {
            if polled.slot.word(slot::SINCE) == since {
                polled.end_wait();
            }
        }
        _ => leave_row(row, since),
    }
}

/// Takes a wait out of a row that another thread may be changing. Another task may have the slot by now: its waits began later.
#[cold]
fn leave_row(row: u32, since: u64) {
    if let Some(table) = table()
        && let Some(slot) = table.slots().get((row as usize).wrapping_sub(1))
    {
        slot.clear(slot::SINCE, since);
    }
}

/// Notes that the polled task no longer waits for a file operation: this one, or with `None` whichever it is.
pub fn wait_of_operation_ends(operation: Option<Operation>) {
    let Some(polled) = polled() else { return };
    let slot = polled.slot;
    let word = slot.word(slot::RESOURCE);
    let is_meant = match operation {
        Some(Operation { thread, tag }) => word == layout::Resource::Operation { thread, tag }.word(),
        None => layout::Resource::is_operation(word),
    };
    if is_meant && Text::Wait.of(slot.word(slot::TEXTS)) != 0 {
        polled.end_wait();
    }
}

/// Notes the new tag of the polled task.
#[inline(always)]
pub fn tag_changed<T: Deref<Target = str>>(tag: impl FnOnce() -> Option<T>) {
    if let Some(poll) = polls::own() {
        set_tag(poll, tag);
    }
}

#[cold]
#[inline(never)]
fn set_tag<T: Deref<Target = str>>(poll: &Poll, tag: impl FnOnce() -> Option<T>) {
    if poll.current().seat != 0
        && let Some(Polled { table, slot, .. }) = polled()
    {
        table.set_tag(slot, tag().as_deref());
    }
}

const _: () = assert!(layout::SLOT == size_of::<Slot>());
