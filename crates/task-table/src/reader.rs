//! Reads a table, also a damaged one, and one that changes meanwhile.

use std::io;

use crate::layout::{
    Clock, Header, LIMIT, PAGE, Resource, SLOT, SLOT_WORDS, TEXT_AREA, TEXTS, Task, clock, header, slot,
};
use crate::lock::{TRIES, after_copy, settled};
use crate::source::Source;
use crate::texts::{Constants, Pair, Texts};

/// Slots that are copied at once.
const AT_ONCE: usize = 1024;

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
    pub tasks: Vec<Seen>,
    /// Slots that changed whenever they were read, or in whose change the program was killed.
    pub unsettled: u64,
    /// References to texts that are outside of the texts or are no texts.
    pub damaged_texts: u64,
    /// Slots that the header counts and the file does not have.
    pub cut: u64,
}

/// A task with its texts.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
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
#[derive(Clone, Debug, PartialEq, Eq)]
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

impl Table {
    /// Reads a table. Takes memory for 2^20 tasks at most, whatever the file says.
    ///
    /// # Errors
    ///
    /// [`Error`]. Slots and texts that are damaged are no errors: they are counted.
    pub fn read(source: &(impl Source + ?Sized)) -> Result<Table, Error> {
        let mut tasks = Vec::new();
        let (table, _) = Table::read_each(source, &mut |_, _, seen| tasks.push(seen))?;
        Ok(Table { tasks, ..table })
    }

    /// Reads a table, and hands each task to `take`, with the header and the settled words of its slot. Returns the table without tasks, and the texts
    /// that never change.
    pub(crate) fn read_each(
        source: &(impl Source + ?Sized),
        take: &mut dyn FnMut(&Header, &Words, Seen),
    ) -> Result<(Table, Constants), Error> {
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
        let mut table =
            Table { header, clock: clock_of(source)?, tasks: Vec::new(), unsettled: 0, damaged_texts: 0, cut: 0 };
        let mut texts = Texts::new(header.slots);
        let mut done = 0;
        while done < header.length {
            let count = (header.length - done).min(AT_ONCE as u64) as usize;
            let read = table.block(source, &mut texts, header.slots + done * SLOT as u64, count, take)?;
            done += read as u64;
            if read < count {
                break;
            }
        }
        table.cut = header.length - done;
        table.damaged_texts = texts.damaged;
        Ok((table, texts.into_constants()))
    }

    /// Reads slots from a place on, and returns how many the file has.
    fn block(
        &mut self,
        source: &(impl Source + ?Sized),
        texts: &mut Texts,
        place: u64,
        count: usize,
        take: &mut dyn FnMut(&Header, &Words, Seen),
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
            let [before, words, after] = [0, 1, 2].map(|copy| slot_of(&copies[copy], number));
            let first = settled(&before, &after).then_some((words, before[slot::LOCK]));
            match seen(source, texts, place + (number * SLOT) as u64, first)? {
                Some(Some((words, seen))) => take(&self.header, &words, seen),
                Some(None) => {}
                None => self.unsettled += 1,
            }
        }
        Ok(count)
    }
}

/// The words of a slot, and its task with texts, by its settled words and their lock if there are any. `None` if the slot does not settle;
/// nothing inside if it is free.
#[expect(clippy::option_option, reason = "the outer one is the reading, the inner one the slot")]
fn seen(
    source: &(impl Source + ?Sized),
    texts: &mut Texts,
    place: u64,
    mut copied: Option<(Words, u64)>,
) -> Result<Option<Option<(Words, Seen)>>, Error> {
    for _ in 0..TRIES {
        let Some((words, lock)) = copied else {
            // 6.
            copied = again(source, place)?;
            continue;
        };
        let Some(task) = Task::of(&words) else { return Ok(Some(None)) };
        let site = texts.constant(source, task.site)?;
        let wait = match task.wait {
            None => None,
            Some(wait) => {
                let resource = match wait.resource {
                    Resource::Numbered(number) => Thing::Numbered(number),
                    Resource::Named(name) => Thing::Named(texts.constant(source, name)?),
                    Resource::Process(pid) => Thing::Process(pid),
                    Resource::Operation { thread, tag } => Thing::Operation { thread, tag },
                };
                Some(Waits { site: texts.constant(source, wait.site)?, resource })
            }
        };
        if task.tag == 0 {
            return Ok(Some(Some((words, Seen { task, site, tag: None, wait }))));
        }
        let tag = texts.tag(source, task.tag)?;
        after_copy();
        // 7. Constants never change, but a tag may have given its place to another.
        if lock_at(source, place)? == Some(lock) {
            texts.damaged += u64::from(tag.is_none());
            return Ok(Some(Some((words, Seen { task, site, tag, wait }))));
        }
        copied = again(source, place)?;
    }
    Ok(None)
}

/// Copies one slot three times. `None` if it has changed meanwhile.
fn again(source: &(impl Source + ?Sized), place: u64) -> Result<Option<(Words, u64)>, Error> {
    let mut copies = [[0; SLOT]; 3];
    for copy in &mut copies {
        if source.copy(copy, place)? < SLOT {
            return Ok(None);
        }
        after_copy();
    }
    let [before, words, after] = copies.map(|copy| slot_of(&copy, 0));
    Ok(settled(&before, &after).then_some((words, before[slot::LOCK])))
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
