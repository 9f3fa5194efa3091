//! The driver: digests of files, computed on the I/O threads of a pool, with the probes of `digest.d` on the way.

use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use dyntrace::Tag;
use dyntrace::aio_pool::{Fault, Pool, Port, Work};
use dyntrace::process::{self, OperationId};

use crate::command::{Command, Hashed};

mod probes {
    dyntrace::include_provider!("digest");
}
use probes::digest_drv;

/// A driver is a pool and a port: on whose behalf the pool's threads work.
pub struct Driver {
    pool: Pool,
    port: Port,
}

impl Driver {
    pub fn new(pool: Pool) -> Driver {
        Driver { pool, port: Port::new() }
    }

    /// Hashes a file. It is on its way when this returns; dropped before its turn, it is never done.
    pub fn hash(&self, command: Command, path: PathBuf) -> impl Future<Output = io::Result<Hashed>> + use<> {
        let operation = self.pool.submit(self.port, Operation::enter(self.port, command, path));
        async { operation.await.map_err(io::Error::other)? }
    }
}

/// One operation, from its entry to its return.
struct Operation {
    id: OperationId,
    user_tag: Option<Tag>,
    command: Command,
    path: PathBuf,
}

impl Operation {
    fn enter(port: Port, command: Command, path: PathBuf) -> Operation {
        let (id, user_tag, name) = (process::next_operation(), dyntrace::get_tag_data(), path.as_os_str().as_bytes());
        digest_drv::entry(|| (id.thread, id.tag, user_tag.as_ref(), command.number, name, port));
        Operation { id, user_tag, command, path }
    }
}

impl Work for Operation {
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
