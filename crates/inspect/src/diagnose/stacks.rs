//! Where the time of tasks goes: the functions that wait or run, outermost first.
//!
//! Tasks that wait come from looks at memory, those that run from the threads that poll them. Both begin with the task's future, so that
//! the times of one function stand together. Between that and the end stand the program's own functions only.

use std::collections::BTreeMap;
use std::time::Duration;

use dyntrace_tasks::listing::{Await, Chain, Listing, Progress, Ready, Task, WaitsFor};
use dyntrace_tasks::threads::Thread;

use super::causes::ratio;
use crate::own;
use crate::words;

/// The state of a stack's innermost function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// A thread runs it.
    Runs,
    /// It blocks a thread that polls tasks.
    Blocks,
    /// It was woken, and no thread polls it.
    Ready,
    /// It waits, and no thread waits with it.
    Waits,
}

/// Functions, outermost first, and the end of the innermost: its wait, its system call or the CPU.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stack {
    functions: Vec<String>,
    end: String,
    pub state: State,
}

/// The time of each stack.
#[derive(Debug, Default)]
pub struct Stacks {
    /// Whether any are noted: to make those of all tasks costs as much as a look.
    are_noted: bool,
    times: BTreeMap<Stack, Duration>,
}

impl Stack {
    /// The stack of a thread that polls a task.
    pub fn of_thread(thread: &Thread, state: State, end: &str) -> Stack {
        let outermost = own::outermost_frame(&thread.frames);
        let frames = thread.frames.iter().enumerate().rev();
        let shown = frames.filter(|(index, frame)| Some(*index) == outermost || own::is_frame(frame));
        let functions = shown.filter_map(|(_, frame)| frame.function.as_deref());
        Stack::new(functions, state, end)
    }

    fn of_task(task: &Task) -> Stack {
        let state = if is_ready(task) { State::Ready } else { State::Waits };
        let root = match &task.chain {
            Chain::Read { root } => Some(root),
            _ => None,
        };
        let leaf = root.and_then(|root| own_leaf(task, root));
        let end = match (state, leaf) {
            (State::Ready, _) => "a thread".to_owned(),
            (_, Some(leaf)) => words::alike(leaf),
            (_, None) => words::without_leaves(task).to_owned(),
        };
        let end = format!("waits for {end}");
        match (root, leaf) {
            (Some(root), Some(leaf)) => {
                let way = own::way(root, leaf).into_iter().enumerate();
                let shown = way.filter(|(index, future)| *index == 0 || own::is_future(future));
                Stack::new(shown.map(|(_, future)| &*future.future), state, &end)
            }
            (Some(root), None) => Stack::new([&*root.future].into_iter(), state, &end),
            (None, _) => Stack::new([&*words::named(&task.future)].into_iter(), state, &end),
        }
    }

    pub fn new<'f>(functions: impl Iterator<Item = &'f str>, state: State, end: &str) -> Stack {
        // A type has its parameters behind the block or closure that it is of.
        let bare = |name: &str| name.find("}<").map_or(name, |end| &name[..=end]).to_owned();
        let mut functions: Vec<String> = functions.map(|name| own::function(&bare(&words::of_job(name)))).collect();
        functions.dedup();
        Stack { functions, end: end.to_owned(), state }
    }

    /// The functions and the end.
    pub fn frames(&self) -> impl Iterator<Item = &str> {
        self.functions.iter().map(String::as_str).chain([self.end.as_str()])
    }
}

/// The leaf for which the program's own function waits, if any: under `select!` a task has several.
fn own_leaf<'t>(task: &'t Task, root: &Await) -> Option<&'t Await> {
    let leaves = task.leaves();
    let own = leaves.iter().find(|leaf| own::way(root, leaf).into_iter().any(own::is_future));
    own.or(leaves.first()).copied()
}

/// Whether a task was woken, was never polled, or would be woken if a thread looked at its socket.
pub fn is_ready(task: &Task) -> bool {
    if task.state.notified {
        return true;
    }
    let Chain::Read { root } = &task.chain else { return false };
    let leaf = own_leaf(task, root).and_then(|leaf| leaf.waits_for.as_ref());
    let is_unread = match leaf {
        Some(WaitsFor::Descriptor { unread, ready, .. }) => *unread > 0 && *ready != Some(Ready::Writable),
        _ => false,
    };
    root.progress == Progress::Unresumed || is_unread
}

impl Stacks {
    /// None so far, and none later unless `are_noted`.
    pub fn new(are_noted: bool) -> Stacks {
        Stacks { are_noted, times: BTreeMap::new() }
    }

    /// Adds the tasks of a look that no thread runs, but for those that changed while they were read.
    pub fn add_tasks(&mut self, listing: &Listing, time: Duration) {
        if !self.are_noted {
            return;
        }
        let is_known = |task: &Task| !matches!(task.chain, Chain::Busy | Chain::Complete);
        let waiting = |task: &&Task| task.owner != 0 && !task.state.complete && !task.state.running && is_known(task);
        for stack in listing.tasks.iter().filter(waiting).map(Stack::of_task) {
            self.add(&stack, time);
        }
    }

    pub fn add(&mut self, stack: &Stack, time: Duration) {
        match self.times.get_mut(stack) {
            _ if !self.are_noted => {}
            Some(noted) => *noted += time,
            None => _ = self.times.insert(stack.clone(), time),
        }
    }

    /// Multiplies the time of threads that stay in each call by its factor, and divides the rest of the time in which threads polled tasks
    /// among those that run.
    pub fn divide(&mut self, polled: Duration, factors: &BTreeMap<String, f64>) {
        let mut all = [Duration::ZERO; 2];
        for (stack, time) in &mut self.times {
            match stack.state {
                State::Blocks => *time = time.mul_f64(factors.get(&stack.end).copied().unwrap_or(1.0)),
                State::Runs => {}
                State::Ready | State::Waits => continue,
            }
            all[usize::from(stack.state == State::Runs)] += *time;
        }
        let [blocks, runs] = all;
        let factor = ratio(polled.saturating_sub(blocks), runs);
        let run = self.times.iter_mut().filter(|(stack, _)| stack.state == State::Runs);
        run.for_each(|(_, time)| *time = time.mul_f64(factor));
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Stack, Duration)> {
        self.times.iter().map(|(stack, time)| (stack, *time))
    }

    /// A line for each stack, as tools for flame graphs read them: the functions, and microseconds.
    pub fn folded(&self) -> String {
        let line = |(stack, time): (&Stack, Duration)| {
            let frames: Vec<String> = stack.frames().map(|frame| frame.replace(';', ",")).collect();
            format!("{} {}\n", frames.join(";"), time.as_micros())
        };
        self.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use dyntrace_tasks::listing::{SourceLine, State as TaskState};

    use super::*;
    use crate::sample::{self, mutex, waiting};

    fn function(name: &str, file: &str, awaits: Vec<Await>) -> Await {
        let place = Some(SourceLine { file: file.into(), line: 7 });
        Await { future: name.into(), place, progress: Progress::Suspended, awaits, ..Await::default() }
    }

    #[test]
    fn a_task_has_its_own_functions_below_its_outermost() {
        let socket =
            WaitsFor::Descriptor { descriptor: 5, describes: Some("socket:[7]".into()), ready: None, unread: 0 };
        let leaf = |waits| Await { future: "tokio::sync::Leaf".into(), ..waiting(waits) };
        let own = |waits| function("shop::order::{async fn}", "src/main.rs", vec![leaf(waits)]);
        let carried = |inner| {
            let middle = function("tower::util::Oneshot<S>", "tower-0.5.2/src/util.rs", vec![inner]);
            let idle = leaf(WaitsFor::Notify { address: 1 });
            let root = function("axum::serve::handle", "axum-0.8.9/src/serve.rs", vec![idle, middle]);
            sample::task(1, Chain::Read { root })
        };
        let woken = Task { state: TaskState { notified: true, ..TaskState::default() }, ..carried(own(mutex(1))) };
        let changed = sample::task(2, Chain::Complete);
        let tasks = vec![carried(own(mutex(0xa0))), carried(own(mutex(0xb0))), carried(own(socket)), woken, changed];
        let mut stacks = Stacks::new(true);
        stacks.add_tasks(&Listing { tasks, ..Listing::default() }, Duration::from_millis(2));
        let blocks = Stack::new(["shop::[u8; 4]"].into_iter(), State::Blocks, "write");
        stacks.add(&blocks, Duration::from_micros(3));
        let runs = Stack::new(["shop::sum"].into_iter(), State::Runs, "on a CPU");
        stacks.add(&runs, Duration::from_millis(1));
        // Threads seem to run for longer than tasks were polled: they search for work meanwhile.
        stacks.divide(Duration::from_micros(10), &BTreeMap::from([("write".to_owned(), 2.0)]));
        assert_eq!(
            stacks.folded(),
            "axum::serve::handle;shop::order;waits for Mutex 4000\n\
             axum::serve::handle;shop::order;waits for a socket 2000\n\
             axum::serve::handle;shop::order;waits for a thread 2000\n\
             shop::[u8, 4];write 6\n\
             shop::sum;on a CPU 4\n"
        );
    }
}
