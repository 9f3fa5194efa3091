//! From a program to its threads.

use std::collections::{HashMap, HashSet};
use std::io;
use std::ops::Range;

use super::answer::{Activity, Ending, Frame, Role, SystemCall, Thread, Threads};
use super::functions::Functions;
use super::hold::NotHeld;
use super::modules::{self, Module, containing};
use super::polled::{self, Cell, Heaps};
use super::roles;
use super::stack::Copy;
use super::unwind::{Call, Unwinder};
use crate::error::Error;
use crate::kernel::{self, KernelAnswer, numbers};
use crate::memory::live::Process;
use crate::program::Program;
use crate::reading::DebugInformation;
use crate::scan::ByAddress;

/// Threads that are held, at most.
const MOST: usize = 1 << 14;

impl Program {
    /// Lists the threads of the program, each with the functions that it is in. Holds one thread at a time, each for less
    /// than a millisecond.
    ///
    /// # Errors
    ///
    /// If the program has ended, the kernel refuses to hold any of its threads, or this is a core file.
    pub fn threads(&self, information: &DebugInformation<'_>) -> Result<Threads, Error> {
        let threads = self.threads_of(information, None)?;
        Ok(Threads { gaps: self.other_layout()?.gaps, ..threads })
    }

    /// Returns one thread, by its id, with the functions that it is in; `None` if it has ended. Holds it for less than a millisecond.
    ///
    /// # Errors
    ///
    /// As for [`threads`](Program::threads).
    pub fn thread(&self, information: &DebugInformation<'_>, tid: u32) -> Result<Option<Thread>, Error> {
        Ok(self.threads_of(information, Some(tid))?.threads.pop())
    }

    /// Returns the ids of threads that certainly poll neither a task nor a job: no function on their stacks does. Holds each thread, like
    /// [`threads`](Program::threads).
    pub(crate) fn threads_without_polls(&self) -> HashSet<u32> {
        let mut found = HashSet::new();
        // A thread that is not read may poll.
        let _ = self.each_thread(&DebugInformation::none(), None, |stacks, tid, _, copy| {
            if let Ok((calls, Ending::Complete)) = copy.map(|copy| stacks.unwinder.unwind(&copy))
                && !calls.iter().any(|call| stacks.polls.iter().any(|(poll, _)| Some(*poll) == call.function))
            {
                found.insert(tid);
            }
        });
        found
    }

    /// All threads, or the only one.
    fn threads_of(&self, information: &DebugInformation<'_>, only: Option<u32>) -> Result<Threads, Error> {
        let mut threads = Vec::new();
        let mut refused = None;
        let process = self.each_thread(information, only, |stacks, tid, told, copy| {
            threads.push(match copy {
                Ok(copy) => stacks.thread(tid, told, &copy),
                Err((ending, error)) => {
                    refused = error.or(refused.take());
                    without_stack(tid, told, ending)
                }
            });
        })?;
        match refused {
            Some(error) if threads.iter().all(|thread| thread.ending == Ending::Refused) => {
                Err(Error::NotPermitted { pid: process.pid(), what: "the threads", error })
            }
            _ => Ok(Threads { threads, notes: information.notes().to_vec(), gaps: Vec::new() }),
        }
    }

    /// Passes the copy of each thread's stack to `take`, or that of the only one. Returns the process.
    fn each_thread(
        &self,
        information: &DebugInformation<'_>,
        only: Option<u32>,
        mut take: impl FnMut(&mut Stacks<'_, '_>, u32, KernelAnswer, Copied),
    ) -> Result<&Process, Error> {
        // The stack of an only thread is wanted as it is now: modules are read afterwards.
        let first = |process: &Process, heaps: &Heaps<'_>| only.map(|tid| copied(process, tid, heaps));
        self.with_stacks(information, first, |mut ahead, process, heaps, stacks| {
            let tids = kernel::threads(process).into_iter().filter(|tid| only.is_none_or(|only| *tid == only));
            for tid in tids.take(MOST) {
                if let Some((told, copy)) = ahead.take().unwrap_or_else(|| copied(process, tid, heaps)) {
                    take(stacks, tid, told, copy);
                }
            }
            process.check()?;
            Ok(process)
        })?
    }

    /// Prepares the reading of stacks, after `first`.
    pub(super) fn with_stacks<'p, A, R>(
        &'p self,
        information: &DebugInformation<'_>,
        first: impl FnOnce(&'p Process, &Heaps<'_>) -> A,
        run: impl FnOnce(A, &'p Process, &Heaps<'_>, &mut Stacks<'_, '_>) -> R,
    ) -> Result<R, Error> {
        let Some(process) = self.memory().process() else { return Err(Error::ThreadsOfCore) };
        let maps = self.mappings()?;
        let by_address = ByAddress::new(self.vtables());
        let ranges: Vec<Range<u64>> = maps.iter().filter(|map| map.is_heap()).map(|map| map.range.clone()).collect();
        let heaps = Heaps { vtables: self.vtables(), by_address: &by_address, ranges: &ranges };
        let first = first(process, &heaps);
        let kernels = modules::kernels(process, &maps);
        let images = self.images().iter().enumerate().filter_map(|(index, image)| Module::of(index, image));
        let of_kernel = kernels.as_ref().and_then(|(mapping, bytes)| Module::of_kernel(mapping, bytes));
        let mut modules: Vec<Module<'_>> = images.chain(of_kernel).collect();
        modules.sort_by_key(|module| module.code.start);
        let mut stacks = Stacks {
            program: self,
            information,
            unwinder: Unwinder::new(&modules),
            modules: &modules,
            functions: HashMap::new(),
            polls: polled::functions(process, self.vtables(), self.images()),
        };
        Ok(run(first, process, &heaps, &mut stacks))
    }
}

/// The copy of a stack; or why there is none, with the kernel's refusal.
pub(super) type Copied = Result<Copy, (Ending, Option<io::Error>)>;

/// Copies a thread's stack. `None` if the thread has ended.
pub(super) fn copied(process: &Process, tid: u32, heaps: &Heaps<'_>) -> Option<(KernelAnswer, Copied)> {
    let told = kernel::ask(process, tid)?;
    let copy = match told {
        KernelAnswer { state: 'Z' | 'X', .. } => Err((Ending::Ended, None)),
        KernelAnswer { tracer: 1.., .. } => Err((Ending::Traced, None)),
        // It would not stop, and be held as soon as its system call ends.
        KernelAnswer { state: 'D', .. } => Err((Ending::NotStopped, None)),
        _ => match Copy::of(process, tid, heaps) {
            Ok(copy) => copy.ok_or((Ending::Cut, None)),
            Err(NotHeld::Ended) => return None,
            Err(NotHeld::NotStopped) => Err((Ending::NotStopped, None)),
            Err(NotHeld::Refused(error)) => Err((Ending::Refused, Some(error))),
        },
    };
    Some((told, copy))
}

/// Makes threads of copies.
pub(super) struct Stacks<'m, 'a> {
    program: &'a Program,
    information: &'a DebugInformation<'a>,
    modules: &'m [Module<'a>],
    unwinder: Unwinder<'m, 'a>,
    /// Of modules, by the beginnings of their code.
    functions: HashMap<u64, Functions<'a>>,
    /// Functions that poll tasks, with the places of their vtables.
    polls: Vec<(u64, usize)>,
}

impl Stacks<'_, '_> {
    pub(super) fn thread(&mut self, tid: u32, told: KernelAnswer, copy: &Copy) -> Thread {
        let (calls, ending) = self.unwinder.unwind(copy);
        let frames: Vec<Frame> = calls.iter().flat_map(|call| self.frames(call)).collect();
        let role = roles::role(&told.name, &frames);
        let (task, job) = self.polled(copy, &calls);
        // A poll function on the stack tells without any name.
        let activity = match (task, job, role) {
            (Some(_), ..) => Some(Activity::Polls),
            (None, Some(_), Role::Blocking | Role::Runtime) => Some(Activity::Runs),
            _ => roles::activity(role, &frames),
        };
        Thread {
            role,
            activity,
            task: task.map(|task| task.id),
            owner: task.map(|task| task.owner),
            job: job.map(|job| job.id),
            system_call: copy.registers.call.map(|(number, first)| system_call(number, first)),
            frames,
            ending,
            at: Some(copy.at),
            held: Some(copy.held),
            ..without_stack(tid, told, ending)
        }
    }

    fn frames(&mut self, call: &Call) -> Vec<Frame> {
        let Some(module) = containing(self.modules, call.inside) else {
            let image = String::new();
            return vec![Frame { address: call.address, image, function: None, place: None, inlined: false }];
        };
        let functions = self.functions.entry(module.code.start).or_insert_with(|| {
            let sections = module.image.and_then(|image| self.information.sections(image));
            Functions::of(module.image.map(|image| &self.program.images()[image]), sections)
        });
        functions.frames(module, call)
    }

    /// Returns the innermost task and the innermost job whose poll functions are on the stack.
    fn polled<'c>(&self, copy: &'c Copy, calls: &[Call]) -> (Option<&'c Cell>, Option<&'c Cell>) {
        let (mut task, mut job) = (None, None);
        for call in calls {
            let (Some(function), Some(end)) = (call.function, call.end) else { continue };
            let polls = self.polls.iter().filter(|(poll, _)| *poll == function).map(|(_, vtable)| *vtable);
            let polls: Vec<usize> = polls.collect();
            if let Some(cell) = polled::only(&copy.cells, &polls, end) {
                let kind = if cell.owner == 0 { &mut job } else { &mut task };
                kind.get_or_insert(cell);
            }
        }
        (task, job)
    }
}

pub(super) fn without_stack(tid: u32, told: KernelAnswer, ending: Ending) -> Thread {
    Thread {
        tid,
        role: roles::role(&told.name, &[]),
        name: told.name,
        activity: None,
        task: None,
        owner: None,
        job: None,
        state: told.state,
        system_call: told.call.map(|call| system_call(call.number, call.arguments[0])),
        kernel_function: told.function,
        cpu_time: told.cpu_time,
        frames: Vec::new(),
        ending,
        at: None,
        held: None,
    }
}

pub(super) fn system_call(number: u64, first: u64) -> SystemCall {
    let name = numbers::name(number);
    let descriptor = name.filter(|name| numbers::works_on_descriptor(name)).map(|_| first as u32 as i32);
    SystemCall { number, name, descriptor }
}
