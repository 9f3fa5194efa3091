//! Names of processes.
//!
//! One lock decides whether a name is free. A mailbox that ends closes first and frees its names then, under the lock. So a mailbox
//! that is open under the lock has not freed its names yet.

use std::any::{Any, type_name};
use std::collections::BTreeMap;

use dyntrace_probes::primitives::{Mutex, MutexGuard, global, lock};

use super::error::{RegisterError, WhereisError};
use super::sender::Sender;

struct Named {
    /// The `Sender`, which keeps the mailbox open.
    sender: Box<dyn Any + Send>,
    takes: &'static str,
    mailbox: Mailbox,
}

/// The identity of a mailbox: the address of its shared part.
type Mailbox = usize;

struct Names {
    all: BTreeMap<String, Named>,
    of: BTreeMap<Mailbox, Vec<String>>,
}

global! {
    static NAMES: Mutex<Names> = Mutex::new(Names { all: BTreeMap::new(), of: BTreeMap::new() });
}

fn names() -> MutexGuard<'static, Names> {
    // Each mailbox that ends takes this lock, so a fork may find it held. Models do not fork.
    #[cfg(not(loom))]
    dyntrace_probes::forks::hold_across_forks!(Names, lock(&NAMES));
    lock(&NAMES)
}

/// Registers a process under a name, for [`whereis`]. The name keeps the mailbox open, as a sender does. It is free again when
/// the process ends, even by a panic, or by [`unregister`].
///
/// # Errors
///
/// Fails if another process has the name, or the mailbox is closed.
///
/// ```
/// # use dyntrace::mailbox::{self, Mailbox};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (address, task) = mailbox::spawn(async |mut mailbox: Mailbox<&str>| mailbox.recv().await);
/// mailbox::register("collector", &address)?;
/// mailbox::whereis("collector")?.send("by name").await?;
/// assert_eq!(task.await?, Some("by name"));
/// assert!(mailbox::whereis::<&str>("collector").is_err());
/// # Ok(())
/// # }
/// ```
pub fn register<T: Send + 'static>(name: impl Into<String>, address: &Sender<T>) -> Result<(), RegisterError> {
    let name = name.into();
    let mut names = names();
    if address.is_closed() {
        return Err(RegisterError::Closed(name));
    }
    if names.all.contains_key(&name) {
        return Err(RegisterError::Taken(name));
    }
    let named = Named { sender: Box::new(address.clone()), takes: type_name::<T>(), mailbox: address.mailbox() };
    names.of.entry(named.mailbox).or_default().push(name.clone());
    names.all.insert(name, named);
    Ok(())
}

/// Returns the address of the process with this name.
///
/// # Errors
///
/// Fails if there is none, or it takes messages of another type.
pub fn whereis<T: 'static>(name: &str) -> Result<Sender<T>, WhereisError> {
    let names = names();
    let named = names.all.get(name).ok_or_else(|| WhereisError::NotRegistered(name.to_owned()))?;
    named.sender.downcast_ref::<Sender<T>>().cloned().ok_or_else(|| WhereisError::OtherMessages {
        name: name.to_owned(),
        takes: named.takes,
        asked: type_name::<T>(),
    })
}

/// Frees a name, and returns whether a process had it.
pub fn unregister(name: &str) -> bool {
    let mut names = names();
    let named = names.all.remove(name);
    if let Some(Named { mailbox, .. }) = &named
        && let Some(its) = names.of.get_mut(mailbox)
    {
        its.retain(|other| other != name);
        if its.is_empty() {
            names.of.remove(mailbox);
        }
    }
    // Dropping a sender may drop messages, whose destructors are foreign code.
    drop(names);
    named.is_some()
}

/// The names of a mailbox, which are free when this is dropped.
pub(super) struct NamesOf(pub Mailbox);

impl Drop for NamesOf {
    fn drop(&mut self) {
        let mut names = names();
        let its = names.of.remove(&self.0).unwrap_or_default();
        let freed: Vec<Named> = its.iter().filter_map(|name| names.all.remove(name)).collect();
        // As above.
        drop(names);
        drop(freed);
    }
}
