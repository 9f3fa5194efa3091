//! The layout of the file. All numbers are in the byte order of the machine, and aligned.
//!
//! | place | contents |
//! |---|---|
//! | 0 | the header, in words: [`header`] |
//! | [`TEXTS`] | texts; each begins at a multiple of [`TEXT_UNIT`] |
//! | the header's word [`header::SLOTS`] | slots of [`SLOT`] bytes: [`slot`] |
//!
//! A text is a pair of texts, as the function and the place of a spawn: a word with the lengths of both in bytes, and then their bytes.

use crate::lock::{Locked, halves};

/// The first word of the file.
pub const MAGIC: u64 = u64::from_le_bytes(*b"dyntasks");
/// The version of the layout.
pub const VERSION: u32 = 4;
/// The size of the header, and of all parts by which the file grows, in bytes.
pub const PAGE: usize = 4096;
/// Where the texts begin.
pub const TEXTS: usize = PAGE;
/// A reference to a text counts in units of this many bytes, from [`TEXTS`] on. 0 is no text.
pub const TEXT_UNIT: usize = 16;
/// The longest text of a pair in bytes. Longer ones are cut.
pub const TEXT_LIMIT: usize = 512;
/// The longest tag in bytes. Longer ones are cut.
pub const TAG_LIMIT: usize = 120;
/// The largest area of texts, in bytes.
pub const TEXT_AREA: usize = 16 << 20;
/// The largest number of slots.
pub const LIMIT: usize = 1 << 20;
/// Words of a slot.
pub const SLOT_WORDS: usize = 12;
/// The size of a slot in bytes.
pub const SLOT: usize = 8 * SLOT_WORDS;
/// A slot in memory.
pub type Slot = Locked<{ SLOT_WORDS - 1 }>;
/// The largest pid; a slot has 48 bits for it.
pub const LAST_PID: u64 = (1 << 48) - 1;

/// Words of the header, by their numbers.
pub mod header {
    /// [`MAGIC`](super::MAGIC).
    pub const MAGIC: usize = 0;
    /// The version, and the number of the process in its own pid namespace in the high half.
    pub const VERSION: usize = 1;
    /// When the kernel started the process, in its ticks since the machine's start.
    pub const STARTED: usize = 2;
    /// Where the slots begin.
    pub const SLOTS: usize = 3;
    /// The number of slots in the file.
    pub const LENGTH: usize = 4;
    /// The largest number of slots.
    pub const LIMIT: usize = 5;
    /// How many tasks found no slot.
    pub const WITHOUT_SLOT: usize = 6;
    /// How many texts found no space.
    pub const WITHOUT_SPACE: usize = 7;
    /// The words of the [`Clock`](super::Clock), with a lock before them.
    pub const CLOCK: usize = 8;
    /// How many runtimes count their tasks: those whose other tasks have no slots.
    pub const RUNTIMES: usize = CLOCK + super::clock::WORDS;
    /// How many tasks they have counted.
    pub const COUNTED: usize = RUNTIMES + 1;
    /// How many of these had a slot then.
    pub const COUNTED_WITH_SLOT: usize = RUNTIMES + 2;
    /// When a runtime has counted last, in cycles.
    pub const COUNTED_AT: usize = RUNTIMES + 3;
    /// The number of words.
    pub const WORDS: usize = RUNTIMES + 4;
}

/// Words of the clock.
pub mod clock {
    /// Cycles per second.
    pub const FREQUENCY: usize = 1;
    /// Seconds from 1970 to cycle 0, signed.
    pub const SECONDS: usize = 2;
    /// The remainder in cycles.
    pub const CYCLES: usize = 3;
    /// The number of words, with the lock.
    pub const WORDS: usize = 4;
    /// The clock in memory.
    pub type Words = crate::lock::Locked<{ WORDS - 1 }>;
}

/// Words of a slot.
pub mod slot {
    /// First half: the lock, odd during a change. Last half: the low 32 bits of tokio's id of the task, noted at the first poll; 0 without one.
    pub const LOCK: usize = 0;
    /// The pid in the high 48 bits; the kind in 8; the state in the low 8.
    pub const PID: usize = 1;
    /// The parent's pid in the high 48 bits; the generation of the slot in the low 16.
    pub const PARENT: usize = 2;
    /// Three references, of 21 bits each: [`Text`](super::Text).
    pub const TEXTS: usize = 3;
    /// The source of the last wake before the last poll: [`Waker`](super::Waker); 0 if there was none, or if it was not watched.
    pub const WOKEN_BY: usize = 4;
    /// When the task was spawned, in cycles.
    pub const SPAWNED: usize = 5;
    /// When its last poll began, in cycles.
    pub const SCHEDULED: usize = 6;
    /// The number of polls, with the running one, in the low 42 bits; the thread that polled the task last in the high 22, which the
    /// kernel's largest number needs.
    pub const POLLS: usize = 7;
    /// Cycles in polls that have ended.
    pub const BUSY: usize = 8;
    /// Low half: cycles of the longest poll; high half: of the last one. Both as the bits of an `f32`.
    pub const LONGEST: usize = 9;
    /// The thing that the task waits for: [`Resource`](super::Resource).
    pub const RESOURCE: usize = 10;
    /// When the wait began, in cycles; 0 without a wait, or once another task has ended it.
    pub const SINCE: usize = 11;
}

/// The state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// It has not run yet.
    Scheduled = 1,
    /// A thread polls it.
    Running = 2,
    /// It has returned pending.
    Idle = 3,
}

/// A kind of task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TaskKind {
    /// A future.
    Future = 0,
    /// A closure on a thread for blocking work.
    Blocking = 1,
}

/// The resource that a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resource {
    /// Its number.
    Numbered(u64),
    /// A reference to its name.
    Named(u32),
    /// A process, by the number in its pid.
    Process(u64),
    /// A file operation, as probes name it.
    Operation {
        /// The number of the thread that asked for it: 30 bits.
        thread: i32,
        /// That thread's number for it.
        tag: i32,
    },
}

/// The form of a resource, in the highest two bits of its word. A number is as it is.
const FORM: u64 = 3 << 62;
const OPERATION: u64 = 3 << 62;
const NAMED: u64 = 2 << 62;
const PROCESS: u64 = 1 << 62;
const POLL_BITS: u32 = 42;
const LAST_POLL: u64 = (1 << POLL_BITS) - 1;

impl Resource {
    /// The word of a slot.
    pub fn word(self) -> u64 {
        match self {
            Resource::Numbered(number) => number & !FORM,
            Resource::Named(text) => NAMED | u64::from(text),
            Resource::Process(pid) => PROCESS | pid & !FORM,
            Resource::Operation { thread, tag } => {
                OPERATION | (u64::from(thread.cast_unsigned()) << 32 | u64::from(tag.cast_unsigned())) & !FORM
            }
        }
    }

    /// Whether a word of a slot is that of an operation.
    pub fn is_operation(word: u64) -> bool {
        word & FORM == OPERATION
    }

    fn of(word: u64) -> Resource {
        match word & FORM {
            OPERATION => Resource::Operation { thread: ((word & !FORM) >> 32) as u32 as i32, tag: word as u32 as i32 },
            NAMED => Resource::Named(word as u32),
            PROCESS => Resource::Process(word & !FORM),
            _ => Resource::Numbered(word & !FORM),
        }
    }
}

/// A reference in the word [`slot::TEXTS`], by the place of its lowest bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// Function and place of the spawn.
    Spawn = 0,
    /// The tag.
    Tag = 21,
    /// Kind and place of the wait; 0 without a wait. See [`slot::SINCE`].
    Wait = 42,
}

const TEXT_BITS: u64 = (1 << 21) - 1;

const _: () = assert!(TEXT_AREA / TEXT_UNIT <= TEXT_BITS as usize);

impl Text {
    /// Returns the reference in a word.
    #[inline(always)]
    pub fn of(self, word: u64) -> u32 {
        (word >> self as u32 & TEXT_BITS) as u32
    }

    /// Returns the word with this reference instead of its own.
    #[inline(always)]
    pub fn put(self, word: u64, reference: u32) -> u64 {
        word & !(TEXT_BITS << self as u32) | (u64::from(reference) & TEXT_BITS) << self as u32
    }
}

/// The source of a wake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Waker {
    /// The process that the waking thread polled or called, by the number in its pid.
    Process(u64),
    /// Outside of processes: a task of tokio's, by the low 32 bits of its id.
    Task(u32),
    /// Outside of tasks: the thread.
    Thread(u32),
}

impl Waker {
    /// The word of a slot: the number in the high 48 bits, the kind in the low 16.
    #[inline(always)]
    pub fn word(self) -> u64 {
        let (number, kind) = match self {
            Waker::Process(pid) => (pid, 1),
            Waker::Task(id) => (u64::from(id), 2),
            Waker::Thread(thread) => (u64::from(thread), 3),
        };
        number << 16 | kind
    }

    fn of(word: u64) -> Option<Waker> {
        let number = word >> 16;
        match word & 0xffff {
            1 => Some(Waker::Process(number)),
            2 => Some(Waker::Task(number as u32)),
            3 => Some(Waker::Thread(number as u32)),
            _ => None,
        }
    }
}

/// The thing that a task waits for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wait {
    /// A reference to the kind and the place of the wait.
    pub site: u32,
    /// The resource.
    pub resource: Resource,
    /// When the wait began, in cycles.
    pub since: u64,
}

/// The contents of a slot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Task {
    /// The number in its pid.
    pub pid: u64,
    /// A future, or a closure for blocking work.
    pub kind: TaskKind,
    /// Its state.
    pub state: State,
    /// The number in the pid of the process that spawned it.
    pub parent: u64,
    /// How often the slot was used before, modulo 65536.
    pub generation: u16,
    /// The low 32 bits of the id of the tokio task in which it was polled first; 0 before the first poll, and outside of tokio's tasks.
    pub id: u32,
    /// A reference to the function and the place of the spawn.
    pub site: u32,
    /// A reference to the user tag; 0 without one.
    pub tag: u32,
    /// The thread that polled it last; 0 before the first poll.
    pub thread: u32,
    /// When it was spawned, in cycles.
    pub spawned: u64,
    /// When its last poll began, in cycles; when it was spawned, before the first poll.
    pub scheduled: u64,
    /// The number of polls, with a running one, modulo 2^42.
    pub polls: u64,
    /// The source of the last wake before the last poll, if there was one and it was watched.
    pub woken_by: Option<Waker>,
    /// Cycles in polls that have ended.
    pub busy: u64,
    /// Cycles of the longest poll that has ended.
    pub longest: f32,
    /// Cycles of the last poll that has ended.
    pub last: f32,
    /// Its wait, if it waits.
    pub wait: Option<Wait>,
}

impl Task {
    /// The pid, kind and state as a word.
    #[inline(always)]
    pub fn pid_word(pid: u64, kind: TaskKind, state: State) -> u64 {
        pid << 16 | (kind as u64) << 8 | state as u64
    }

    /// The next [`slot::POLLS`] of a task, when a thread begins to poll it.
    #[inline(always)]
    pub fn next_poll(word: u64, thread: u32) -> u64 {
        u64::from(thread) << POLL_BITS | word.wrapping_add(1) & LAST_POLL
    }

    /// Reads the words of a slot. `None` if it is free, or no writer has written it.
    pub fn of(words: &[u64; SLOT_WORDS]) -> Option<Task> {
        let low = |word: usize| words[word] as u32;
        let high = |word: usize| (words[word] >> 32) as u32;
        let state = match words[slot::PID] & 0xff {
            1 => State::Scheduled,
            2 => State::Running,
            3 => State::Idle,
            _ => return None,
        };
        let kind = if (words[slot::PID] >> 8) & 0xff == TaskKind::Blocking as u64 {
            TaskKind::Blocking
        } else {
            TaskKind::Future
        };
        let text = |text: Text| text.of(words[slot::TEXTS]);
        let wait =
            Wait { site: text(Text::Wait), resource: Resource::of(words[slot::RESOURCE]), since: words[slot::SINCE] };
        Some(Task {
            pid: words[slot::PID] >> 16,
            kind,
            state,
            parent: words[slot::PARENT] >> 16,
            generation: words[slot::PARENT] as u16,
            id: halves(words[slot::LOCK]).1,
            site: text(Text::Spawn),
            tag: text(Text::Tag),
            thread: (words[slot::POLLS] >> POLL_BITS) as u32,
            spawned: words[slot::SPAWNED],
            scheduled: words[slot::SCHEDULED],
            polls: words[slot::POLLS] & LAST_POLL,
            woken_by: Waker::of(words[slot::WOKEN_BY]),
            busy: words[slot::BUSY],
            longest: f32::from_bits(low(slot::LONGEST)),
            last: f32::from_bits(high(slot::LONGEST)),
            wait: (wait.site != 0 && wait.since != 0).then_some(wait),
        })
    }
}

/// Converts cycles to time: cycle `c` was at `seconds + (cycles + c) / frequency` seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Cycles per second; not 0.
    pub frequency: u64,
    /// Whole seconds from 1970 to cycle 0.
    pub seconds: i64,
    /// The remainder in cycles.
    pub cycles: u64,
}

impl Clock {
    /// Reads the words of the clock.
    pub fn of(words: &[u64; clock::WORDS]) -> Clock {
        Clock {
            frequency: words[clock::FREQUENCY].max(1),
            seconds: words[clock::SECONDS].cast_signed(),
            cycles: words[clock::CYCLES],
        }
    }

    /// Nanoseconds of so many cycles.
    pub fn nanoseconds(&self, cycles: u64) -> u64 {
        let nanoseconds = u128::from(cycles) * 1_000_000_000 / u128::from(self.frequency);
        u64::try_from(nanoseconds).unwrap_or(u64::MAX)
    }

    /// Nanoseconds from 1970 to a cycle.
    pub fn realtime(&self, cycle: u64) -> i128 {
        let after = (u128::from(self.cycles) + u128::from(cycle)) * 1_000_000_000 / u128::from(self.frequency);
        // At most 2^65 cycles, each at most a second: far below the type's limit.
        i128::from(self.seconds) * 1_000_000_000 + after.cast_signed()
    }
}

/// When the kernel started a process, in its ticks since the machine's start, by the text of its `/proc/PID/stat`.
pub fn started(stat: &str) -> Option<u64> {
    // The name before may contain anything, also parentheses.
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(19)?.parse().ok()
}

/// The header of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The process, by its number in its own pid namespace.
    pub process: u32,
    /// When the kernel started it, in its ticks since the machine's start.
    pub started: u64,
    /// Where the slots begin.
    pub slots: u64,
    /// The number of slots.
    pub length: u64,
    /// The largest number of slots.
    pub limit: u64,
    /// How many tasks found no slot: the table was at its limit, or its disk was full.
    pub without_slot: u64,
    /// How many texts found no space.
    pub without_space: u64,
    /// How many runtimes count their tasks: those whose other tasks have no slots.
    pub runtimes: u64,
    /// How many tasks they have counted.
    pub counted: u64,
    /// How many of these had a slot then.
    pub counted_with_slot: u64,
    /// When a runtime has counted last, in cycles.
    pub counted_at: u64,
}

impl Header {
    /// Reads the words of the header; `None` if they are not those of this version.
    pub fn of(words: &[u64; header::WORDS]) -> Option<Header> {
        let is_known = words[header::MAGIC] == MAGIC && words[header::VERSION] as u32 == VERSION;
        is_known.then_some(Header {
            process: (words[header::VERSION] >> 32) as u32,
            started: words[header::STARTED],
            slots: words[header::SLOTS],
            length: words[header::LENGTH],
            limit: words[header::LIMIT],
            without_slot: words[header::WITHOUT_SLOT],
            without_space: words[header::WITHOUT_SPACE],
            runtimes: words[header::RUNTIMES],
            counted: words[header::COUNTED],
            counted_with_slot: words[header::COUNTED_WITH_SLOT],
            counted_at: words[header::COUNTED_AT],
        })
    }
}
