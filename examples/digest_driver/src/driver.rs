//! The driver: digests of files, computed on the I/O threads of a pool, with the probes of `digest.d`.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use dyntrace::Tag;
use dyntrace::aio_pool::{Fault, Job, Pool, Port};
use dyntrace::process::{self, OperationId};

use crate::command::{Command, Hashed};

mod probes {
    dyntrace::include_provider!("digest");
}
use probes::digest_drv;

/// A driver is a pool, and a port that names the driver.
pub struct Driver {
    pool: Pool,
    port: Port,
}

impl Driver {
    pub fn new(pool: Pool) -> Driver {
        Driver { pool, port: Port::new() }
    }

    /// Hashes a file. The job is queued when this returns. If the future is dropped before an I/O thread takes the job, it never runs.
    pub fn hash(&self, command: Command, path: PathBuf) -> impl Future<Output = io::Result<Hashed>> + use<> {
        let operation = self.pool.submit(self.port, HashJob::enter(self.port, command, path));
        async { operation.await.map_err(io::Error::other)? }
    }
}

/// One operation, from its entry to its return.
struct HashJob {
    id: OperationId,
    user_tag: Option<Tag>,
    command: Command,
    path: PathBuf,
}

impl HashJob {
    fn enter(port: Port, command: Command, path: PathBuf) -> HashJob {
        let (id, user_tag) = (process::next_operation(), dyntrace::get_tag_data());
        digest_drv::entry(|| (id.thread, id.tag, user_tag.as_ref(), command.number, &path, port));
        HashJob { id, user_tag, command, path }
    }
}

impl Job for HashJob {
    type Output = io::Result<Hashed>;

    fn run(&mut self) -> Self::Output {
        digest_drv::int_entry(|| (self.id.thread, self.id.tag, self.command.number));
        (self.command.hash)(File::open(&self.path)?)
    }

    fn ran(&mut self) {
        digest_drv::int_return(|| (self.id.thread, self.id.tag, self.command.number));
    }

    fn settle(&mut self, outcome: Result<&Self::Output, &Fault>) {
        let (bytes, error) = match outcome {
            Ok(Ok((_, bytes))) => (*bytes, None),
            Ok(Err(error)) => (0, Some(error.to_string())),
            Err(fault) => (0, Some(fault.to_string())),
        };
        let (user_tag, ok) = (self.user_tag.as_ref(), i32::from(error.is_none()));
        digest_drv::r#return(|| {
            (self.id.thread, self.id.tag, user_tag, self.command.number, ok, bytes, error.as_ref())
        });
    }
}
