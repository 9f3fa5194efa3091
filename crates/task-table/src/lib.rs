//! The table of tasks: a file in which a program keeps its tasks, so that other processes read them without its help, also while all its
//! threads are stopped, and after it was killed.
//!
//! The library `dyntrace` writes the table, by a shared mapping. The `dyntrace` command reads it ([`Table`]). Both use the layout in
//! [`layout`]: a header page, an area of texts, and an area of slots at the end, by which the file grows.
//!
//! # The states of a slot
//!
//! | state | who writes the slot |
//! |---|---|
//! | free | nobody |
//! | scheduled | the thread that spawns the task |
//! | running | the thread that polls the task |
//! | idle | nobody, until the next poll, or until the thread that drops the task frees the slot |
//!
//! A task is polled by one thread at a time, and the runtime orders its polls. So a slot has one writer at a time, and needs no lock
//! against others.
//!
//! There is one exception. For tasks that the library has not spawned, the runtime tells of the end of a poll when another thread may
//! poll the task already. Then the two threads change the slot by [`change_if`](lock::Locked::change_if): the one that comes first ends
//! the poll. After that, the slot has one writer again.
//!
//! # A change, and a reading
//!
//! The first half of a slot's first word is its lock ([`lock`]): odd during a change. The writer never waits.
//!
//! 1. The writer makes the lock odd.
//! 2. It changes words.
//! 3. It makes the lock even, and larger than before 1.
//!
//! The reader copies a slot three times, one copy after the other ([`lock::settled`]):
//!
//! 4. It takes the lock from the first copy, the words from the second, and the lock from the third.
//! 5. If both locks are equal and even, no change overlapped the second copy: its words belong together.
//! 6. Otherwise it copies again, [`lock::TRIES`] times at most, but not at once if the locks are equal and odd.
//! 7. A thread may lose its processor between 1 and 3. So the reader reads slots that did not settle again after all others, and waits
//!    before each time. A slot that never settles is counted. A program that was killed between 1 and 3 leaves such a slot.
//!
//! Whatever the file has, the reader ends: it waits some 200 ms in all, and copies slots again for less than a second. Slots that did not
//! settle until then are counted.
//!
//! Only the order of the copies counts, not the order of the words within a copy. So the reader copies by `pread(2)`, many slots at a
//! time. It maps nothing: a file that is cut while it is read is an error, not a signal.
//!
//! # The id of the runtime
//!
//! The other half of the first word is the runtime's id of the task, by which a reader of the program's memory finds the same task there. It
//! changes under the lock, as the other words do. It is noted at the first poll, which is the first time that the library runs inside of
//! the task. A future that one task polls among others, as a branch of `join!`, has the id of that task: several slots may have the same.
//!
//! # What woke a task
//!
//! Threads that wake a task do not write its slot, which has one writer at a time. They note the wake beside it, in the memory of the
//! program, and the thread that polls the task writes it into the slot at the begin of the poll.
//!
//! # Texts
//!
//! A slot refers to texts by their place in the area of texts. A text in use never changes. Tags, of which there may be one for each
//! request, are removed with their last task, and their space is used again. So the reader reads the texts of a slot, and then the
//! slot's lock once more:
//!
//! 8. If the lock has changed since 4, the texts may be another task's: it begins again with 4.
//!
//! # A task that is polled all the time
//!
//! A task that wakes itself in each poll changes its slot faster than a reader copies it three times, so its slot may never settle.
//! Its pid, its parent, its spawn and the generation of the slot change only with the task. So the reader compares these, for a
//! slot whose lock has gone on during the tries:
//!
//! 9. If they are equal in the first copy of the first try and in all copies of the last one, the slot was one task's from the one to the
//!    other. If the lock has gone on by a whole change between these tries, the change that began the task has ended before the last try.
//!    So the second copy is of this task, and is shown, though its counts and times may be of different polls.
//! 10. A wait is shown if its words are equal in all copies of the last try: the time of its beginning is of no other wait of the task. A
//!     tag is shown if its text is equal in two readings, and the reference to it before, between and after them.

mod compact;
pub mod layout;
pub mod lock;
mod primitives;
mod reader;
mod source;
mod texts;

pub use compact::Compact;
pub use layout::{Clock, Header, Resource, State, Task, TaskKind, Waker};
pub use reader::{Error, Table, TaskEntry, Thing, Waits};
pub use source::Source;
pub use texts::{Pair, Texted};
