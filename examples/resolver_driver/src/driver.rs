//! The driver: looks names up on the I/O threads of a pool, and fires the probes of `resolver.d` on the way.

use std::io;
use std::net::{IpAddr, ToSocketAddrs};

use dyntrace::Tag;
use dyntrace::aio_pool::{Fault, Lane, Pool, Port, Work};
use dyntrace::process::{self, OperationId};

mod probes {
    dyntrace::include_provider!("resolver");
}
use probes::resolver_drv;

/// What the driver can be asked for; probes carry the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// All addresses of a name.
    Any = 1,
    /// Its IPv4 addresses.
    Ipv4 = 2,
    /// Its IPv6 addresses.
    Ipv6 = 3,
}

/// A driver is a pool and a port: on whose behalf the pool's threads work.
pub struct Resolver {
    pool: Pool,
    port: Port,
}

impl Resolver {
    pub fn new(pool: Pool) -> Resolver {
        Resolver { pool, port: Port::new() }
    }

    /// The addresses of a name; none if it has addresses of the other kind only. The look-up is on its way when this
    /// returns. If the future is dropped before an I/O thread takes the look-up, it is never done.
    pub fn look_up(&self, command: Command, name: &str) -> impl Future<Output = io::Result<Vec<IpAddr>>> + use<> {
        let operation = self.pool.submit(self.port, LookUp::enter(self.port, command, name.to_owned()));
        async { operation.await.map_err(io::Error::other)? }
    }
}

/// One operation, from its entry to its return.
struct LookUp {
    id: OperationId,
    user_tag: Option<Tag>,
    command: Command,
    name: String,
}

impl LookUp {
    fn enter(port: Port, command: Command, name: String) -> LookUp {
        let (id, user_tag) = (process::next_operation(), dyntrace::get_tag_data());
        resolver_drv::entry(|| (id.thread, id.tag, user_tag.as_ref(), command as i32, &name, port));
        LookUp { id, user_tag, command, name }
    }
}

impl Work for LookUp {
    type Output = io::Result<Vec<IpAddr>>;

    /// It waits for the network: a thread to itself.
    fn lane(&self) -> Lane {
        Lane::Slow
    }

    /// On an I/O thread: the part that blocks.
    fn run(&mut self) -> Self::Output {
        resolver_drv::int_entry(|| (self.id.thread, self.id.tag, self.command as i32));
        let found = (self.name.as_str(), 0).to_socket_addrs()?.map(|address| address.ip());
        Ok(found
            .filter(|address| match self.command {
                Command::Any => true,
                Command::Ipv4 => address.is_ipv4(),
                Command::Ipv6 => address.is_ipv6(),
            })
            .collect())
    }

    /// On the same thread, also after a panic.
    fn ran(&mut self) {
        resolver_drv::int_return(|| (self.id.thread, self.id.tag, self.command as i32));
    }

    /// Once for each operation, whatever became of it.
    fn settle(&mut self, outcome: Result<&Self::Output, &Fault>) {
        let (count, error) = match outcome {
            Ok(Ok(addresses)) => (addresses.len(), None),
            Ok(Err(error)) => (0, Some(error.to_string())),
            Err(fault) => (0, Some(fault.to_string())),
        };
        let (id, user_tag, ok) = (self.id, self.user_tag.as_ref(), error.is_none().into());
        resolver_drv::r#return(|| (id.thread, id.tag, user_tag, self.command as i32, ok, count as i32, error.as_ref()));
    }
}
