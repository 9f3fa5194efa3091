//! The one way through: every operation is entered, run and settled here.

use std::io;
use std::sync::OnceLock;

use super::Request;
use super::detached::Detached;
use super::fair::{Fair, turn};
use super::inline::{self, Attempt, Lesson, Miss};
use super::of_process::OfProcess;
use super::operation::{Operation, fault_error};
use super::sync::Lead;
use crate::aio_pool::{Fault, Flight, Pool, Port};
use crate::forks;
use crate::tag::Tag;

static GLOBAL: OnceLock<Driver> = OnceLock::new();

/// The file driver: a pool that does the work, and the port of the operations that belong to no open file.
///
/// Cheap to clone. [`fs`](crate::fs) uses the [global](Driver::global) one.
#[derive(Clone, Debug)]
pub struct Driver {
    pool: OfProcess<Pool>,
    port: Port,
    inline: bool,
}

impl Driver {
    /// A driver on a pool of your own, with a port of its own.
    pub fn new(pool: Pool) -> Driver {
        // If there is no memory for it, the next driver does it.
        let _ = forks::count();
        Driver { pool: OfProcess::new(pool), port: Port::new(), inline: inline::by_default() }
    }

    /// Whether this driver first tries to answer on the caller's thread, from what the system has in its caches. Not set,
    /// it does where the environment's `DYNTRACE_INLINE` is 1.
    ///
    /// Tried are, on Linux: reads of a [`File`](crate::fs::File) (which has a switch of its own,
    /// [`set_inline`](crate::fs::File::set_inline)), [`read`](crate::fs::read) of a small file,
    /// [`metadata`](crate::fs::metadata), [`symlink_metadata`](crate::fs::symlink_metadata) and what stands on these, and
    /// opening a file for reading. What is not in the caches, and what is more than 64 KiB, goes to the pool as without
    /// this; so does all on a file system that cannot tell. Elsewhere than on Linux it changes nothing.
    ///
    /// An answer from the caches costs less than a tenth of a trip to the pool, and the task does not wait for it. It takes
    /// from the task's cooperative budget, as every operation of tokio does, so that other tasks have their turn. Worth it
    /// where most answers are in the caches: an attempt in vain costs about a microsecond.
    ///
    /// For probes, `efile_drv-int_entry` and `efile_drv-int_return` stand around the attempt, and `aio_pool-add` and
    /// `aio_pool-get` are missing. After an attempt in vain they stand around the pool's work once more.
    ///
    /// ```
    /// use dyntrace::aio_pool::Pool;
    /// use dyntrace::efile::Driver;
    ///
    /// // Before the first file operation of the program.
    /// let driver = Driver::new(Pool::builder().build()).inline(true);
    /// assert!(Driver::install(driver).is_ok());
    /// ```
    pub fn inline(self, inline: bool) -> Driver {
        Driver { inline, ..self }
    }

    pub(crate) fn is_inline(&self) -> bool {
        self.inline
    }

    /// The port of the operations that belong to no open file.
    pub fn port(&self) -> Port {
        self.port
    }

    /// The driver of the process. Unless one was [installed](Driver::install), it is made at first use.
    pub fn global() -> &'static Driver {
        GLOBAL.get_or_init(|| Driver::new(Pool::builder().build()))
    }

    /// Makes `driver` the one of the process: for a pool of other size, or one whose work the program runs itself.
    ///
    /// # Errors
    ///
    /// Gives `driver` back if the process has one already: call this before the first file operation.
    pub fn install(driver: Driver) -> Result<(), Driver> {
        GLOBAL.set(driver)
    }

    /// Runs one operation of the driver's port: `work` is called on an I/O thread.
    ///
    /// Nothing happens before the first poll. Dropped before the work began, the work is never called; dropped later, the
    /// work ends and its answer is dropped. An error of the work is given on as it is; ECANCELED says that the pool was
    /// shut down, EIO that the work panicked, EAGAIN or the like that the pool got no thread.
    pub(crate) async fn run<T, F>(&self, request: Request, work: F) -> io::Result<T>
    where
        F: FnOnce(&Request) -> io::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        self.run_with(self.port, request, (), |request, ()| work(request)).await.0
    }

    /// As [`run`](Driver::run), but where the driver is [inline](Driver::inline) `attempt` is called first, on this thread.
    pub(crate) async fn try_or_run<T, A, F>(&self, request: Request, attempt: A, work: F) -> io::Result<T>
    where
        A: FnOnce(&Request) -> Attempt<T>,
        F: FnOnce(&Request) -> io::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        let (attempt, work) =
            (|request: &Request, _: &mut ()| attempt(request), |request: &Request, _: &mut ()| work(request));
        self.run_inline(self.inline, self.port, request, (), attempt, work).await.0
    }

    /// As [`run`](Driver::run), for any port, with a buffer that comes back with the answer; it is lost where the pool
    /// could not run the work to its end.
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
        self.pass(port, Operation::enter(port, request, buffer, work)).await
    }

    /// As [`run_with`](Driver::run_with), but `attempt` is called first, on this thread, if `inline` says so. `work` is for
    /// a miss. `attempt` must not panic; what it leaves in the buffer, `work` finds there.
    pub(crate) async fn run_inline<T, B, A, F>(
        &self,
        inline: bool,
        port: Port,
        request: Request,
        buffer: B,
        attempt: A,
        work: F,
    ) -> (io::Result<T>, Option<B>)
    where
        A: FnOnce(&Request, &mut B) -> Attempt<T>,
        F: FnOnce(&Request, &mut B) -> io::Result<T> + Send + 'static,
        B: Send + 'static,
        T: Send + 'static,
    {
        if !inline {
            return self.run_with(port, request, buffer, work).await;
        }
        // Else a task whose every answer is in the caches would never give way to another.
        turn().await;
        let mut operation = Operation::enter(port, request, buffer, work);
        match operation.at_once(|request, buffer| self.heed(attempt(request, buffer))) {
            Some((answer, buffer)) => (answer, Some(buffer)),
            None => self.pass(port, operation).await,
        }
    }

    /// The answer, if the attempt has one.
    fn heed<T>(&self, attempt: Attempt<T>) -> Option<io::Result<T>> {
        match attempt {
            Ok(value) => Some(Ok(value)),
            Err(Miss::Error(error)) => Some(Err(error)),
            Err(Miss::NotCached | Miss::Refused) => None,
            Err(Miss::Unknown(file)) => {
                self.pool.pool().submit_optional(Port::new(), Lesson(file));
                None
            }
        }
    }

    /// Gives an operation to the pool and awaits its answer.
    async fn pass<T, B, F>(&self, port: Port, operation: Operation<F, B, T>) -> (io::Result<T>, Option<B>)
    where
        F: FnOnce(&Request, &mut B) -> io::Result<T> + Send + 'static,
        B: Send + 'static,
        T: Send + 'static,
    {
        let operation = self.pool.pool().submit(port, operation);
        match OfProcess::new(Fair::new(operation)).await.unwrap_or(Err(Fault::Cancelled)) {
            Ok((answer, buffer)) => (answer, Some(buffer)),
            Err(fault) => (Err(fault_error(&fault)), None),
        }
    }

    /// Has the pool make the one call of a group; see [`sync`](super::sync).
    pub(super) fn lead(&self, port: Port, lead: Lead) {
        self.pool.pool().submit_detached(port, lead);
    }

    /// As [`run_with`](Driver::run_with), but the operation is submitted at once and always goes its way: for what must not
    /// be lost. `user_tag` is of whoever asked for it, who may not be the one who calls this. Its answer goes to a function,
    /// on the thread that settles it. It does not wait for room in the pool's queues. The buffer comes back unless the work
    /// panicked.
    pub(crate) fn detach<T, B, F>(
        &self,
        port: Port,
        user_tag: Option<Tag>,
        request: Request,
        buffer: B,
        work: F,
        answer: impl FnOnce(io::Result<T>, Option<B>) + Send + 'static,
    ) where
        F: FnOnce(&Request, &mut B) -> io::Result<T> + Send + 'static,
        B: Send + 'static,
        T: Send + 'static,
    {
        let operation = Operation::enter_for(|| user_tag, port, request, buffer, work);
        let flight = Flight::begin();
        let answer = |outcome, operation: &mut Operation<F, B, T>| {
            match outcome {
                Ok((result, buffer)) => answer(result, Some(buffer)),
                Err(error) => answer(Err(error), operation.reclaim()),
            }
            drop(flight);
        };
        self.pool.pool().submit_detached(port, Detached::new(operation, answer));
    }
}
