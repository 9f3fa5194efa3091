//! The one way through: every operation is entered, run and settled here.

use std::io;
use std::sync::OnceLock;

use super::Request;
use super::detached::Detached;
use super::of_process::{OfProcess, count_forks};
use super::operation::{Operation, fault_error};
use crate::aio_pool::{Fault, Pool, Port};

static GLOBAL: OnceLock<Driver> = OnceLock::new();

/// The file driver: a pool that does the work, and the port of the operations that belong to no open file.
///
/// Cheap to clone. [`fs`](crate::fs) uses the [global](Driver::global) one.
#[derive(Clone, Debug)]
pub struct Driver {
    pool: OfProcess<Pool>,
    port: Port,
}

impl Driver {
    /// A driver on a pool of your own, with a port of its own.
    pub fn new(pool: Pool) -> Driver {
        count_forks();
        Driver { pool: OfProcess::new(pool), port: Port::new() }
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
        let operation = self.pool.pool().submit(port, Operation::enter(port, request, buffer, work));
        match OfProcess::new(operation).await.unwrap_or(Err(Fault::Cancelled)) {
            Ok((answer, buffer)) => (answer, Some(buffer)),
            Err(fault) => (Err(fault_error(&fault)), None),
        }
    }

    /// As [`run_with`](Driver::run_with), but the operation is submitted at once and always goes its way: for what must not
    /// be lost. Its answer goes to a function, on the thread that settles it. It does not wait for room in the pool's
    /// queues. The buffer comes back unless the work panicked.
    pub(crate) fn detach<T, B, F>(
        &self,
        port: Port,
        request: Request,
        buffer: B,
        work: F,
        answer: impl FnOnce(io::Result<T>, Option<B>) + Send + 'static,
    ) where
        F: FnOnce(&Request, &mut B) -> io::Result<T> + Send + 'static,
        B: Send + 'static,
        T: Send + 'static,
    {
        let operation = Operation::enter(port, request, buffer, work);
        let answer = |outcome, operation: &mut Operation<F, B, T>| match outcome {
            Ok((result, buffer)) => answer(result, Some(buffer)),
            Err(error) => answer(Err(error), operation.reclaim()),
        };
        self.pool.pool().submit_detached(port, Detached::new(operation, answer));
    }
}
