//! From a program to its listing.
//!
//! 1. The debug information of each image that has task vtables is indexed, once for all listings.
//! 2. The census finds the tasks.
//! 3. The type of each task comes from the function that polls it; by that type its chain is read. Each task is handed on at once: a program
//!    may have millions, whose chains need not all be in memory.

use std::cell::Cell;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::census::{Census, CensusTask};
use crate::cores;
use crate::debug_file;
use crate::dwarf::{CountPath, PolledTask, Sections, Types};
use crate::error::Error;
use crate::future::{Descriptors, Layout, Reader};
use crate::listing::{Chain, Listing, Name, Runtime, SourceLine, Spawned, Task};
use crate::memory::{Memory, Piece};
use crate::program::Program;
use crate::vtables::TaskVtable;

/// Tasks whose cells are copied together, at most.
const BATCH: usize = 1024;

/// Bytes of cells that are copied together, unless one cell has more.
const BYTES: usize = 1 << 20;

/// Debug information of a program: the sections of each image that has task vtables.
pub struct DebugInformation<'program> {
    sections: Vec<Option<Sections<'program>>>,
    notes: Vec<String>,
}

impl<'program> DebugInformation<'program> {
    /// Finds the sections of the program's images and of further files, and decompresses them where that is necessary.
    #[must_use]
    pub fn of(program: &'program Program) -> DebugInformation<'program> {
        let mut notes = program.notes().to_vec();
        let root = program.memory().process().map(|process| process.proc("root"));
        let sections = program.images().iter().enumerate().map(|(index, image)| {
            if !program.vtables().iter().any(|vtable| vtable.image == index) {
                return None;
            }
            let sections = debug_file::load(image, root.as_deref(), &mut notes);
            sections.map_err(|error| notes.push(format!("{}: {error}", image.path.display()))).ok()
        });
        let sections = sections.collect();
        DebugInformation { sections, notes }
    }

    /// Returns that of a program that has none.
    pub(crate) fn none() -> DebugInformation<'program> {
        DebugInformation { sections: Vec::new(), notes: Vec::new() }
    }

    /// Returns the sections of an image, by its place among the program's.
    pub(crate) fn sections(&self, image: usize) -> Option<&Sections<'program>> {
        self.sections.get(image)?.as_ref()
    }

    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// The types of a program's tasks.
pub struct Described<'sections> {
    /// Of each image.
    types: Vec<Option<Types<'sections>>>,
    /// Of each vtable.
    tasks: Vec<TaskType>,
    notes: Vec<String>,
    /// Futures that are not where the reader takes them to be: parts of a sentence.
    gaps: Vec<String>,
}

struct TaskType {
    name: Name,
    /// Of its cells; `None` if debug information does not describe them.
    layout: Option<Layout>,
    count: Option<CountPath>,
    /// Places that may have spawned it.
    spawned: Arc<[SourceLine]>,
}

/// The answer of [`Program::each_task`].
#[derive(Debug)]
pub struct Each<F, B> {
    /// The answer of each thread. The ids of its tasks are not higher than those of the next thread.
    pub parts: Vec<F>,
    /// The answer of the reading beside.
    pub beside: B,
    /// The listing, without tasks.
    pub rest: Listing,
}

impl<'sections> Described<'sections> {
    /// Indexes the debug information, and finds the task type of each vtable.
    #[must_use]
    pub fn of(program: &Program, information: &'sections DebugInformation<'_>) -> Described<'sections> {
        Described::find(program, information, true)
    }

    /// Like [`of`](Self::of), without the places that may have spawned tasks. To find these takes a second pass over the debug information
    /// and one over the code.
    #[must_use]
    pub fn without_spawns(program: &Program, information: &'sections DebugInformation<'_>) -> Described<'sections> {
        Described::find(program, information, false)
    }

    fn find(
        program: &Program,
        information: &'sections DebugInformation<'_>,
        with_spawns: bool,
    ) -> Described<'sections> {
        let mut notes = information.notes.clone();
        let types = program.images().iter().zip(&information.sections).map(|(image, sections)| {
            let types = Types::load(sections.as_ref()?);
            types.map_err(|error| notes.push(format!("{}: {error}", image.path.display()))).ok()
        });
        let types: Vec<Option<Types<'_>>> = types.collect();
        // A runtime that records the places knows better.
        let are_sought = with_spawns && program.vtables().iter().any(|vtable| vtable.spawn_location.is_none());
        let spawns = program.images().iter().zip(&types).map(|(image, types)| {
            let types = types.as_ref().filter(|_| are_sought);
            types.map(|types| types.spawns(|wanted| image.calls(wanted))).unwrap_or_default()
        });
        let spawns: Vec<_> = spawns.collect();
        let without_stage = Cell::new(0);
        let task_type = |vtable: &TaskVtable| {
            let types = types[vtable.image].as_ref();
            let mut polled = types.map_or_else(Vec::new, |types| types.polled(vtable.poll));
            let name = name(types, vtable, &polled);
            // If the linker has merged the functions of several types, no task's type is known.
            let polled = polled.pop().filter(|_| polled.is_empty());
            let Some((polled, types)) = polled.zip(types) else {
                return TaskType { name, layout: None, count: None, spawned: Arc::default() };
            };
            let layout = Layout::of(types, &vtable.header, vtable.scheduler, &polled);
            let is_known = layout.is_none() || polled.core.is_some_and(|core| types.has_stage(core, polled.future));
            without_stage.set(without_stage.get() + usize::from(!is_known));
            TaskType {
                name,
                layout: layout.filter(|_| is_known),
                count: polled.core.and_then(|core| types.runtime_count(core)),
                spawned: types.spawned(&spawns[vtable.image], polled.future).into(),
            }
        };
        let tasks: Vec<TaskType> = program.vtables().iter().map(task_type).collect();
        for (index, image) in program.images().iter().enumerate().filter(|(index, _)| types[*index].is_some()) {
            let mut of_image = program.vtables().iter().zip(&tasks).filter(|(vtable, _)| vtable.image == index);
            let is_incomplete = information.sections(index).is_some_and(|sections| sections.is_incomplete);
            if !is_incomplete && !of_image.any(|(_, task)| task.layout.is_some()) {
                notes.push(format!(
                    "{}: debug information names functions, but does not describe types: the waits of tasks are not shown; \
                     build with `debug = 2`",
                    image.path.display()
                ));
            }
        }
        let mut gaps = program.gaps().to_vec();
        if without_stage.get() > 0 {
            gaps.push(format!(
                "another layout of tokio: no variant of `Core.stage` has the future, in {} types of tasks",
                without_stage.get()
            ));
        }
        Described { types, tasks, notes, gaps }
    }

    /// Passes to `take` the parts with values of the cell at `cell`, whose vtable is at `place` of the program's. Returns the part of the
    /// cell that they describe. `None` if debug information does not describe it.
    pub(crate) fn live(
        &self,
        program: &Program,
        memory: &dyn Memory,
        (place, cell): (u32, u64),
        take: impl FnMut(Range<u64>),
    ) -> Option<Range<u64>> {
        let types = self.types[program.vtables()[place as usize].image].as_ref()?;
        self.tasks[place as usize].layout.as_ref()?.live(types, memory, cell, take)
    }
}

/// Returns the best name of the future of a vtable's tasks, whose types are `polled`.
pub(crate) fn name(types: Option<&Types<'_>>, vtable: &TaskVtable, polled: &[PolledTask]) -> Name {
    let names = types.map_or_else(Vec::new, |types| types.polled_names(vtable.poll, polled));
    match &names[..] {
        [] => vtable.name.clone(),
        [one] => Name::Type { name: one.as_str().into() },
        _ => Name::Candidates { names },
    }
}

impl Program {
    /// Lists the tasks of the program, with the chain of each.
    ///
    /// # Errors
    ///
    /// If the program has ended, the reader may not read it any more, or it cannot be stopped as the options say.
    pub fn listing(&self, described: &Described<'_>) -> Result<Listing, Error> {
        self.listing_beside(described, || ()).map(|(listing, ())| listing)
    }

    /// Returns the tasks of these runtimes, by the runtimes' own lists: other runtimes, complete tasks and jobs of the blocking pool are left
    /// out. Takes as long as there are tasks, where [`listing`](Self::listing) searches the whole heap. `None` if a list is not known.
    ///
    /// `known`: the addresses of tasks of an earlier listing. It is fastest if most of the tasks are among them.
    ///
    /// # Errors
    ///
    /// As [`listing`](Self::listing).
    pub fn listing_again(
        &self,
        described: &Described<'_>,
        runtimes: &[Runtime],
        known: &[u64],
    ) -> Result<Option<Listing>, Error> {
        if runtimes.iter().any(|runtime| runtime.found > 0 && runtime.list.is_none()) {
            return Ok(None);
        }
        let push = |_: &(), tasks: &mut Vec<Task>, task| tasks.push(task);
        let Each { parts, rest, .. } = self.each_task_of(described, Some((runtimes, known)), |_| (), push)?;
        Ok(Some(Listing { tasks: cores::joined(parts), ..rest }))
    }

    /// Like [`listing`](Self::listing), and reads something else beside, when the tasks were found and before their chains are read. The
    /// program is stopped for both if the options say so.
    ///
    /// # Errors
    ///
    /// As [`listing`](Self::listing).
    pub fn listing_beside<B: Sync>(
        &self,
        described: &Described<'_>,
        beside: impl FnOnce() -> B,
    ) -> Result<(Listing, B), Error> {
        let push = |_: &B, tasks: &mut Vec<Task>, task| tasks.push(task);
        let Each { parts, beside, rest } = self.each_task(described, |_| beside(), push)?;
        Ok((Listing { tasks: cores::joined(parts), ..rest }, beside))
    }

    /// Reads the tasks one after the other, on as many threads as there are cores, and hands each to `take`, with the answer of the thread
    /// that it belongs to. Keeps none of them.
    ///
    /// `beside` reads something else when the tasks were found and before their chains are read. The program is stopped for both if the
    /// options say so.
    ///
    /// # Errors
    ///
    /// As [`listing`](Self::listing).
    pub fn each_task<F: Default + Send, B: Sync>(
        &self,
        described: &Described<'_>,
        beside: impl FnOnce(&[CensusTask]) -> B,
        take: impl Fn(&B, &mut F, Task) + Sync,
    ) -> Result<Each<F, B>, Error> {
        self.each_task_of(described, None, beside, take)
    }

    /// Of all runtimes, or of those whose lists are given, with addresses of known tasks.
    fn each_task_of<F: Default + Send, B: Sync>(
        &self,
        described: &Described<'_>,
        runtimes: Option<(&[Runtime], &[u64])>,
        beside: impl FnOnce(&[CensusTask]) -> B,
        take: impl Fn(&B, &mut F, Task) + Sync,
    ) -> Result<Each<F, B>, Error> {
        let _stopped = self.stop()?;
        let counter = |memory: &dyn Memory, task: &CensusTask| {
            let TaskType { layout, count, .. } = &described.tasks[task.vtable as usize];
            count.as_ref()?.read(memory, layout.as_ref()?.core(task.address)?).ok()
        };
        let census = match runtimes {
            None => self.count(Some(&counter)),
            Some(runtimes) => self.count_again(runtimes, Some(&counter)),
        };
        let Census { tasks, runtimes, mut notes, other_layout, gaps, .. } = census?;
        let beside = beside(&tasks);
        notes.extend(self.memory().notes());
        let ids = Ids { tasks: &tasks, by_address: OnceLock::new() };
        let ids = |address| ids.get(address);
        let chains = Chains::of(self, described, &tasks, &ids);
        let parts = cores::on_parts(&tasks, BATCH, |begin, part| {
            let mut answer = F::default();
            chains.read(begin..begin + part.len(), |task| take(&beside, &mut answer, task));
            answer
        });
        self.memory().check()?;
        notes.extend(described.notes.iter().cloned());
        let unread = [self.memory().unread(), other_layout, gaps, described.gaps.clone()].concat();
        Ok(Each { parts, beside, rest: Listing { tasks: Vec::new(), runtimes, notes, unread } })
    }

    /// Reads those of `tasks` that are at these places, as they are now.
    pub(crate) fn tasks_at(&self, described: &Described<'_>, tasks: &[CensusTask], places: &[usize]) -> Vec<Task> {
        let ids = Ids { tasks, by_address: OnceLock::new() };
        let ids = |address| ids.get(address);
        let chosen: Vec<CensusTask> = places.iter().map(|place| tasks[*place].clone()).collect();
        let chains = Chains::of(self, described, &chosen, &ids);
        let mut read = cores::joined(cores::on_parts(&chosen, BATCH, |begin, part| {
            let mut read = Vec::with_capacity(part.len());
            chains.read(begin..begin + part.len(), |task| read.push(task));
            read
        }));
        for (place, task) in places.iter().zip(&mut read) {
            let beside = [place.wrapping_sub(1), place + 1];
            task.shares_id = beside.iter().any(|beside| tasks.get(*beside).is_some_and(|other| other.id == task.id));
        }
        read
    }
}

/// Finds the ids of tasks by the addresses of their headers.
struct Ids<'a> {
    tasks: &'a [CensusTask],
    /// Places of tasks. Made for the first task that awaits another one.
    by_address: OnceLock<Vec<u32>>,
}

impl Ids<'_> {
    fn get(&self, address: u64) -> Option<u64> {
        let address_at = |place: &u32| self.tasks[*place as usize].address;
        let by_address = self.by_address.get_or_init(|| {
            let mut places: Vec<u32> = (0..).take(self.tasks.len()).collect();
            places.sort_unstable_by_key(address_at);
            places
        });
        let found = by_address.binary_search_by_key(&address, address_at).ok()?;
        Some(self.tasks[by_address[found] as usize].id)
    }
}

/// Reads the chains of tasks that were found.
struct Chains<'a, 'd> {
    program: &'a Program,
    described: &'a Described<'d>,
    /// In the order of their ids.
    tasks: &'a [CensusTask],
    ids: &'a (dyn Fn(u64) -> Option<u64> + Sync),
    descriptors: Option<Descriptors>,
}

/// Two copies of each of some cells, one after the other.
#[derive(Default)]
struct Copies {
    pieces: Vec<Piece>,
    /// Where each cell begins in the copies.
    starts: Vec<usize>,
    copies: [Vec<u8>; 2],
    /// The number of copies of each cell that were read.
    read: Vec<u8>,
}

impl Copies {
    fn read(&mut self, memory: &dyn Memory) {
        self.starts.clear();
        let mut end = 0;
        for piece in &self.pieces {
            self.starts.push(end);
            end += piece.length;
        }
        self.read.clear();
        self.read.resize(self.pieces.len(), 0);
        for copy in &mut self.copies {
            copy.resize(end, 0);
            memory.read_pieces(&self.pieces, &mut |index, bytes| {
                if let Some(bytes) = bytes {
                    copy[self.starts[index]..][..bytes.len()].copy_from_slice(bytes);
                    self.read[index] += 1;
                }
            });
        }
    }

    fn of(&self, index: usize) -> Option<[&[u8]; 2]> {
        let cell = self.starts[index]..self.starts[index] + self.pieces[index].length;
        let [first, again] = &self.copies;
        (self.read[index] == 2).then(|| [&first[cell.clone()], &again[cell]])
    }
}

impl<'a, 'd> Chains<'a, 'd> {
    fn of(
        program: &'a Program,
        described: &'a Described<'d>,
        tasks: &'a [CensusTask],
        ids: &'a (dyn Fn(u64) -> Option<u64> + Sync),
    ) -> Chains<'a, 'd> {
        let descriptors = program.memory().process().map(|process| Descriptors::of(process.thread()));
        Chains { program, described, tasks, ids, descriptors }
    }

    fn layout(&self, task: &CensusTask) -> Option<&Layout> {
        self.described.tasks[task.vtable as usize].layout.as_ref()
    }

    /// Reads the tasks in these places. Cells are copied twice before any chain is followed, many with few system calls.
    fn read(&self, places: Range<usize>, mut take: impl FnMut(Task)) {
        let own = self.own();
        let mut copies = Copies::default();
        let mut at = places.start;
        while at < places.end {
            let begin = at;
            let mut bytes = 0;
            copies.pieces.clear();
            while at < places.end.min(begin + BATCH) && bytes < BYTES {
                let piece = self.layout(&self.tasks[at]).map(|layout| layout.piece(self.tasks[at].address));
                bytes += piece.map_or(0, |piece| piece.length);
                copies.pieces.extend(piece);
                at += 1;
            }
            copies.read(self.program.memory());
            let mut cells = 0..copies.pieces.len();
            for place in begin..at {
                let task = &self.tasks[place];
                let chain = self.layout(task).map_or(Chain::NoTypes, |layout| {
                    let copies = cells.next().and_then(|index| copies.of(index));
                    self.chain(task, layout, copies)
                });
                take(self.task(place, chain, &own));
            }
        }
    }

    fn chain(&self, task: &CensusTask, layout: &Layout, copies: Option<[&[u8]; 2]>) -> Chain {
        let image = self.program.vtables()[task.vtable as usize].image;
        let Some(types) = &self.described.types[image] else { return Chain::NoTypes };
        let memory = self.program.memory();
        let reader = Reader {
            memory,
            types,
            bias: self.program.images()[image].bias,
            descriptors: self.descriptors.as_ref(),
            now: memory.now(),
            tasks: self.ids,
        };
        reader.chain(task.address, layout, copies)
    }

    /// The names and places of each vtable's tasks, for one thread: threads that share them would take turns at their counts of references.
    fn own(&self) -> Vec<(Name, Spawned)> {
        let own = |task: &TaskType| {
            let name = match &task.name {
                Name::Type { name } => Name::Type { name: Arc::from(&**name) },
                name => name.clone(),
            };
            let places = &task.spawned;
            (
                name,
                if places.is_empty() {
                    Spawned::Unknown
                } else {
                    Spawned::Candidates(places.iter().cloned().collect())
                },
            )
        };
        self.described.tasks.iter().map(own).collect()
    }

    fn task(&self, place: usize, chain: Chain, own: &[(Name, Spawned)]) -> Task {
        let task = &self.tasks[place];
        let has_id = |place: usize| self.tasks.get(place).is_some_and(|other| other.id == task.id);
        let (name, spawned) = &own[task.vtable as usize];
        Task {
            id: task.id,
            shares_id: has_id(place.wrapping_sub(1)) || has_id(place + 1),
            address: task.address,
            owner: task.owner,
            scheduler: task.scheduler,
            state: task.state(),
            future: name.clone(),
            spawned: task
                .spawned_at
                .as_ref()
                .map_or_else(|| spawned.clone(), |place| Spawned::Recorded((**place).clone())),
            linked: task.linked,
            chain,
        }
    }
}
