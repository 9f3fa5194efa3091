//! Sessions of trace settings, the handles of users.

pub(crate) mod info;
mod metas;
mod owner;
mod patterns;
#[cfg(all(not(any(loom, miri)), test))]
mod tests;
mod tracer;

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use dyntrace_probes::thread_progress::{self, Completed};
use info::{Count, Info, PatternInfo, counted};
use metas::Metas;
use owner::SessionOwner;
use patterns::{put, restrict};

use crate::breakpoint::error::Error;
use crate::breakpoint::event::Event;
use crate::breakpoint::measure::counters::{Counter, Counts};
use crate::breakpoint::pattern_id::PatternId;
use crate::breakpoint::state::held_up::HeldUp;
use crate::breakpoint::state::limits::Limits;
use crate::breakpoint::state::session_core::{Destination, SessionCore};
use crate::breakpoint::state::set_pattern::SetPattern;
use dyntrace_processes::process::Processes;

/// A set of patterns and processes with one tracer, independent of all other sessions.
///
/// Setting and removing patterns stops no thread. Dropping the session removes its breakpoints in the background.
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
/// let dear = session.set("**::price(_, qty) if qty > 100 do return").await?;
/// assert_eq!(dear.functions, 1);
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
    owner: SessionOwner,
    metas: Metas,
}

impl Session {
    /// Starts a session without patterns. `tracer` gets the events in order, on a thread of its own. Functions that it calls run
    /// untraced, but are counted. If it panics, the session ends.
    ///
    /// # Errors
    ///
    /// The system has no thread or no memory for the session.
    pub fn start(limits: Limits, tracer: impl FnMut(&Event) + Send + 'static) -> io::Result<Session> {
        Session::with(limits, Destination::Tracer, tracer)
    }

    /// Starts a session without patterns, whose events fire the probes
    /// [`function-entry`](crate::probes::function::entry()) and [`function-return`](crate::probes::function::return()), for
    /// the [recorder](crate::recorder), bpftrace and other tracers. They fire on the thread that runs the function, like all probes:
    /// no event is queued or dropped here. While no tracer has the probes enabled, arguments are not rendered and events do not count
    /// towards the limits.
    ///
    /// # Errors
    ///
    /// The system has no memory for the session, or no thread to end it when its limits are reached.
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
    /// session.set("**::postage(_, grams) if grams > 100 do return").await?;
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
        Ok(Session { owner: SessionOwner::start(limits, to, tracer)?, metas: Metas::default() })
    }

    fn core(&self) -> &Arc<SessionCore> {
        &self.owner.core
    }

    /// Returns the session with this pattern: an inner one for a meta pattern.
    fn core_of(&self, id: PatternId) -> Arc<SessionCore> {
        self.metas.find(id).unwrap_or_else(|| Arc::clone(self.core()))
    }

    /// Traces the functions that `pattern` names. The pattern takes effect everywhere at one instant, before this returns. A call that
    /// several patterns of a session match makes one event for each.
    ///
    /// Only the caller waits: for its turn among all tasks that change trace settings, and for threads in the middle of a hit. If the
    /// future is dropped before it completes, the pattern is set nowhere: if it was in force already, it is removed in the background.
    ///
    /// # Errors
    ///
    /// The pattern cannot be parsed or names no function, the session is over, or a limit of [`Error`] is reached. Then it is set nowhere.
    pub async fn set(&self, pattern: &str) -> Result<PatternInfo, Error> {
        self.owner.set(SetPattern::new(pattern.parse()?, false)).await
    }

    /// Like [`set`](Session::set), and also for functions of libraries that are loaded later: there the pattern is in force before the
    /// first call. It may name no function yet.
    ///
    /// A library's functions are found if it and the program share one dyntrace, linked as a `dylib`. They go when the library is
    /// unloaded; their counts stay.
    ///
    /// # Errors
    ///
    /// Those of [`set`](Session::set), except that the pattern may name no function. A library's function is skipped if it has the most
    /// patterns possible or if no counter is free.
    pub async fn set_default(&self, pattern: &str) -> Result<PatternInfo, Error> {
        self.owner.set(SetPattern::new(pattern.parse()?, true)).await
    }

    /// Sets a meta pattern: `tracer` gets its events, on a thread of its own, and not the session's tracer. It matches the calls of all
    /// processes: [`include`](Session::include), [`exclude`](Session::exclude) and the actions `set` and `clear` of the session's other
    /// patterns do not apply to it. The session's limits apply to it separately.
    ///
    /// [`update`](Session::update), [`remove`](Session::remove) and [`counts`](Session::counts) include meta patterns.
    ///
    /// # Errors
    ///
    /// Those of [`set`](Session::set), and [`Error::Tracer`].
    ///
    /// ```
    /// use std::sync::mpsc;
    ///
    /// use dyntrace::process::{self, Processes};
    /// use dyntrace::trace::{Limits, Session};
    ///
    /// #[dyntrace::traced]
    /// fn refund(order: u32) {}
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (send, audit) = mpsc::channel();
    /// let session = Session::start(Limits::default(), |_| ())?;
    /// session.exclude(Processes::all()).await;
    /// let meta = session.set_meta("**::refund", move |event| drop(send.send(event.clone()))).await?;
    /// refund(7);
    /// session.remove(meta.id).await?;
    /// assert_eq!(&*audit.recv()?.text, "7");
    /// # Ok(())
    /// # }
    /// ```
    pub async fn set_meta(
        &self,
        pattern: &str,
        tracer: impl FnMut(&Event) + Send + 'static,
    ) -> Result<PatternInfo, Error> {
        if self.core().state.is_over() {
            return Err(Error::Over);
        }
        let limits = self.core().state.limits.clone();
        let inner = SessionOwner::start(limits, Destination::Tracer, tracer).map_err(Error::Tracer)?;
        let info = inner.set(SetPattern::new(pattern.parse()?, false)).await?;
        self.metas.add(inner);
        Ok(PatternInfo { is_meta: true, ..info })
    }

    /// Replaces a pattern: the new one takes effect at the instant at which the old one ends. It keeps the number, and applies to
    /// libraries that are loaded later if the old one did. The counts of both patterns' functions go on; those of other functions stay.
    /// A call that began under the old pattern ends under the old pattern.
    ///
    /// If the future is dropped before it completes, the change is made in the background.
    ///
    /// # Errors
    ///
    /// Those of [`set`](Session::set), and [`Error::NoPattern`] if the session has no pattern with this number. If the new pattern cannot
    /// be parsed or names no function, the old one stays in force. After [`Error::TooManyPatterns`] the new one is in force at the
    /// functions that have room for it.
    ///
    /// ```
    /// use dyntrace::trace::{Limits, Session};
    ///
    /// #[dyntrace::traced]
    /// fn weigh(grams: u32) {}
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let session = Session::start(Limits::default(), |_| ())?;
    /// let heavy = session.set("**::weigh(grams) if grams > 100 do silent, count").await?;
    /// weigh(150);
    /// session.update(heavy.id, "**::weigh(grams) if grams > 200 do silent, count").await?;
    /// weigh(150);
    /// weigh(250);
    /// let counts = session.remove(heavy.id).await?;
    /// weigh(250);
    /// assert_eq!(counts[0].calls, 2);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn update(&self, id: PatternId, pattern: &str) -> Result<PatternInfo, Error> {
        let session = self.core_of(id);
        let is_meta = !Arc::ptr_eq(&session, self.core());
        let set = Arc::new(session.find(id)?.with(pattern.parse()?));
        let new = Arc::clone(&set);
        let putting = Completed::new(async move { put(&session, &new, false).await });
        putting.await.ok_or(Error::InView)??;
        Ok(PatternInfo { is_meta, ..PatternInfo::of(&set) })
    }

    /// Removes a pattern. Returns its counts: every call until then, and none twice. Functions that no other pattern names run as if they
    /// had never been traced. Calls that have begun still make the events of their ends. Flags that the pattern's actions have set stay.
    ///
    /// If the future is dropped before it completes, the pattern is removed in the background.
    ///
    /// # Errors
    ///
    /// [`Error::NoPattern`] if the session has no pattern with this number; [`Error::InView`].
    pub async fn remove(&self, id: PatternId) -> Result<Vec<Count>, Error> {
        if thread_progress::is_pinned() {
            return Err(Error::InView);
        }
        let session = self.core_of(id);
        let set = session.remove(id)?;
        let (meta, removed) = (self.metas.take(&session), Arc::clone(&set));
        let removing = Completed::new(async move {
            patterns::remove(&session, &removed).await;
            if let Some(meta) = meta {
                meta.end().await;
            }
        });
        removing.await.ok_or(Error::InView)?;
        Ok(counted(&set, Counter::read))
    }

    /// Adds these processes to those whose calls the session matches. The first call restricts the session to them. Processes that a
    /// pattern flags by its action `set(call)` are matched as well, and patterns with that action match the calls of all processes. The
    /// children of these processes are not included, unless a pattern flags the parents by its action `set(set_on_spawn)`.
    ///
    /// Returns when the change is in force. Inside a [`View::with`](crate::code::View::with) it returns at once, and the change is made
    /// afterwards. If the future is dropped before it completes, the change is made in the background.
    ///
    /// ```
    /// use dyntrace::process::{self, Processes};
    /// use dyntrace::trace::{Limits, Session};
    ///
    /// #[dyntrace::traced]
    /// fn deliver(parcel: u32) {}
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let session = Session::start(Limits::default(), |_| ())?;
    /// let count = session.set("**::deliver do silent, count").await?;
    /// session.include(Processes::to_come()).await;
    /// dyntrace::spawn(async { deliver(1) }).await?;
    /// session.exclude(Processes::to_come()).await;
    /// dyntrace::spawn(async { deliver(2) }).await?;
    /// assert_eq!(session.remove(count.id).await?[0].calls, 1);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn include(&self, processes: impl Into<Processes>) {
        let more = processes.into();
        self.choose(|named| named.map_or_else(|| more.clone(), |named| named.with(&more))).await;
    }

    /// Stops matching the calls of these processes. If [`include`](Session::include) was never called, the session goes on to match those
    /// of all others. Returns as `include` does.
    pub async fn exclude(&self, processes: impl Into<Processes>) {
        let fewer = processes.into();
        self.choose(|named| named.unwrap_or(&Processes::all()).without(&fewer)).await;
    }

    async fn choose(&self, choose: impl FnOnce(Option<&Processes>) -> Processes) {
        {
            let mut filter = self.core().filter();
            filter.named = Some(Arc::new(choose(filter.named.as_deref())));
        }
        let session = Arc::clone(self.core());
        let change = async move { restrict(&session).await };
        if thread_progress::is_pinned() {
            let _ = thread_progress::complete(change);
        } else {
            Completed::new(change).await;
        }
    }

    /// Returns the session's patterns, and how many events it has delivered and dropped.
    pub fn info(&self) -> Info {
        let state = &self.core().state;
        Info {
            patterns: self.patterns(),
            processes: self.core().filter().named.as_deref().cloned().unwrap_or_else(Processes::all),
            delivered: self.core().delivered(),
            dropped: state.dropped.load(Ordering::Relaxed),
            limited: state.limited.load(Ordering::Relaxed),
            unended: state.unended.load(Ordering::Relaxed),
            is_over: state.is_over(),
            held_up: self.held_up(),
        }
    }

    fn patterns(&self) -> Vec<PatternInfo> {
        let mut patterns: Vec<_> = self.core().sets().iter().map(|set| PatternInfo::of(set)).collect();
        for meta in self.metas.all() {
            let of_meta = |set: &Arc<SetPattern>| PatternInfo { is_meta: true, ..PatternInfo::of(set) };
            patterns.extend(meta.sets().iter().map(of_meta));
        }
        patterns.sort_by_key(|pattern| pattern.id);
        patterns
    }

    fn held_up(&self) -> Option<HeldUp> {
        let now = thread_progress::late(thread_progress::NOTABLE);
        let now = now.iter().map(HeldUp::until_now);
        now.chain(self.core().held_up().clone()).max_by_key(|held_up| held_up.time)
    }

    /// Returns the counts of its patterns so far, by function. They include every call that happens before this one, for example by a
    /// join. No thread is stopped for it.
    pub fn counts(&self) -> Vec<Count> {
        self.counted(|_| true, Counter::read)
    }

    /// Returns the counts of its patterns and resets them to zero. Each call is in exactly one result. The counts of other sessions at the
    /// same functions stay. The time of a call that is running now is in a later result.
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
    /// session.set("**::bake do silent, count").await?;
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

    /// [Resets](Session::reset) the counts of one pattern. The result is empty if the session has no pattern with this number, or if that
    /// does not count.
    pub fn reset_pattern(&self, id: PatternId) -> Vec<Count> {
        self.counted(|set| set.id == id, Counter::take)
    }

    fn counted(&self, is_asked_for: impl Fn(&SetPattern) -> bool, read: impl Fn(&Counter) -> Counts) -> Vec<Count> {
        let mut counts = Vec::new();
        for session in [Arc::clone(self.core())].into_iter().chain(self.metas.all()) {
            let sets = session.sets();
            counts.extend(sets.iter().filter(|set| is_asked_for(set)).flat_map(|set| counted(set, &read)));
        }
        counts
    }

    /// Ends the session: removes its breakpoints, and waits until its tracer has got all events. Inside a
    /// [`View::with`](crate::code::View::with) the breakpoints are removed afterwards, in the background.
    pub async fn close(self) -> Info {
        for meta in self.metas.all() {
            if let Some(meta) = self.metas.take(&meta) {
                meta.end().await;
            }
        }
        self.owner.end().await;
        self.info()
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Session").field(&self.info()).finish()
    }
}
