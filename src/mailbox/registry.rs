//! Names of processes.
//!
//! Whether a name may be given is decided under the one lock. A mailbox closes first and gives its names back then, so one that
//! is not closed here has that still to do.

use std::any::{Any, type_name};
use std::collections::BTreeMap;

use super::error::{RegisterError, WhereisError};
use super::sender::Sender;
use crate::sync::{Mutex, global, lock};

struct Named {
    /// Its `Sender`, which keeps the mailbox open.
    sender: Box<dyn Any + Send>,
    takes: &'static str,
    mailbox: Mailbox,
}

/// Which mailbox it is: where its shared part is.
type Mailbox = usize;

struct Names {
    all: BTreeMap<String, Named>,
    of: BTreeMap<Mailbox, Vec<String>>,
}

global! {
    static NAMES: Mutex<Names> = Mutex::new(Names { all: BTreeMap::new(), of: BTreeMap::new() });
}

/// Gives a process a name, by which others find it with [`whereis`]. The name keeps the mailbox open, as a sender does; it is
/// free again when the process ends, however it ends, or by [`unregister`].
///
/// # Errors
///
/// If another process has the name, or the mailbox is closed.
///
/// ```
/// # use dyntrace::mailbox::{self, Mailbox};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (pid, task) = mailbox::spawn(async |mut mailbox: Mailbox<&str>| mailbox.recv().await);
/// mailbox::register("collector", &pid)?;
/// mailbox::whereis("collector")?.send("by name").await?;
/// assert_eq!(task.await?, Some("by name"));
/// assert!(mailbox::whereis::<&str>("collector").is_err());
/// # Ok(())
/// # }
/// ```
pub fn register<T: Send + 'static>(name: impl Into<String>, pid: &Sender<T>) -> Result<(), RegisterError> {
    let name = name.into();
    // In models nobody forks.
    #[cfg(not(loom))]
    crate::forks::hold_across_forks!(Names, lock(&NAMES));
    let mut names = lock(&NAMES);
    if pid.is_closed() {
        return Err(RegisterError::Closed(name));
    }
    if names.all.contains_key(&name) {
        return Err(RegisterError::Taken(name));
    }
    let named = Named { sender: Box::new(pid.clone()), takes: type_name::<T>(), mailbox: pid.mailbox() };
    names.of.entry(named.mailbox).or_default().push(name.clone());
    names.all.insert(name, named);
    Ok(())
}

/// The process with this name.
///
/// # Errors
///
/// If there is none, or it takes messages of another type.
pub fn whereis<T: 'static>(name: &str) -> Result<Sender<T>, WhereisError> {
    let names = lock(&NAMES);
    let named = names.all.get(name).ok_or_else(|| WhereisError::NotRegistered(name.to_owned()))?;
    named.sender.downcast_ref::<Sender<T>>().cloned().ok_or_else(|| WhereisError::OtherMessages {
        name: name.to_owned(),
        takes: named.takes,
        asked: type_name::<T>(),
    })
}

/// Takes a name away, and says whether a process had it.
pub fn unregister(name: &str) -> bool {
    let mut names = lock(&NAMES);
    let named = names.all.remove(name);
    if let Some(Named { mailbox, .. }) = &named
        && let Some(its) = names.of.get_mut(mailbox)
    {
        its.retain(|other| other != name);
        if its.is_empty() {
            names.of.remove(mailbox);
        }
    }
    // A sender that is dropped may drop messages, and those may do what they like.
    drop(names);
    named.is_some()
}

/// A closed mailbox gives its names back.
pub(super) fn free(mailbox: Mailbox) {
    let mut names = lock(&NAMES);
    let its = names.of.remove(&mailbox).unwrap_or_default();
    let freed: Vec<Named> = its.iter().filter_map(|name| names.all.remove(name)).collect();
    // As above.
    drop(names);
    drop(freed);
}
