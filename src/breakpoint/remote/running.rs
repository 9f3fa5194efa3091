//! The running traces, by the names of their sessions. The thread of each, which owns the session, carries out orders for it.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dyntrace_probes::forks::{self, hold_across_forks};

use super::order::{Action, Order};
use crate::recorder::control::protocol::Record;

/// The time for an order: the trace may wait for a client that does not read, or for a thread in the middle of a hit.
const PATIENCE: Duration = Duration::from_secs(30);

/// The records of an answer, or the reason of a refusal.
pub(super) type Answer = Result<Vec<Record>, String>;

/// An order for a trace, dropped without an answer if the trace ends.
pub(super) struct Asked {
    pub(super) action: Action,
    pub(super) answer: SyncSender<Answer>,
}

/// Registers a running trace until it is dropped.
pub(super) struct Running(Arc<RunningTrace>);

struct RunningTrace {
    name: String,
    /// The number of forks before: a child has no thread for its parent's traces.
    forks: u64,
    orders: Sender<Asked>,
}

static RUNNING: Mutex<Vec<Arc<RunningTrace>>> = Mutex::new(Vec::new());

/// Locks the traces of this process. No code panics under this lock.
fn running() -> MutexGuard<'static, Vec<Arc<RunningTrace>>> {
    hold_across_forks!(Vec<Arc<RunningTrace>>, lock());
    let mut running = lock();
    running.retain(|entry| entry.forks == forks::so_far());
    running
}

fn lock() -> MutexGuard<'static, Vec<Arc<RunningTrace>>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Registers a trace under this name, or under the lowest free number.
pub(super) fn enter(name: Option<&str>) -> Result<(Running, Receiver<Asked>), String> {
    let (orders, received) = channel();
    let mut running = running();
    let is_taken = |name: &str| running.iter().any(|entry| entry.name == name);
    let name = match name {
        Some(name) if is_taken(name) => {
            return Err(format!("a session {name:?} is already running: choose another name"));
        }
        Some(name) => name.to_owned(),
        None => (1..).map(|number: u32| number.to_string()).find(|name| !is_taken(name)).expect("numbers do not end"),
    };
    let entry = Arc::new(RunningTrace { name, forks: forks::so_far(), orders });
    running.push(Arc::clone(&entry));
    Ok((Running(entry), received))
}

impl Running {
    pub(super) fn name(&self) -> &str {
        &self.0.name
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        running().retain(|entry| !Arc::ptr_eq(entry, &self.0));
    }
}

/// Passes the order to its traces, and waits for the answers.
pub(super) fn carry_out(order: Order) -> Answer {
    let mut entries = running().clone();
    entries.retain(|entry| order.session.as_ref().is_none_or(|name| entry.name == *name));
    if let (Some(name), []) = (&order.session, &entries[..]) {
        return Err(format!("no session {name:?} traces it: `list` shows those that do"));
    }
    if order.action == Action::List {
        let answers = entries.iter().map(|entry| ask(entry, Action::List));
        return answers.collect::<Result<Vec<_>, _>>().map(|answers| answers.concat());
    }
    match &entries[..] {
        [] => Err("nobody traces it: there is no session whose patterns could be changed".to_owned()),
        [entry] => ask(entry, order.action),
        several => {
            let names: Vec<_> = several.iter().map(|entry| entry.name.as_str()).collect();
            Err(format!("the sessions {} trace it: name one by --session", names.join(", ")))
        }
    }
}

fn ask(entry: &RunningTrace, action: Action) -> Answer {
    let ended = || Err(format!("the session {:?} has ended meanwhile", entry.name));
    let (answer, answered) = sync_channel(1);
    if entry.orders.send(Asked { action, answer }).is_err() {
        return ended();
    }
    match answered.recv_timeout(PATIENCE) {
        Ok(answer) => answer,
        Err(RecvTimeoutError::Disconnected) => ended(),
        Err(RecvTimeoutError::Timeout) => {
            let (name, time) = (&entry.name, PATIENCE.as_secs());
            Err(format!("the session {name:?} has not come to it within {time} s: it does it when it can"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_find_the_session_that_they_are_for() {
        let order = |session: Option<&str>, action| Order { session: session.map(str::to_owned), action };
        let remove = || Action::Remove(Vec::new());
        let (one, orders) = enter(Some("orders find it")).unwrap();
        assert!(enter(Some("orders find it")).err().unwrap().contains("is already running: choose another name"));
        let server = std::thread::spawn(move || {
            let Asked { action, answer } = orders.recv().unwrap();
            assert_eq!(action, remove());
            answer.send(Ok(vec![Record::default().with("id", 7)])).unwrap();
            // The next one is dropped.
            drop(orders.recv().unwrap());
        });
        assert_eq!(carry_out(order(Some("orders find it"), remove())).unwrap()[0].number("id"), Some(7));
        let error = carry_out(order(Some("orders find it"), remove())).unwrap_err();
        assert!(error.contains("has ended meanwhile"), "{error}");
        server.join().unwrap();
        let (other, _orders) = enter(None).unwrap();
        let error = carry_out(order(None, remove())).unwrap_err();
        assert!(error.contains("name one by --session") && error.contains(other.name()), "{error}");
        drop(one);
        let error = carry_out(order(Some("orders find it"), remove())).unwrap_err();
        assert!(error.contains("no session \"orders find it\" traces it"), "{error}");
    }
}
