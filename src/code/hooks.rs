//! Running what a module has for the moments of its life: each on a thread of its own, since nobody knows whether it returns.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;

use super::descriptor::State;
use super::error::Error;
use super::load_error::LoadError;
use super::policy::allowed;
use super::version::Version;

static GIVEN_UP: AtomicUsize = AtomicUsize::new(0);

/// How many hooks and constructors of modules did not return in time, since the program began. Their threads and libraries stay.
pub fn given_up() -> usize {
    GIVEN_UP.load(Ordering::Relaxed)
}

/// Runs it on a thread of its own, and waits with this one. What it answers too late is dropped there.
pub(super) fn in_time<R: Send + 'static>(
    name: &'static str,
    of: String,
    limit: Duration,
    run: impl FnOnce() -> R + Send + 'static,
) -> Result<R, LoadError> {
    let (sender, receiver) = mpsc::sync_channel(1);
    spawn(name, move || drop(sender.send(run())))?;
    receiver.recv_timeout(limit).map_err(|error| match error {
        RecvTimeoutError::Timeout => {
            GIVEN_UP.fetch_add(1, Ordering::Relaxed);
            LoadError::TooSlow { hook: name, of, limit }
        }
        RecvTimeoutError::Disconnected => no_answer(name),
    })
}

/// Runs blocking work on a thread of its own, and waits as a task. Dropped, it lets the work go on: what it answers is dropped then.
pub(super) async fn aside<R: Send + 'static>(
    name: &'static str,
    run: impl FnOnce() -> Result<R, Error> + Send + 'static,
) -> Result<R, Error> {
    let (sender, receiver) = oneshot::channel();
    spawn(name, move || drop(sender.send(run())))?;
    receiver.await.unwrap_or_else(|_| Err(no_answer(name).into()))
}

fn spawn(name: &'static str, run: impl FnOnce() + Send + 'static) -> Result<(), LoadError> {
    let spawned = thread::Builder::new().name(name.into()).spawn(run);
    spawned.map(drop).map_err(LoadError::system(|| format!("start a thread for {name}")))
}

fn no_answer(name: &str) -> LoadError {
    let source = io::Error::other("it has ended without an answer");
    LoadError::System { doing: format!("hear of the thread {name}"), source }
}

/// Runs a hook that `module!` keeps from panicking. Its version is in use until it returns.
pub(super) fn run_hook<R: Send + 'static>(
    name: &'static str,
    version: &Version,
    limit: Duration,
    hook: impl FnOnce() -> Result<R, String> + Send + 'static,
) -> Result<R, LoadError> {
    let of = version.image.to_string();
    let hold = version.hold();
    let run = move || {
        let answer = hook();
        drop(hold);
        answer
    };
    in_time(name, of.clone(), limit, run)?.map_err(|why| LoadError::Hook { hook: name, of, why })
}

/// Step 2 of a finish: has the new version take over what the old one hands to it.
///
/// # Errors
///
/// One of their hooks fails, panics or does not return in time.
pub(super) async fn hand_over(old: Arc<Version>, new: Arc<Version>) -> Result<(), Error> {
    let Some(on_upgrade) = new.descriptor.on_upgrade else { return Ok(()) };
    let limit = allowed()?.patience;
    let work = move || {
        let state = match old.descriptor.state {
            Some(state) => run_hook("state", &old, limit, state)?,
            None => State::default(),
        };
        Ok(run_hook("on_upgrade", &new, limit, move || on_upgrade(state))?)
    };
    aside("code-upgrade", work).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_returns_is_heard() {
        assert_eq!(in_time("on_load", "pricing 2.1.0".into(), Duration::from_secs(60), || 7).unwrap(), 7);
    }

    #[test]
    fn one_that_does_not_is_given_up() {
        let (release, held) = mpsc::channel::<()>();
        let before = given_up();
        let wait = move || held.recv().is_ok();
        let error =
            in_time("on_load", "pricing 2.1.0".into(), Duration::from_millis(20), wait).unwrap_err().to_string();
        assert!(error.contains("on_load of pricing 2.1.0") && error.contains("20ms"), "{error}");
        assert_eq!(given_up(), before + 1);
        drop(release);
    }
}
