//! Reads a table, also a damaged one, and one that changes meanwhile.

use std::io;
use std::mem;

use crate::layout::{
    Clock, Header, LIMIT, PAGE, Resource, SLOT, SLOT_WORDS, TEXT_AREA, TEXTS, Task, Text, clock, header, slot,
};
use crate::lock::{TRIES, after_copy, halves, settled};
use crate::source::Source;
use crate::texts::{Constants, Pair, Texts};

/// Slots that are copied at once.
const AT_ONCE: usize = 1024;
/// How often a reader waits for the threads that were changing slots: some 200 ms, which a thread may be without a processor.
const WAITS: usize = 40;
/// How often a reader copies slots again, all slots together: less than a second. Few slots change at a time, one for each thread of a
/// sound program, but a hostile one can have all slots change at each copy.
const RETRIES: usize = 1 << 18;

/// Why a table cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] io::Error),
    /// The file is no table, or one of another version.
    #[error(
        "it is no table of tasks of version {}, or its program was killed before it was written",
        crate::layout::VERSION
    )]
    Unknown,
    /// The header contradicts the layout.
    #[error("it is damaged: {0}")]
    Damaged(&'static str),
}

/// The tasks of a table.
#[derive(Debug)]
pub struct Table {
    /// The header.
    pub header: Header,
    /// The clock of the times; `None` if the program was killed while it wrote the clock.
    pub clock: Option<Clock>,
    /// The tasks, in the order of their slots.
    pub tasks: Vec<TaskEntry>,
    /// Slots that changed whenever they were read, or in whose change the program was killed.
    pub unsettled: u64,
    /// Tasks that were polled whenever they were read: their counts and times may be of different polls.
    pub blurred: u64,
    /// References to texts that are outside of the texts or are no texts.
    pub damaged_texts: u64,
    /// Slots that the header counts and the file does not have.
    pub cut: u64,
}

/// A task with its texts.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskEntry {
    /// The contents of its slot.
    pub task: Task,
    /// Function and place of the spawn.
    pub site: Option<Pair>,
    /// The user tag.
    pub tag: Option<Box<str>>,
    /// Its wait, if it waits.
    pub wait: Option<Waits>,
}

/// A wait with its texts.
#[derive(Clone, Debug, PartialEq)]
pub struct Waits {
    /// The operation, and the place of the wait.
    pub site: Option<Pair>,
    /// The resource.
    pub resource: Thing,
}

/// A resource with its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Thing {
    /// By its number.
    Numbered(u64),
    /// By its name, which may be damaged.
    Named(Option<Pair>),
    /// A process, by the number in its pid.
    Process(u64),
    /// A file operation, as probes name it.
    Operation {
        /// The number of the thread that asked for it.
        thread: i32,
        /// That thread's number for it.
        tag: i32,
    },
}

type Words = [u64; SLOT_WORDS];

/// A task as it is read, for a reader that keeps it in its own way.
pub(crate) struct Read<'a> {
    pub header: &'a Header,
    /// The words of its slot.
    pub words: &'a Words,
    pub seen: TaskEntry,
    /// The place of its slot. A slot that did not settle at first comes after those behind it.
    pub place: u64,
}

/// Takes the tasks of a table, one after the other.
type Take<'a> = dyn FnMut(Read<'_>) + 'a;

impl Table {
    /// Reads a table. Takes memory for 2^20 tasks at most, whatever the file says.
    ///
    /// # Errors
    ///
    /// [`Error`]. Slots and texts that are damaged are no errors: they are counted.
    pub fn read(source: &(impl Source + ?Sized)) -> Result<Table, Error> {
        let mut tasks = Vec::new();
        let (table, _) = Table::read_each(source, &mut |Read { seen, place, .. }| tasks.push((place, seen)))?;
        tasks.sort_by_key(|(place, _)| *place);
        Ok(Table { tasks: tasks.into_iter().map(|(_, seen)| seen).collect(), ..table })
    }

    /// Reads a table, and hands each task to `take`. Returns the table without tasks, and the texts that never change.
    pub(crate) fn read_each(source: &(impl Source + ?Sized), take: &mut Take<'_>) -> Result<(Table, Constants), Error> {
        let mut page = [0; 8 * header::WORDS];
        if source.copy(&mut page, 0)? < page.len() {
            return Err(Error::Unknown);
        }
        Header::of(&words(&page)).ok_or(Error::Unknown)?;
        after_copy();
        // The magic number is written last. So a copy after the one that has it has all other words.
        if source.copy(&mut page, 0)? < page.len() {
            return Err(Error::Unknown);
        }
        let header = Header::of(&words(&page)).ok_or(Error::Unknown)?;
        let end = TEXTS + TEXT_AREA;
        if header.slots < TEXTS as u64 || header.slots > end as u64 || !header.slots.is_multiple_of(PAGE as u64) {
            return Err(Error::Damaged("its slots begin where none can"));
        }
        if header.length > LIMIT as u64 {
            return Err(Error::Damaged("it claims to have more slots than a table can have"));
        }
        let mut table = Table {
            header,
            clock: clock_of(source)?,
            tasks: Vec::new(),
            unsettled: 0,
            blurred: 0,
            damaged_texts: 0,
            cut: 0,
        };
        let mut reading = Reading { texts: Texts::new(header.slots), retries: RETRIES, left: Vec::new() };
        let mut done = 0;
        while done < header.length {
            let count = (header.length - done).min(AT_ONCE as u64) as usize;
            let read = table.block(source, header.slots + done * SLOT as u64, count, &mut reading, take)?;
            done += read as u64;
            if read < count {
                break;
            }
        }
        table.settle(source, &mut reading, take)?;
        table.cut = header.length - done;
        table.damaged_texts = reading.texts.damaged;
        Ok((table, reading.texts.into_constants()))
    }

    /// Reads slots from a place on, and returns how many the file has. Those that do not settle are left.
    fn block(
        &mut self,
        source: &(impl Source + ?Sized),
        place: u64,
        count: usize,
        reading: &mut Reading,
        take: &mut Take<'_>,
    ) -> Result<usize, Error> {
        let mut copies = [0; 3].map(|_: u8| vec![0; count * SLOT]);
        let mut length = count * SLOT;
        for copy in &mut copies {
            // 4.
            length = length.min(source.copy(copy, place)?);
            after_copy();
        }
        let count = length / SLOT;
        for number in 0..count {
            let copied = Copies([0, 1, 2].map(|copy| slot_of(&copies[copy], number)));
            let place = place + (number * SLOT) as u64;
            match seen(source, reading, place, copied)? {
                Slot::Unsettled => reading.left.push(place),
                slot => self.take(slot, place, take),
            }
        }
        Ok(count)
    }

    /// Reads slots that did not settle again, after others and after waits.
    fn settle(
        &mut self,
        source: &(impl Source + ?Sized),
        reading: &mut Reading,
        take: &mut Take<'_>,
    ) -> Result<(), Error> {
        for _ in 0..WAITS {
            // 7.
            if reading.left.is_empty() || reading.retries == 0 || !source.wait() {
                break;
            }
            for place in mem::take(&mut reading.left) {
                let copied = reading.copies(source, place)?;
                match copied.map_or(Ok(Slot::Unsettled), |copied| seen(source, reading, place, copied))? {
                    Slot::Unsettled => reading.left.push(place),
                    slot => self.take(slot, place, take),
                }
            }
        }
        self.unsettled = reading.left.len() as u64;
        Ok(())
    }

    /// Takes the task of a slot that has settled, if it has one.
    fn take(&mut self, slot: Slot, place: u64, take: &mut Take<'_>) {
        let (words, seen) = match slot {
            Slot::Taken(words, seen) => (words, seen),
            Slot::Blurred(words, seen) => {
                self.blurred += 1;
                (words, seen)
            }
            Slot::Free | Slot::Unsettled => return,
        };
        take(Read { header: &self.header, words: &words, seen, place });
    }
}

/// How far a reading is.
struct Reading {
    texts: Texts,
    /// How often it may copy slots again.
    retries: usize,
    /// Places of slots that did not settle.
    left: Vec<u64>,
}

impl Reading {
    /// Copies a slot again. `None` if the file does not have it, or after too many retries.
    fn copies(&mut self, source: &(impl Source + ?Sized), place: u64) -> Result<Option<Copies>, Error> {
        let Some(retries) = self.retries.checked_sub(1) else { return Ok(None) };
        self.retries = retries;
        Copies::of(source, place)
    }
}

/// A slot, as it was read.
enum Slot {
    Free,
    /// The words are of one instant.
    Taken(Words, TaskEntry),
    /// They are of one task.
    Blurred(Words, TaskEntry),
    Unsettled,
}

/// A slot that was copied three times, one copy after the other.
struct Copies([Words; 3]);

impl Copies {
    fn of(source: &(impl Source + ?Sized), place: u64) -> Result<Option<Copies>, Error> {
        let mut copies = [[0; SLOT]; 3];
        for copy in &mut copies {
            if source.copy(copy, place)? < SLOT {
                return Ok(None);
            }
            after_copy();
        }
        Ok(Some(Copies(copies.map(|copy| slot_of(&copy, 0)))))
    }

    /// The words, if they are of one instant.
    fn settled(&self) -> Option<&Words> {
        let [before, words, after] = &self.0;
        // 5.
        settled(before, after).then_some(words)
    }

    /// Whether a change of the slot has begun, and its thread does not run: further copies at once would be the same.
    fn stand_still(&self) -> bool {
        let [before, _, after] = &self.0;
        lock(before) == lock(after) && !lock(before).is_multiple_of(2)
    }

    /// The words, if they are of the task that had the slot at an earlier try, and no longer those of its beginning.
    fn of_task_at(&self, first: &Copies) -> Option<Words> {
        let ([began, _, then], [before, words, after]) = (&first.0, &self.0);
        // 9.
        let is_same = [before, words, after].iter().all(|copy| of_task(copy) == of_task(began));
        let changes = lock(before).wrapping_sub(lock(then));
        // A lock that stands still is that of a killed program.
        if !is_same || !(2..1 << 31).contains(&changes) || lock(before) == lock(after) {
            return None;
        }
        let mut words = *words;
        // 10.
        let of_wait = |copy: &Words| [slot::TEXTS, slot::RESOURCE, slot::SINCE].map(|word| copy[word]);
        if of_wait(before) != of_wait(&words) || of_wait(&words) != of_wait(after) {
            words[slot::TEXTS] = Text::Wait.put(words[slot::TEXTS], 0);
        }
        Some(words)
    }
}

/// The words that stay while one task has the slot.
fn of_task(words: &Words) -> [u64; 4] {
    let site = Text::Spawn.of(words[slot::TEXTS]);
    [words[slot::PID] >> 8, words[slot::PARENT], words[slot::SPAWNED], site.into()]
}

fn lock(words: &Words) -> u32 {
    halves(words[slot::LOCK]).0
}

/// Reads a slot and its texts. `copied`: the first try.
fn seen(source: &(impl Source + ?Sized), reading: &mut Reading, place: u64, copied: Copies) -> Result<Slot, Error> {
    let mut last = None;
    for _ in 0..TRIES {
        let now = last.as_ref().unwrap_or(&copied);
        if now.stand_still() {
            return Ok(Slot::Unsettled);
        }
        if let Some(words) = now.settled().copied() {
            let texts = &mut reading.texts;
            let Some(task) = Task::of(&words) else { return Ok(Slot::Free) };
            let (site, wait) = constants(source, texts, &task)?;
            if task.tag == 0 {
                return Ok(Slot::Taken(words, TaskEntry { task, site, tag: None, wait }));
            }
            let tag = texts.tag(source, task.tag)?;
            after_copy();
            // 8. Constants never change, but a tag may have given its place to another.
            if lock_at(source, place)? == Some(words[slot::LOCK]) {
                texts.damaged += u64::from(tag.is_none());
                return Ok(Slot::Taken(words, TaskEntry { task, site, tag, wait }));
            }
        }
        // 6.
        last = reading.copies(source, place)?;
        if last.is_none() {
            return Ok(Slot::Unsettled);
        }
    }
    let Some(words) = last.and_then(|last| last.of_task_at(&copied)) else { return Ok(Slot::Unsettled) };
    let Some(task) = Task::of(&words) else { return Ok(Slot::Unsettled) };
    let texts = &mut reading.texts;
    let (site, wait) = constants(source, texts, &task)?;
    let mut tag = None;
    if task.tag != 0 {
        // 10.
        let read = || -> Result<_, Error> {
            let tag = texts.tag(source, task.tag)?;
            after_copy();
            let now = Copies::of(source, place)?.and_then(|now| Task::of(&now.0[1]));
            let is_same =
                now.is_some_and(|now| (now.pid, now.generation, now.tag) == (task.pid, task.generation, task.tag));
            Ok(tag.filter(|_| is_same))
        };
        tag = read()?;
        if tag.is_none() || read()? != tag {
            return Ok(Slot::Unsettled);
        }
    }
    Ok(Slot::Blurred(words, TaskEntry { task, site, tag, wait }))
}

/// The texts of a task that never change.
fn constants(
    source: &(impl Source + ?Sized),
    texts: &mut Texts,
    task: &Task,
) -> Result<(Option<Pair>, Option<Waits>), Error> {
    let site = texts.constant(source, task.site)?;
    let Some(wait) = task.wait else { return Ok((site, None)) };
    let resource = match wait.resource {
        Resource::Numbered(number) => Thing::Numbered(number),
        Resource::Named(name) => Thing::Named(texts.constant(source, name)?),
        Resource::Process(pid) => Thing::Process(pid),
        Resource::Operation { thread, tag } => Thing::Operation { thread, tag },
    };
    Ok((site, Some(Waits { site: texts.constant(source, wait.site)?, resource })))
}

fn lock_at(source: &(impl Source + ?Sized), place: u64) -> Result<Option<u64>, Error> {
    let mut word = [0; 8];
    Ok((source.copy(&mut word, place)? == word.len()).then(|| u64::from_ne_bytes(word)))
}

fn clock_of(source: &(impl Source + ?Sized)) -> Result<Option<Clock>, Error> {
    const BYTES: usize = 8 * clock::WORDS;
    for _ in 0..TRIES {
        let mut copies = [[0; BYTES]; 3];
        for copy in &mut copies {
            if source.copy(copy, 8 * header::CLOCK as u64)? < BYTES {
                return Ok(None);
            }
            after_copy();
        }
        let [before, words, after] = copies.map(|copy| words::<{ clock::WORDS }>(&copy));
        if settled(&before, &after) {
            return Ok(Some(Clock::of(&words)));
        }
    }
    Ok(None)
}

fn slot_of(bytes: &[u8], number: usize) -> Words {
    words(&bytes[number * SLOT..(number + 1) * SLOT])
}

/// The words in bytes, of which there are enough.
fn words<const WORDS: usize>(bytes: &[u8]) -> [u64; WORDS] {
    let (words, _) = bytes.as_chunks::<8>();
    std::array::from_fn(|word| u64::from_ne_bytes(words[word]))
}
