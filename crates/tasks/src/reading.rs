//! From a program to its listing.
//!
//! 1. The debug information of each image that has task vtables is indexed, once for all listings.
//! 2. The census finds the tasks.
//! 3. The type of each task comes from the function that polls it; by that type its chain is read.

use std::collections::HashMap;
use std::num::NonZero;
use std::thread;

use crate::census::{Census, CensusTask};
use crate::debug_file;
use crate::dwarf::{CountPath, PolledTask, Sections, Types};
use crate::error::Error;
use crate::future::{Descriptors, Layout, Reader};
use crate::listing::{Chain, Listing, Name, Place, Spawned, Task};
use crate::memory::{Memory, Piece};
use crate::program::Program;
use crate::vtables::TaskVtable;

/// Tasks whose cells are copied together.
const BATCH: usize = 1024;

/// Debug information of a program: the sections of each image that has task vtables.
pub struct DebugInformation<'program> {
    sections: Vec<Option<Sections<'program>>>,
    notes: Vec<String>,
}

impl<'program> DebugInformation<'program> {
    /// Finds the sections of the program's images and of further files, and decompresses them where that is necessary.
    #[must_use]
    pub fn of(program: &'program Program) -> DebugInformation<'program> {
        let mut notes = Vec::new();
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
}

struct TaskType {
    name: Name,
    /// Of its cells; `None` if debug information does not describe them.
    layout: Option<Layout>,
    count: Option<CountPath>,
    /// Places that may have spawned it.
    spawned: Vec<Place>,
}

impl<'sections> Described<'sections> {
    /// Indexes the debug information, and finds the task type of each vtable.
    #[must_use]
    pub fn of(program: &Program, information: &'sections DebugInformation<'_>) -> Described<'sections> {
        let mut notes = information.notes.clone();
        let types = program.images().iter().zip(&information.sections).map(|(image, sections)| {
            let types = Types::load(sections.as_ref()?);
            types.map_err(|error| notes.push(format!("{}: {error}", image.path.display()))).ok()
        });
        let types: Vec<Option<Types<'_>>> = types.collect();
        // A runtime that records the places knows better.
        let recorded = program.vtables().iter().all(|vtable| vtable.spawn_location.is_some());
        let spawns = program.images().iter().zip(&types).map(|(image, types)| {
            let types = types.as_ref().filter(|_| !recorded);
            types.map(|types| types.spawns(|wanted| image.calls(wanted))).unwrap_or_default()
        });
        let spawns: Vec<_> = spawns.collect();
        let task_type = |vtable: &TaskVtable| {
            let types = types[vtable.image].as_ref();
            let mut polled = types.map_or_else(Vec::new, |types| types.polled(vtable.poll));
            let name = name(types, vtable, &polled);
            // If the linker has merged the functions of several types, no task's type is known.
            let polled = polled.pop().filter(|_| polled.is_empty());
            let Some((polled, types)) = polled.zip(types) else {
                return TaskType { name, layout: None, count: None, spawned: Vec::new() };
            };
            TaskType {
                name,
                layout: Layout::of(types, vtable.scheduler, &polled),
                count: polled.core.and_then(|core| types.runtime_count(core)),
                spawned: types.spawned(&spawns[vtable.image], polled.future),
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
        Described { types, tasks, notes }
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

    /// Like [`listing`](Self::listing), and reads something else beside, when the tasks were found and before their chains are read. The
    /// program is stopped for both if the options say so.
    ///
    /// # Errors
    ///
    /// As [`listing`](Self::listing).
    pub fn listing_beside<R>(
        &self,
        described: &Described<'_>,
        beside: impl FnOnce() -> R,
    ) -> Result<(Listing, R), Error> {
        let _stopped = self.stop()?;
        let counter = |memory: &dyn Memory, task: &CensusTask| {
            let TaskType { layout, count, .. } = &described.tasks[task.vtable];
            count.as_ref()?.read(memory, layout.as_ref()?.core(task.address)?).ok()
        };
        let Census { tasks, runtimes, mut notes, .. } = self.count(Some(&counter))?;
        let beside = beside();
        notes.extend(self.memory().notes());
        let mut tasks = self.chains(described, &tasks);
        mark_shared_ids(&mut tasks);
        self.memory().check()?;
        notes.extend(described.notes.iter().cloned());
        Ok((Listing { tasks, runtimes, notes }, beside))
    }

    /// Reads the chains of all tasks, on as many threads as there are cores.
    fn chains(&self, described: &Described<'_>, tasks: &[CensusTask]) -> Vec<Task> {
        let ids: HashMap<u64, u64> = tasks.iter().map(|task| (task.address, task.id)).collect();
        let descriptors = self.memory().process().map(|process| Descriptors::of(process.pid()));
        let threads = thread::available_parallelism().map_or(1, NonZero::get).min(tasks.len() / BATCH + 1);
        let read = |part: &[CensusTask]| {
            part.chunks(BATCH).flat_map(|batch| self.batch(described, batch, &ids, descriptors.as_ref())).collect()
        };
        thread::scope(|scope| {
            let mut parts = tasks.chunks(tasks.len().div_ceil(threads).max(1));
            let own = parts.next().unwrap_or_default();
            let others: Vec<_> = parts.map(|part| scope.spawn(|| -> Vec<Task> { read(part) })).collect();
            let mut all = read(own);
            for thread in others {
                all.extend(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            all
        })
    }

    /// Reads the chains of some tasks. All their cells are copied twice before any chain is followed, with few system calls.
    fn batch(
        &self,
        described: &Described<'_>,
        tasks: &[CensusTask],
        ids: &HashMap<u64, u64>,
        descriptors: Option<&Descriptors>,
    ) -> Vec<Task> {
        let layout = |task: &CensusTask| described.tasks[task.vtable].layout.as_ref();
        let pieces: Vec<Piece> = tasks.iter().filter_map(|task| Some(layout(task)?.piece(task.address))).collect();
        let mut copies = [Vec::new(), Vec::new()];
        for copies in &mut copies {
            self.memory().read_pieces(&pieces, &mut |_, bytes| copies.push(bytes.map(<[u8]>::to_vec)));
        }
        let [first, again] = copies;
        let mut copies = first.into_iter().zip(again).map(|(first, again)| Some([first?, again?]));
        tasks
            .iter()
            .map(|task| {
                let image = self.vtables()[task.vtable].image;
                let chain = match (layout(task), &described.types[image]) {
                    (Some(layout), Some(types)) => {
                        let reader = Reader {
                            memory: self.memory(),
                            types,
                            bias: self.images()[image].bias,
                            descriptors,
                            now: self.memory().now(),
                            tasks: ids,
                        };
                        reader.chain(task.address, layout, copies.next().flatten())
                    }
                    _ => Chain::NoTypes,
                };
                Task {
                    id: task.id,
                    shares_id: false,
                    address: task.address,
                    owner: task.owner,
                    scheduler: task.scheduler,
                    state: task.state(),
                    future: described.tasks[task.vtable].name.clone(),
                    spawned: match (&task.spawned_at, &described.tasks[task.vtable].spawned) {
                        (Some(place), _) => Spawned::Recorded((**place).clone()),
                        (None, places) if places.is_empty() => Spawned::Unknown,
                        (None, places) => Spawned::Candidates(places.clone()),
                    },
                    linked: task.linked,
                    chain,
                }
            })
            .collect()
    }
}

/// Marks the tasks that have the same id as another. They are in the order of their ids.
fn mark_shared_ids(tasks: &mut [Task]) {
    for equal in tasks.chunk_by_mut(|one, next| one.id == next.id) {
        let shared = equal.len() > 1;
        equal.iter_mut().for_each(|task| task.shares_id = shared);
    }
}
