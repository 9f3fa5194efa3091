//! Sessions: who wants to know what, of whom.

use std::collections::HashSet;
use std::fmt;
use std::io;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::counters::{Counter, Counts};
use super::data::{BpData, Entry};
use super::edit::{Edit, Edited};
use super::event::Event;
use super::held_up::HeldUp;
use super::index::Index;
use super::libraries;
use super::pattern::Pattern;
use super::set::Set;
use super::shared::{Destination, Limits, Shared};
use super::site::Function;
use super::site_ref::SiteRef;
use super::sites::Sites;
use super::{Error, tracer};
use crate::clock;
use crate::forks;
use crate::host;
use crate::process::Pid;
use crate::thread_progress;

/// Trace settings that belong together: patterns, processes and a tracer, independent of all other sessions.
///
/// Setting and removing stops no thread. A session's breakpoints are removed when it is dropped, in the background.
///
/// ```
/// use std::sync::mpsc;
///
/// use dyntrace::trace::{Limits, Session};
///
/// #[dyntrace::traced]
/// fn price(order: &str, quantity: u32) -> Result<u32, String> {
///     quantity.checked_mul(5).ok_or_else(|| format!("{order}: too many"))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (send, events) = mpsc::channel();
/// let session = Session::start(Limits::default(), move |event| {
///     let _ = send.send(event.clone());
/// })?;
/// let functions = session.pattern("**::price(_, qty) if qty > 100 do return").await?;
/// assert_eq!(functions, 1);
/// price("req-17", 250)?;
/// price("req-18", 7)?;
/// let info = session.close().await;
/// assert_eq!(info.delivered, 2);
/// assert_eq!(&*events.recv()?.text, r#""req-17", 250"#);
/// assert_eq!(&*events.recv()?.text, "Ok(1250)");
/// # Ok(())
/// # }
/// ```
pub struct Session {
    shared: Arc<Shared>,
}

/// What a session has done so far.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Info {
    /// Its patterns, in the order in which they were set.
    pub patterns: Vec<PatternInfo>,
    /// The processes whose calls it looks at: all, if there is no list. Those that patterns have flagged are not among them.
    pub processes: Option<Vec<Pid>>,
    /// Events that its tracer was told, or that fired probes.
    pub delivered: u64,
    /// Events that were lost since too many waited for the tracer.
    pub dropped: u64,
    /// Events that were left out since there were too many in a second.
    pub limited: u64,
    /// Whether it has ended: by its limits, by a panic of its tracer, or since it is closed.
    pub is_over: bool,
    /// Who has held up a setting or the removal of its patterns for longest, or holds up whatever is changed in this process now. `None`
    /// if each wait was over within a millisecond, as it is unless a thread loses its processor in the middle of a hit.
    pub held_up: Option<HeldUp>,
}

/// A pattern of a session.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PatternInfo {
    /// As it was written.
    pub pattern: String,
    /// How many functions it names.
    pub functions: usize,
    /// Whether it is for functions that are loaded later, too: then `functions` are all that it ever named.
    pub is_default: bool,
}

/// What was counted of one function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Count {
    /// The function.
    pub function: &'static Function,
    /// Calls that have begun.
    pub calls: u64,
    /// Time from the call to the end, of those that have ended; zero where no pattern wants it.
    pub time: Duration,
}

impl Session {
    /// Starts a session without patterns. `tracer` is told of events in their order on a thread of its own; functions that
    /// it calls run untraced, though they are counted. If it panics, the session ends.
    ///
    /// # Errors
    ///
    /// There is no thread to be had, or no memory.
    pub fn start(limits: Limits, tracer: impl FnMut(&Event) + Send + 'static) -> io::Result<Session> {
        Session::with(limits, Destination::Tracer, tracer)
    }

    /// Starts a session without patterns, whose events fire the probes
    /// [`function-entry`](crate::probes::function::entry()) and [`function-return`](crate::probes::function::return()), for
    /// the [recorder](crate::recorder), bpftrace and the like. They fire on the thread that runs the function, as all probes
    /// do: nothing is queued, so nothing waits and nothing is dropped here. While nobody looks at the probes, nothing
    /// is rendered, and nothing counts for the limits.
    ///
    /// # Errors
    ///
    /// There is no thread to be had, which ends the session when its limits are reached; or no memory.
    ///
    /// ```
    /// use dyntrace::recorder;
    /// use dyntrace::trace::{Limits, Session};
    ///
    /// #[dyntrace::traced]
    /// fn postage(parcel: &str, grams: u32) -> u32 {
    ///     3 * grams
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let folder = folder.path();
    /// let recording = recorder::Session::start(recorder::Options::new(folder))?;
    /// let session = Session::to_probes(Limits::default())?;
    /// session.pattern("**::postage(_, grams) if grams > 100 do return").await?;
    /// assert_eq!(postage("ball", 250), 750);
    /// assert_eq!(postage("card", 7), 21);
    /// assert_eq!(session.close().await.delivered, 2);
    /// // `dyntrace view` shows the call and the return.
    /// recording.stop();
    /// # Ok(())
    /// # }
    /// ```
    pub fn to_probes(limits: Limits) -> io::Result<Session> {
        Session::with(limits, Destination::Probes, |_| ())
    }

    fn with(limits: Limits, to: Destination, tracer: impl FnMut(&Event) + Send + 'static) -> io::Result<Session> {
        if host::is_guest() {
            return Err(host::refused(
                "a session of traces",
                "start it in the program, whose patterns name the module's functions, too",
            ));
        }
        thread_progress::prepare()?;
        clock::prepare();
        forks::count()?;
        Ok(Session { shared: tracer::start(limits, to, tracer)? })
    }

    /// Traces the functions that `pattern` names, and answers how many there are. It is in force everywhere when this
    /// answers, from one instant on. A call that several patterns of a session take is told once for each.
    ///
    /// Nobody waits meanwhile but the caller: for its turn among all who change trace settings, and for threads that are in
    /// the middle of a hit. If it is dropped before it has answered, the pattern is set nowhere or everywhere.
    ///
    /// # Errors
    ///
    /// The pattern cannot be read, names no function, or the session is over; and where something is exhausted.
    pub async fn pattern(&self, pattern: &str) -> Result<usize, Error> {
        let set = Arc::new(Set::new(pattern.parse()?));
        let mut known = Vec::new();
        loop {
            let index = libraries::index();
            let sites = more(&index, &set, &mut known).await;
            let functions = count(&known);
            if functions == 0 {
                return Err(Error::no_function(&set.pattern));
            }
            self.set(&set, sites).await?;
            // Again, if the version of a module was replaced meanwhile: it was not seen there that this is to be set.
            if Arc::ptr_eq(&index, &libraries::index()) {
                return Ok(functions);
            }
        }
    }

    /// The same, and for functions of libraries that are loaded later: in these it is in force before the first of them can
    /// be called. It may name no function for now.
    ///
    /// A library's functions are found if it and the program share one dyntrace, as a library of its own (crate type
    /// `dylib`). When it is unloaded they are gone; what was counted in them stays.
    ///
    /// # Errors
    ///
    /// As those of [`pattern`](Session::pattern), but that functions have to be named. A library's function that has as many
    /// patterns as it can have, or for which there is no counter, is left out.
    pub async fn default_pattern(&self, pattern: &str) -> Result<usize, Error> {
        let set = Arc::new(Set::new(pattern.parse()?));
        let mut known = Vec::new();
        loop {
            let index = libraries::index();
            let sites = more(&index, &set, &mut known).await;
            self.set(&set, sites).await?;
            if self.shared.state.is_over() {
                return Err(Error::Over);
            }
            // Again, if others have come meanwhile.
            if libraries::add_default(&self.shared, &set, &index) {
                return Ok(count(&known));
            }
        }
    }

    /// Has the pattern in force at these sites.
    async fn set(&self, set: &Arc<Set>, sites: Arc<Sites>) -> Result<(), Error> {
        if thread_progress::is_pinned() {
            return Err(Error::InView);
        }
        let counters = set.name_all(&sites).await?;
        let concerns_others = self.shared.whose().prepare(set.pattern.match_spec().actions())?;
        {
            let mut sets = self.shared.sets();
            if !sets.iter().any(|known| Arc::ptr_eq(known, set)) {
                sets.push(Arc::clone(set));
            }
        }
        let mut parts = vec![(Arc::clone(&sites), adding(&self.shared, &set.pattern, counters))];
        if concerns_others {
            parts.extend(self.shared.everywhere(|| restricting(&self.shared)));
        }
        // First, so that who removes the session finds all that may be set by then.
        self.shared.sites().push(sites);
        match self.shared.change(parts).await? {
            0 => Ok(()),
            _ if self.shared.state.is_over() => Err(Error::Over),
            left => Err(Error::TooManyPatterns { most: BpData::ENTRIES, left }),
        }
    }

    /// From now on only calls of the processes named so are looked at, and of those that a pattern has flagged by its
    /// action `set(call)`; patterns with that action look at the calls of all. Answers when it is in force, as
    /// [`pattern`](Session::pattern) does; inside a [`View::with`](crate::code::View::with) at once, and it is done after that.
    pub async fn process(&self, process: Pid) {
        {
            let mut whose = self.shared.whose();
            let named = whose.named.iter().flat_map(|named| named.iter().copied());
            whose.named = Some(named.chain([process]).collect());
        }
        if self.shared.change(self.shared.everywhere(|| restricting(&self.shared))).await.is_err() {
            let session = Arc::clone(&self.shared);
            let _ = thread_progress::complete(async move {
                let _ = session.change(session.everywhere(|| restricting(&session))).await;
            });
        }
    }

    /// What it has done so far.
    pub fn info(&self) -> Info {
        let state = &self.shared.state;
        let pattern = |set: &Arc<Set>| PatternInfo {
            pattern: set.pattern.to_string(),
            functions: set.functions(),
            is_default: set.is_default(),
        };
        Info {
            patterns: self.shared.sets().iter().map(pattern).collect(),
            processes: self.shared.whose().named.as_ref().map(|named| named.to_vec()),
            delivered: self.shared.delivered(),
            dropped: state.dropped.load(Ordering::Relaxed),
            limited: state.limited.load(Ordering::Relaxed),
            is_over: state.is_over(),
            held_up: self.held_up(),
        }
    }

    fn held_up(&self) -> Option<HeldUp> {
        let now = thread_progress::late(thread_progress::NOTABLE);
        let now = now.iter().map(HeldUp::until_now);
        now.chain(self.shared.held_up().clone()).max_by_key(|held_up| held_up.time)
    }

    /// What its patterns have counted so far, by function: exactly, for calls that whoever asks knows to have begun or
    /// ended. Nobody is stopped for it.
    pub fn counts(&self) -> Vec<Count> {
        self.counted(|_| true, Counter::read)
    }

    /// The same, and has all its patterns count from nothing again: each call is in this answer or in a later one, and in
    /// one only. What other sessions count at the same functions stays. A call that began before and ends after this leaves
    /// its time to a later answer.
    ///
    /// ```
    /// use dyntrace::trace::{Limits, Session};
    ///
    /// #[dyntrace::traced]
    /// fn bake(bread: &str) {}
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let session = Session::start(Limits::default(), |_| ())?;
    /// session.pattern("**::bake do silent, count").await?;
    /// bake("rye");
    /// bake("wheat");
    /// assert_eq!(session.reset()[0].calls, 2);
    /// bake("spelt");
    /// assert_eq!(session.counts()[0].calls, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn reset(&self) -> Vec<Count> {
        self.counted(|_| true, Counter::take)
    }

    /// [`reset`](Session::reset) for one pattern, which is given as it was set. Without such a pattern, or if it does not
    /// count, there is nothing to answer.
    pub fn reset_pattern(&self, pattern: &str) -> Vec<Count> {
        self.counted(|set| set.pattern.to_string() == pattern.trim(), Counter::take)
    }

    fn counted(&self, is_asked_for: impl Fn(&Set) -> bool, read: impl Fn(&Counter) -> Counts) -> Vec<Count> {
        let sets = self.shared.sets();
        let counters = sets.iter().filter(|set| is_asked_for(set)).flat_map(|set| set.counters());
        let counted = counters.map(|(function, counter)| {
            let counts = read(&counter);
            Count { function, calls: counts.calls, time: clock::duration(counts.time) }
        });
        counted.collect()
    }

    /// Ends the session: removes its breakpoints, and answers when its tracer has been told all. Inside a
    /// [`View::with`](crate::code::View::with) the breakpoints are removed after that, in the background.
    pub async fn close(self) -> Info {
        let state = &self.shared.state;
        state.end();
        remove(&self.shared).await;
        // Acquire: with the tracer's thread. It may count before its sender does.
        let is_behind = || state.delivered.load(Ordering::Acquire) < state.sent.load(Ordering::Acquire);
        while is_behind() && !state.is_of_parent() {
            state.all_delivered.notified().await;
        }
        self.info()
    }
}

impl Drop for Session {
    /// Events that wait for the tracer are dropped.
    fn drop(&mut self) {
        self.shared.state.end();
        self.shared.state.drop_events();
        if !self.shared.sites().is_empty() {
            let session = Arc::clone(&self.shared);
            let _ = thread_progress::complete(async move { remove(&session).await });
        }
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Session").field(&self.info()).finish()
    }
}

/// The sites that the pattern selects beside those that are `known`; then they are, too.
async fn more(index: &Index, set: &Set, known: &mut Vec<Arc<Sites>>) -> Arc<Sites> {
    let mut sites = index.selected(&set.pattern).await;
    if !known.is_empty() {
        known.iter_mut().for_each(|known| Arc::make_mut(known).retain(|site| !site.is_gone()));
        let addresses: HashSet<_> = known.iter().flat_map(|known| known.iter()).map(SiteRef::address).collect();
        sites.retain(|site| !addresses.contains(&site.address()));
    }
    let sites = Arc::new(sites);
    known.push(Arc::clone(&sites));
    sites
}

fn count(sites: &[Arc<Sites>]) -> usize {
    sites.iter().map(|sites| sites.len()).sum()
}

/// Adds a pattern of the session, and has its other entries be about whom it is about by now.
fn adding(session: &Arc<Shared>, pattern: &Arc<Pattern>, counters: Option<Vec<Arc<Counter>>>) -> Edit {
    let (session, pattern) = (Arc::clone(session), Arc::clone(pattern));
    let add = move |before: &[Entry], counter| {
        // What is over may still wait for its removal.
        let mut entries: Vec<_> = before.iter().filter(|entry| !entry.session.state.is_over()).cloned().collect();
        restrict(&mut entries, &session);
        // A new version of a module has it from the one before, if that had it by then.
        let is_there = entries.iter().any(|entry| Arc::ptr_eq(&entry.pattern, &pattern));
        let is_left = session.state.is_over() || (entries.len() == BpData::ENTRIES && !is_there);
        if !is_left && !is_there {
            entries.push(Entry::new(Arc::clone(&session), Arc::clone(&pattern), counter));
        }
        Some(Edited { entries, is_left })
    };
    match counters {
        None => Edit::of_all(move |before| add(before, None)),
        Some(counters) => {
            let mut counters = counters.into_iter();
            Edit::of_each(move |before| add(before, counters.next()))
        }
    }
}

/// Has the session's entries be about whom it is about by now.
fn restricting(session: &Arc<Shared>) -> Edit {
    let session = Arc::clone(session);
    Edit::of_all(move |before| {
        let mut entries = before.to_vec();
        restrict(&mut entries, &session);
        Some(entries.into())
    })
}

/// Has the entries of a session be about those that the session is about by now.
fn restrict(entries: &mut [Entry], session: &Arc<Shared>) {
    entries.iter_mut().filter(|entry| Arc::ptr_eq(&entry.session, session)).for_each(Entry::restrict);
}

/// Removes the breakpoints of a session that is over, which therefore gets no new ones.
pub(super) async fn remove(session: &Arc<Shared>) {
    let removing = || {
        let removed = Arc::clone(session);
        Edit::of_all(move |before| {
            let is_other = |entry: &&Entry| !Arc::ptr_eq(&entry.session, &removed);
            let entries: Vec<_> = before.iter().filter(is_other).cloned().collect();
            (entries.len() < before.len()).then(|| entries.into())
        })
    };
    if session.change(session.everywhere(removing)).await.is_err() {
        // The session's drop sees to it, in the background.
        return;
    }
    mem::take(&mut *session.sites());
    // Its thread may have the session for a while yet, and others are waiting for these.
    session.whose().flags = None;
}
