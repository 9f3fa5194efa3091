//! The driver: enters, runs and settles every operation.

use std::future::Future;
use std::io;
use std::path::Path;
use std::sync::OnceLock;

use dyntrace_probes::forks;

use super::coop::{Cooperative, yield_if_spent};
use super::detached::Detached;
use super::inline::{self, Attempt, DetectFileSystem, Inline, Miss, Permit, Trial};
use super::inode::Inode;
use super::operation::{Entered, FileJob, failure, fault_error};
use super::process_local::ProcessLocal;
use super::request::Request;
use super::unwritten::{FindInode, is_any_marked, last_before, written};
use crate::aio_pool::{ClockHold, Fault, Job, Pool, Port};
use dyntrace_processes::tag::Tag;

static GLOBAL: OnceLock<Driver> = OnceLock::new();

/// The file driver: a pool that runs the operations, and a port for operations that belong to no open file.
///
/// Cheap to clone. [`fs`](crate::fs) uses the [global](Driver::global) one.
#[derive(Clone, Debug)]
pub struct Driver {
    pool: ProcessLocal<Pool>,
    port: Port,
    inline: Inline,
}

/// An operation that was entered, and whose answer the caches do not have.
pub(crate) struct Unanswered<B> {
    entered: Entered,
    request: Request,
    buffer: B,
}

impl Unanswered<()> {
    /// Enters an operation that may have no task, for `user_tag`.
    #[inline(always)]
    pub(crate) fn enter(port: Port, user_tag: Option<Tag>, request: Request) -> Unanswered<()> {
        Unanswered { entered: Entered::enter_for(|| user_tag, port, &request), request, buffer: () }
    }
}

impl Driver {
    /// Makes a driver on `pool`, with a port of its own.
    pub fn new(pool: Pool) -> Driver {
        // Without memory for the fork handler, the next driver tries again.
        let _ = forks::count();
        Driver { pool: ProcessLocal::new(pool), port: Port::new(), inline: Inline::by_default() }
    }

    /// Sets whether this driver first tries an operation on the caller's thread, from the system's caches. `true` is
    /// [`Always`](Inline::Always), `false` [`Off`](Inline::Off). The default is the environment variable `DYNTRACE_INLINE` (`off` or `0`,
    /// `adaptive`, `always` or `1`), else `Adaptive`.
    ///
    /// On Linux it tries reads and seeks of a [`File`](crate::fs::File) (which has a switch of its own,
    /// [`set_inline`](crate::fs::File::set_inline)), its [`metadata`](crate::fs::File::metadata), [`read`](crate::fs::read) of a small
    /// file, [`metadata`](crate::fs::metadata), [`symlink_metadata`](crate::fs::symlink_metadata) and functions built on these,
    /// [`read_link`](crate::fs::read_link), [`canonicalize`](crate::fs::canonicalize), opening a file for reading, and closing it on the
    /// thread that uses it last. On XFS and btrfs it tries writes that the page cache has room for, too. Operations that the caches cannot
    /// answer, and those of more than 64 KiB, go to the pool; so do all operations on a file system that cannot tell whether data is
    /// cached, or that asks a server. So do opens where the system asks another process, such as a virus scanner, and all reads of sockets,
    /// FIFOs and devices. On other systems this setting has no effect.
    ///
    /// A program that answers permission events of fanotify(7) makes its group before its first file operation, or switches this off: a
    /// thread that opens a file itself may otherwise wait for its own answer.
    ///
    /// A hit costs less than a tenth of a trip to the pool, and the task does not wait. It spends a unit of the task's cooperative budget,
    /// as every operation of tokio does, so that other tasks get their turn. A miss costs about a microsecond. The copy of the bytes, 5 to
    /// 25 us for 64 KiB, keeps the thread from its other tasks.
    ///
    /// [`Adaptive`](Inline::Adaptive) bounds that. After two attempts of 50 us or longer, or eight misses in a row, attempts of that command
    /// on that file system pause: 1 ms at first, up to 1 s if it goes on. After 10 us of attempts on a thread, or 50 us of one task, the next
    /// task that asks there must yield first. Operations at a cursor that [`try_clone`](crate::fs::File::try_clone) or
    /// [`from_std`](crate::fs::File::from_std) may have shared go to the pool: they would wait for one of the other file.
    ///
    /// `efile_drv-int_entry` fires before the attempt and `efile_drv-int_return` after a hit, without `aio_pool-add` and `aio_pool-get`.
    /// After a miss `int_entry` fires again in the pool's job: the last one counts.
    ///
    /// ```
    /// use dyntrace::aio_pool::Pool;
    /// use dyntrace::efile::{Driver, Inline};
    ///
    /// // Before the first file operation of the program.
    /// let driver = Driver::new(Pool::builder().build()).inline(Inline::Adaptive);
    /// assert!(Driver::install(driver).is_ok());
    /// ```
    pub fn inline(self, inline: impl Into<Inline>) -> Driver {
        Driver { inline: inline.into(), ..self }
    }

    pub(crate) fn mode(&self) -> Inline {
        self.inline
    }

    /// Returns the permit for an operation by path under `mode`.
    pub(crate) fn permit(mode: Inline) -> Option<Permit> {
        if inline::IS_SUPPORTED { Permit::of_path(mode) } else { None }
    }

    /// Returns the port of operations that belong to no open file.
    pub fn port(&self) -> Port {
        self.port
    }

    /// Returns the driver of the process. Unless one was [installed](Driver::install), it is made at first use.
    pub fn global() -> &'static Driver {
        GLOBAL.get_or_init(|| Driver::new(Pool::builder().build()))
    }

    /// Installs `driver` as the driver of the process: for a pool with other settings, or one whose jobs the program runs itself.
    ///
    /// # Errors
    ///
    /// Returns `driver` if the process has a driver already: call this before the first file operation.
    pub fn install(driver: Driver) -> Result<(), Driver> {
        GLOBAL.set(driver)
    }

    /// Runs one operation of the driver's port: calls `work` on an I/O thread.
    ///
    /// Returns an error of `work` unchanged, ECANCELED if the pool was shut down, EIO if `work` panicked, and EAGAIN or the like if the
    /// system gave the pool no thread.
    ///
    /// Nothing happens before the first poll. If the future is dropped before `work` began, `work` is never called; if it is dropped
    /// later, `work` ends and its result is dropped.
    pub(crate) async fn run<T, F>(&self, request: Request, work: F) -> io::Result<T>
    where
        F: FnOnce(&Request) -> io::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        self.wait_for_writes(&request).await;
        let entered = Entered::enter(self.port, &request);
        self.submit(FileJob::new(entered, request, (), |request, ()| work(request)), self.port).await.0
    }

    /// As [`run`](Driver::run), but if the driver is [inline](Driver::inline), calls `attempt` first, on this thread.
    pub(crate) async fn try_or_run<T, A, F>(&self, request: Request, attempt: A, work: F) -> io::Result<T>
    where
        A: FnOnce(&Request, &mut Trial) -> Attempt<T>,
        F: FnOnce(&Request) -> io::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        let attempt = |request: &Request, _: &mut (), trial: &mut Trial| attempt(request, trial);
        let work = |request: &Request, _: &mut ()| work(request);
        self.run_inline(Driver::permit(self.inline), self.port, request, (), attempt, || work).await.0
    }

    /// As [`try_or_run`](Driver::try_or_run), for operations that take a path alone.
    pub(crate) fn look_up<T, A, F>(&self, request: Request, attempt: A, work: F) -> impl Future<Output = io::Result<T>>
    where
        A: FnOnce(&Path, &mut Trial) -> Attempt<T>,
        F: FnOnce(&Path) -> io::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        let attempt = |request: &Request, trial: &mut Trial| attempt(request.path()?, trial);
        self.try_or_run(request, attempt, |request| work(request.path()?))
    }

    /// As [`run`](Driver::run), for any port, with a buffer that comes back with the result; it is lost if the pool could not run
    /// `work` to its end.
    pub(crate) async fn run_with<T, B, F>(
        &self,
        port: Port,
        request: Request,
        buffer: B,
        work: F,
    ) -> (io::Result<T>, Option<B>)
    where
        F: FnOnce(&Request, &mut B) -> io::Result<T> + Send + 'static,
        B: Send + 'static,
        T: Send + 'static,
    {
        let entered = Entered::enter(port, &request);
        self.submit(FileJob::new(entered, request, buffer, work), port).await
    }

    /// As [`run_with`](Driver::run_with), but with a permit calls `attempt` first, on this thread, and `work` only after a miss.
    /// `attempt` must not panic; `work` gets the buffer as `attempt` left it. `make_work` is called after the last wait before the job:
    /// `work` may own a file, and a future that is forgotten while it waits must not keep that open.
    pub(crate) async fn run_inline<T, B, A, F>(
        &self,
        permit: Option<Permit>,
        port: Port,
        request: Request,
        buffer: B,
        attempt: A,
        make_work: impl FnOnce() -> F,
    ) -> (io::Result<T>, Option<B>)
    where
        A: FnOnce(&Request, &mut B, &mut Trial) -> Attempt<T>,
        F: FnOnce(&Request, &mut B) -> io::Result<T> + Send + 'static,
        B: Send + 'static,
        T: Send + 'static,
    {
        self.wait_for_writes(&request).await;
        let Some(permit) = permit else {
            let entered = Entered::enter(port, &request);
            return self.submit(FileJob::new(entered, request, buffer, make_work()), port).await;
        };
        // Otherwise a task whose operations all hit the caches would never yield.
        yield_if_spent(|| permit.must_yield()).await;
        match self.begin(Some(permit), port, request, buffer, attempt) {
            Ok((answer, buffer)) => (answer, Some(buffer)),
            Err(unanswered) => self.submit_unanswered(unanswered, port, make_work()).await,
        }
    }

    /// Enters an operation. With a permit calls `attempt` on this thread, and settles the operation if the caches have the answer.
    /// Otherwise the caller must [submit](Driver::submit_unanswered) it. A task with a permit must have [yielded](super::poll_budget)
    /// before, and waited for the writes that the operation depends on.
    #[allow(clippy::result_large_err, reason = "it is not passed on, and a box would be an allocation for each miss")]
    #[inline(always)]
    pub(crate) fn begin<T, B>(
        &self,
        permit: Option<Permit>,
        port: Port,
        request: Request,
        buffer: B,
        attempt: impl FnOnce(&Request, &mut B, &mut Trial) -> Attempt<T>,
    ) -> Result<(io::Result<T>, B), Unanswered<B>> {
        let unanswered = Unanswered { entered: Entered::enter(port, &request), request, buffer };
        match permit {
            Some(permit) => self.attempt(permit, unanswered, attempt),
            None => Err(unanswered),
        }
    }

    /// As [`begin`](Driver::begin), for a [detached](Driver::detach) operation.
    #[allow(clippy::result_large_err, reason = "it is not passed on, and a box would be an allocation for each miss")]
    pub(crate) fn attempt<T, B>(
        &self,
        permit: Permit,
        unanswered: Unanswered<B>,
        attempt: impl FnOnce(&Request, &mut B, &mut Trial) -> Attempt<T>,
    ) -> Result<(io::Result<T>, B), Unanswered<B>> {
        let Unanswered { entered, request, mut buffer } = unanswered;
        entered.begin(&request.command);
        let mut trial = permit.begin();
        let tried = attempt(&request, &mut buffer, &mut trial);
        let took = trial.end(&tried);
        let Some(answer) = self.cached_answer(tried) else { return Err(Unanswered { entered, request, buffer }) };
        entered.end(&request.command);
        entered.settle(&request.command, || (failure(&answer), request.moved()));
        entered.count_answer(request.command, self.pool.pool(), answer.is_ok(), request.moved(), took);
        Ok((answer, buffer))
    }

    /// Submits an operation that [began](Driver::begin) without an answer.
    #[inline(always)]
    pub(crate) fn submit_unanswered<T, B, F>(
        &self,
        unanswered: Unanswered<B>,
        port: Port,
        work: F,
    ) -> impl Future<Output = (io::Result<T>, Option<B>)> + use<T, B, F>
    where
        F: FnOnce(&Request, &mut B) -> io::Result<T> + Send + 'static,
        B: Send + 'static,
        T: Send + 'static,
    {
        let Unanswered { entered, request, buffer } = unanswered;
        self.submit(FileJob::new(entered, request, buffer, work), port)
    }

    /// Returns the result of an attempt, or `None` if the operation must go to the pool.
    fn cached_answer<T>(&self, attempt: Attempt<T>) -> Option<io::Result<T>> {
        match attempt {
            Ok(value) => Some(Ok(value)),
            Err(Miss::Error(error)) => Some(Err(error)),
            Err(Miss::NotCached | Miss::Refused) => None,
            Err(Miss::Unknown { file, is_opened }) => {
                self.pool.pool().submit_optional(Port::new(), DetectFileSystem { file, is_opened });
                None
            }
        }
    }

    /// Step 3 of [`unwritten`](super::unwritten): waits for the writes that were accepted before, if the operation depends on them.
    async fn wait_for_writes(&self, request: &Request) {
        let Some(last) = last_before(request.command) else { return };
        for path in [request.path(), request.second_path()].into_iter().flatten() {
            let cached = if self.inline.is_on() { inline::cached_inode(path) } else { Err(Miss::Refused) };
            let inode = match cached {
                Ok(inode) => inode,
                // No such file.
                Err(Miss::Error(_)) => None,
                Err(_) if is_any_marked() => self.find_inode(path).await,
                Err(_) => None,
            };
            if let Some(inode) = inode {
                written(inode, last).await;
            }
        }
    }

    async fn find_inode(&self, path: &Path) -> Option<Inode> {
        let operation = self.pool.pool().submit(Port::new(), FindInode(path.to_owned()));
        ProcessLocal::new(Cooperative::new(operation)).await?.ok()?
    }

    /// Submits an operation to the pool at once, and returns its outcome. Not an `async fn`: its future would hold the job, which is
    /// large, and each such future copies it once more.
    #[inline(always)]
    fn submit<T, B, F>(
        &self,
        job: FileJob<F, B, T>,
        port: Port,
    ) -> impl Future<Output = (io::Result<T>, Option<B>)> + use<T, B, F>
    where
        F: FnOnce(&Request, &mut B) -> io::Result<T> + Send + 'static,
        B: Send + 'static,
        T: Send + 'static,
    {
        let operation = ProcessLocal::new(Cooperative::new(self.pool.pool().submit(port, job)));
        async {
            match operation.await.unwrap_or(Err(Fault::Cancelled)) {
                Ok((answer, buffer)) => (answer, Some(buffer)),
                Err(fault) => (Err(fault_error(&fault)), None),
            }
        }
    }

    /// Runs an operation that nobody awaits on this thread. `user_tag` is that of the task that asked for it. `act` must not panic.
    pub(super) fn run_here(
        &self,
        permit: Permit,
        port: Port,
        user_tag: Option<Tag>,
        request: &Request,
        act: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        let entered = Entered::enter_for(|| user_tag, port, request);
        let trial = permit.begin();
        entered.begin(&request.command);
        let answer = act();
        // An error is an answer, too.
        let took = trial.end(&Ok(()));
        entered.end(&request.command);
        entered.settle(&request.command, || (failure(&answer), 0));
        entered.count_answer(request.command, self.pool.pool(), answer.is_ok(), 0, took);
        answer
    }

    /// Submits a job that is not awaited.
    pub(super) fn submit_detached<J: Job>(&self, port: Port, job: J) {
        self.pool.pool().submit_detached(port, job);
    }

    /// As [`run_with`](Driver::run_with), but submits the operation at once and always runs it: for writes and closes, which must not be
    /// lost. `user_tag` is that of the task that asked for the operation, which may not be the caller. The result goes to `callback`, on
    /// the thread that settles the operation. Does not wait for room in the pool's queues. The buffer comes back unless `work` panicked.
    pub(crate) fn detach<T, B, F>(
        &self,
        port: Port,
        user_tag: Option<Tag>,
        request: Request,
        buffer: B,
        work: F,
        callback: impl FnOnce(io::Result<T>, Option<B>) + Send + 'static,
    ) where
        F: FnOnce(&Request, &mut B) -> io::Result<T> + Send + 'static,
        B: Send + 'static,
        T: Send + 'static,
    {
        self.detach_entered(Unanswered::enter(port, user_tag, request), port, buffer, work, callback);
    }

    /// As [`detach`](Driver::detach), for an operation that was entered.
    #[inline(always)]
    pub(crate) fn detach_entered<T, B, F>(
        &self,
        unanswered: Unanswered<()>,
        port: Port,
        buffer: B,
        work: F,
        callback: impl FnOnce(io::Result<T>, Option<B>) + Send + 'static,
    ) where
        F: FnOnce(&Request, &mut B) -> io::Result<T> + Send + 'static,
        B: Send + 'static,
        T: Send + 'static,
    {
        let job = FileJob::new(unanswered.entered, unanswered.request, buffer, work);
        let hold = ClockHold::begin();
        let settled = |outcome, job: &mut FileJob<F, B, T>| {
            match outcome {
                Ok((result, buffer)) => callback(result, Some(buffer)),
                Err(error) => callback(Err(error), job.reclaim()),
            }
            drop(hold);
        };
        self.submit_detached(port, Detached::new(job, settled));
    }
}
