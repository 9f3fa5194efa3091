//! A future, with the probes of a wait around it.
//!
//! The table of tasks has one wait of each task: of several, the one that began or was polled last. If the future of a wait moves to
//! another task, the next poll moves the wait to that task's row. For tracers it stays a wait of the process that began it.
//!
//! A poll of `FuturesUnordered` may end the wait in the row without polling the others. Then the row is empty until one of them is polled.

use std::fmt;
use std::mem;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll};

use dyntrace_probes::clock;
use dyntrace_probes::sdt::{Shape, Text, is_only_kept};
use dyntrace_probes::text::SourcePlace;

use crate::probes::process as probes;
use crate::process::{self, Pid};
use crate::task_table::{self, Begun};

/// A thing that can be waited for.
pub trait Waited {
    /// Whether the future that is awaited may have waits of its own: while one of these lasts, the table has it in place of this one.
    const ENCLOSES: bool = false;

    /// Notes that this process begins to wait for it.
    fn begins(&mut self, _process: Pid) {}
    /// The resource: the table of tasks has it, and tracers its name.
    fn key(&self) -> task_table::Resource;
    /// The operation, for tracers.
    fn kind(&self) -> &'static str;
}

/// The name of a resource, for tracers.
fn name(resource: task_table::Resource) -> Text<'static> {
    match resource {
        task_table::Resource::Numbered(number) => numbered(number),
        task_table::Resource::Named(name) => Text::from(name),
        task_table::Resource::Process(number) => Text::from(Pid::numbered(number)),
        // Has probes of its own.
        task_table::Resource::Operation(_) => Text::from("file operation"),
    }
}

/// The name of a resource by its number, in the form of Erlang's references.
pub(super) fn numbered(number: u64) -> Text<'static> {
    static SHAPE: Shape = Shape::new("#Ref<0.", ">");
    Text::numbered(&SHAPE, number)
}

/// A thing that a program has named in [`wait`](super::wait).
pub(super) struct Named(pub(super) &'static str);

impl Waited for Named {
    const ENCLOSES: bool = true;

    fn key(&self) -> task_table::Resource {
        task_table::Resource::Named(self.0)
    }

    fn kind(&self) -> &'static str {
        "wait"
    }
}

/// An operation that looks a name up.
pub struct Resolver(pub &'static str);

impl Waited for Resolver {
    fn key(&self) -> task_table::Resource {
        task_table::Resource::Named("resolver")
    }

    fn kind(&self) -> &'static str {
        self.0
    }
}

/// The operation of a timer, as `time::sleep`.
#[derive(Clone, Copy)]
pub struct Timer(pub &'static str);

impl Waited for Timer {
    fn key(&self) -> task_table::Resource {
        task_table::Resource::Named("timer")
    }

    fn kind(&self) -> &'static str {
        self.0
    }
}

/// The timer of a future that has a time limit.
pub struct Limit(pub Timer);

impl Waited for Limit {
    const ENCLOSES: bool = true;

    fn key(&self) -> task_table::Resource {
        self.0.key()
    }

    fn kind(&self) -> &'static str {
        self.0.kind()
    }
}

pin_project_lite::pin_project! {
    /// A future that fires the probes of a wait.
    pub struct Waiting<F, R: Waited> {
        #[pin]
        future: F,
        // Dropped last: it tells the end.
        wait: Wait<R>,
    }
}

impl<F, R: Waited> Waiting<F, R> {
    /// A wait for `resource`, at `place`.
    #[inline(always)]
    pub fn new(resource: R, place: &'static Location<'static>, future: F) -> Self {
        Waiting { future, wait: Wait::new(resource, place) }
    }
}

impl<F, R: Waited> Waiting<F, R> {
    /// The thing that it waits for.
    pub fn resource(&self) -> &R {
        &self.wait.resource
    }

    /// The future itself.
    pub fn inner(self: Pin<&mut Self>) -> Pin<&mut F> {
        self.project().future
    }

    /// The future itself.
    pub fn get_ref(&self) -> &F {
        &self.future
    }

    /// The future itself.
    pub fn get_mut(&mut self) -> &mut F {
        &mut self.future
    }

    /// The future itself. Ends its wait.
    pub fn into_inner(self) -> F {
        self.future
    }
}

impl<F: Future, R: Waited> Future for Waiting<F, R> {
    type Output = F::Output;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        this.wait.poll(this.future, context)
    }
}

impl<F: fmt::Debug, R: Waited> fmt::Debug for Waiting<F, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.future.fmt(f)
    }
}

/// A wait, from its first poll that returns pending to its end.
pub(super) struct Wait<R: Waited> {
    resource: R,
    place: &'static Location<'static>,
    /// The clock at `process-wait`. 0 before.
    began: u64,
    /// The process that began to wait then.
    process: Pid,
    /// The number of the row in the table that has it, or had it before another wait: that of the task that polled it last; 0 without one.
    row: u32,
}

impl<R: Waited> Wait<R> {
    #[inline(always)]
    fn new(resource: R, place: &'static Location<'static>) -> Self {
        Wait { resource, place, began: 0, process: Pid::numbered(0), row: 0 }
    }

    #[inline(always)]
    fn poll<F: Future>(&mut self, future: Pin<&mut F>, context: &mut Context<'_>) -> Poll<F::Output> {
        let panics = Panics(self);
        let answer = future.poll(context);
        mem::forget(panics);
        if answer.is_ready() {
            self.end("ready");
        } else if is_watched() {
            self.begin();
        }
        answer
    }

    #[cold]
    #[inline(never)]
    fn begin(&mut self) {
        if self.began == 0 {
            clock::prepare_once();
            self.process = process::current();
            self.resource.begins(self.process);
            if !is_only_kept!(probes::wait) {
                let place = SourcePlace::new(self.place);
                probes::wait(|| (self.process, name(self.resource.key()), self.resource.kind(), place.text()));
            }
            self.began = clock::unique();
            let begun = self.begun();
            self.row =
                if R::ENCLOSES { task_table::enclosing_wait_begins(&begun) } else { task_table::wait_begins(&begun) };
        } else {
            self.row = task_table::wait_lasts(self.row, self.began, R::ENCLOSES, || self.begun());
        }
    }

    fn begun(&self) -> Begun {
        Begun {
            pid: self.process.number(),
            kind: self.resource.kind(),
            place: Some(self.place),
            resource: self.resource.key(),
            since: self.began,
        }
    }

    #[inline(always)]
    fn end(&mut self, outcome: &'static str) {
        if self.began != 0 {
            self.tell_end(outcome);
        }
    }

    #[cold]
    #[inline(never)]
    fn tell_end(&mut self, outcome: &'static str) {
        task_table::wait_ends(self.row, self.began);
        let began = mem::replace(&mut self.began, 0);
        // The table alone does not need the rest.
        if probes::resume::is_enabled() {
            let waited = clock::took(clock::now().saturating_sub(began)).as_nanos();
            let (place, waited) = (SourcePlace::new(self.place), u64::try_from(waited).unwrap_or(u64::MAX));
            let resource = &self.resource;
            probes::resume(|| (self.process, name(resource.key()), waited, outcome, resource.kind(), place.text()));
        }
    }
}

impl<R: Waited> Wait<R> {
    /// Begins a wait that no value of this type stands for.
    pub(super) fn start(resource: R, place: &'static Location<'static>) -> Started {
        let mut wait = Wait::new(resource, place);
        wait.begin();
        let (process, row) = (wait.process, wait.row);
        Started { process, row, began: mem::replace(&mut wait.began, 0) }
    }

    /// Notes in the table that such a wait goes on in its process.
    pub(super) fn go_on(resource: R, place: &'static Location<'static>, started: Started) {
        let mut wait = Wait::of(resource, place, started);
        wait.begin();
        wait.began = 0;
    }

    /// Ends such a wait.
    pub(super) fn finish(resource: R, place: &'static Location<'static>, started: Started, outcome: &'static str) {
        Wait::of(resource, place, started).end(outcome);
    }

    fn of(resource: R, place: &'static Location<'static>, Started { process, row, began }: Started) -> Self {
        Wait { resource, place, began, process, row }
    }
}

/// A wait that no [`Wait`] stands for.
pub(super) struct Started {
    pub process: Pid,
    pub row: u32,
    /// The clock at `process-wait`.
    pub began: u64,
}

impl<R: Waited> Drop for Wait<R> {
    #[inline(always)]
    fn drop(&mut self) {
        self.end("cancelled");
    }
}

/// Notes that a poll panicked.
struct Panics<'w, R: Waited>(&'w mut Wait<R>);

impl<R: Waited> Drop for Panics<'_, R> {
    #[cold]
    fn drop(&mut self) {
        self.0.end("panic");
    }
}

/// Whether a tracer looks at waits, or there is a table of tasks.
#[inline(always)]
pub fn is_watched() -> bool {
    probes::wait::is_enabled() || probes::resume::is_enabled()
}
