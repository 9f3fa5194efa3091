//! The builder of runtimes.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Runtime;

#[cfg(tokio_unstable)]
use super::hooks::Hooks;
use dyntrace_processes::task_table::Counter;

/// A function that the runtime calls on its threads.
type Callback = Arc<dyn Fn() + Send + Sync>;

/// Builds runtimes of tokio, with the methods of [`tokio::runtime::Builder`]. Each does what tokio's method of that name does.
///
/// [`tokio`](Builder::tokio) gives access to tokio's builder, for its other settings. [`From`] takes one that is there already.
///
/// ```
/// use dyntrace::runtime::Builder;
///
/// # fn main() -> std::io::Result<()> {
/// let mut builder = Builder::new_current_thread();
/// builder.enable_time().tokio().start_paused(true);
/// let runtime = builder.build()?;
/// runtime.block_on(async { tokio::time::sleep(std::time::Duration::from_secs(3600)).await });
/// # Ok(())
/// # }
/// ```
pub struct Builder {
    tokio: tokio::runtime::Builder,
    park: Option<Callback>,
    stop: Option<Callback>,
    tasks: bool,
    #[cfg(tokio_unstable)]
    pub(super) hooks: Hooks,
}

/// Without tokio's features for I/O its builder lacks the method. With them, the method goes before this one.
#[allow(dead_code, reason = "a feature of another package decides")]
trait WithoutIo {
    fn enable_io(&mut self) {}
}

impl WithoutIo for tokio::runtime::Builder {}

/// Settings are kept, except for functions in whose places this crate puts its own: [`on_thread_park`](Builder::on_thread_park),
/// [`on_thread_stop`](Builder::on_thread_stop) and, under `tokio_unstable`, tokio's hooks of tasks. Set these here.
impl From<tokio::runtime::Builder> for Builder {
    fn from(tokio: tokio::runtime::Builder) -> Builder {
        Builder {
            tokio,
            park: None,
            stop: None,
            tasks: false,
            #[cfg(tokio_unstable)]
            hooks: Hooks::default(),
        }
    }
}

impl Builder {
    /// Begins a runtime whose tasks run on the thread that calls `block_on`.
    pub fn new_current_thread() -> Builder {
        tokio::runtime::Builder::new_current_thread().into()
    }

    /// Begins a runtime whose tasks run on several threads.
    pub fn new_multi_thread() -> Builder {
        tokio::runtime::Builder::new_multi_thread().into()
    }

    /// tokio's builder, for settings that have no method here, such as `start_paused` and `unhandled_panic`.
    ///
    /// [`build`](Builder::build) replaces the functions that are named at `From`.
    pub fn tokio(&mut self) -> &mut tokio::runtime::Builder {
        &mut self.tokio
    }

    /// Whether [`build`](Builder::build) starts the table of the program's tasks, as `DYNTRACE=tasks` does. Off by default.
    ///
    /// The table holds the tasks of the whole program, and is kept until the program ends.
    pub fn tasks(&mut self, tasks: bool) -> &mut Builder {
        self.tasks = tasks;
        self
    }

    /// Sets the number of worker threads.
    ///
    /// # Panics
    ///
    /// Panics if it is 0, as tokio does.
    #[track_caller]
    pub fn worker_threads(&mut self, number: usize) -> &mut Builder {
        self.tokio.worker_threads(number);
        self
    }

    /// Sets the largest number of threads for blocking closures.
    ///
    /// # Panics
    ///
    /// Panics if it is 0, as tokio does.
    #[track_caller]
    pub fn max_blocking_threads(&mut self, number: usize) -> &mut Builder {
        self.tokio.max_blocking_threads(number);
        self
    }

    /// Sets the name of the runtime's threads.
    pub fn thread_name(&mut self, name: impl Into<String>) -> &mut Builder {
        self.tokio.thread_name(name);
        self
    }

    /// Sets a function that names the runtime's threads.
    pub fn thread_name_fn(&mut self, name: impl Fn() -> String + Send + Sync + 'static) -> &mut Builder {
        self.tokio.thread_name_fn(name);
        self
    }

    /// Sets the size of the stacks of the runtime's threads, in bytes.
    pub fn thread_stack_size(&mut self, bytes: usize) -> &mut Builder {
        self.tokio.thread_stack_size(bytes);
        self
    }

    /// Sets how long a thread for blocking closures waits for the next one before it ends.
    pub fn thread_keep_alive(&mut self, time: Duration) -> &mut Builder {
        self.tokio.thread_keep_alive(time);
        self
    }

    /// Enables the drivers for I/O and time.
    pub fn enable_all(&mut self) -> &mut Builder {
        self.tokio.enable_all();
        self
    }

    /// Enables the driver for I/O, if tokio has one: with its features `net`, `process` or `signal`.
    pub fn enable_io(&mut self) -> &mut Builder {
        self.tokio.enable_io();
        self
    }

    /// Enables the driver for time.
    pub fn enable_time(&mut self) -> &mut Builder {
        self.tokio.enable_time();
        self
    }

    /// Sets a function that each of the runtime's threads calls when it starts.
    pub fn on_thread_start(&mut self, call: impl Fn() + Send + Sync + 'static) -> &mut Builder {
        self.tokio.on_thread_start(call);
        self
    }

    /// Sets a function that each of the runtime's threads calls before it ends.
    pub fn on_thread_stop(&mut self, call: impl Fn() + Send + Sync + 'static) -> &mut Builder {
        self.stop = Some(Arc::new(call));
        self
    }

    /// Sets a function that a worker thread calls before it sleeps.
    pub fn on_thread_park(&mut self, call: impl Fn() + Send + Sync + 'static) -> &mut Builder {
        self.park = Some(Arc::new(call));
        self
    }

    /// Sets a function that a worker thread calls when it has slept.
    pub fn on_thread_unpark(&mut self, call: impl Fn() + Send + Sync + 'static) -> &mut Builder {
        self.tokio.on_thread_unpark(call);
        self
    }

    /// Sets after how many polls a worker looks into the queue that all workers share.
    ///
    /// # Panics
    ///
    /// Panics if it is 0, as tokio does.
    #[track_caller]
    pub fn global_queue_interval(&mut self, polls: u32) -> &mut Builder {
        self.tokio.global_queue_interval(polls);
        self
    }

    /// Sets after how many polls a worker looks for timers and I/O that are ready.
    ///
    /// # Panics
    ///
    /// Panics if it is 0, as tokio does.
    #[track_caller]
    pub fn event_interval(&mut self, polls: u32) -> &mut Builder {
        self.tokio.event_interval(polls);
        self
    }

    /// Builds a runtime.
    ///
    /// # Errors
    ///
    /// The system's, if it gives the runtime no thread or no driver. With [`tasks`](Builder::tasks), also the errors of
    /// [`recorder::tasks`](crate::recorder::tasks).
    pub fn build(&mut self) -> io::Result<Runtime> {
        if self.tasks {
            keep_tasks()?;
        }
        #[cfg(tokio_unstable)]
        self.hooks.set(&mut self.tokio);
        let counter = Counter::new();
        let (park, stop) = (self.park.clone(), self.stop.clone());
        self.tokio.on_thread_park(counting(&counter, park)).on_thread_stop(counting(&counter, stop));
        let runtime = self.tokio.build();
        #[cfg(tokio_unstable)]
        super::hooks::unset(&mut self.tokio);
        // Otherwise this builder has the counter, too, and the runtime would count on after its end.
        self.tokio.on_thread_park(|| ()).on_thread_stop(|| ());
        let runtime = runtime?;
        counter.begin(runtime.handle());
        Ok(runtime)
    }
}

/// Counts the runtime's tasks, and calls the function of the user.
fn counting(counter: &Arc<Counter>, call: Option<Callback>) -> impl Fn() + Send + Sync + 'static {
    let counter = Arc::clone(counter);
    move || {
        counter.count();
        if let Some(call) = &call {
            call();
        }
    }
}

#[cfg(all(feature = "recorder", target_os = "linux"))]
fn keep_tasks() -> io::Result<()> {
    crate::recorder::tasks().map_err(io::Error::other)
}

#[cfg(not(all(feature = "recorder", target_os = "linux")))]
fn keep_tasks() -> io::Result<()> {
    let reason =
        "the table of tasks exists on Linux only, in builds with the feature `recorder`: leave out `Builder::tasks`";
    Err(io::Error::new(io::ErrorKind::Unsupported, reason))
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("tokio", &self.tokio).field("tasks", &self.tasks).finish_non_exhaustive()
    }
}
