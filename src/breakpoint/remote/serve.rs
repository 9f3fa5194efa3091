//! One trace for one client, from the request to the last message.

use std::mem;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use dyntrace_probes::thread_progress::os::without_signals;
use tokio::runtime::{Builder, Runtime};

use crate::breakpoint::error::Error;
use crate::breakpoint::pattern_id::PatternId;
use crate::breakpoint::session::Session;
use crate::breakpoint::session::info::{Count, PatternInfo};
use crate::recorder::control::clients::{ClientLimit, parts};
use crate::recorder::control::protocol::Record;

use super::messages::{self, Lost};
use super::order::{Action, Order};
use super::outlet::Outlet;
use super::request::TraceRequest;
use super::running::{self, Answer, Asked, Running};

/// The most traces at once, and the most orders. More are refused.
const MOST: usize = 16;
/// How often a trace checks for the end of its session and for orders.
const LOOK: Duration = Duration::from_millis(50);
/// The default interval of counts and losses, and the shortest one.
const PERIOD: Duration = Duration::from_secs(1);
const SHORTEST: Duration = Duration::from_millis(1);
/// The time for a client to read the last messages.
const PATIENCE: Duration = Duration::from_secs(5);

static TRACES: ClientLimit = ClientLimit::new(MOST);
static ORDERS: ClientLimit = ClientLimit::new(MOST);

pub(super) fn serve(stream: UnixStream, asked: Record) {
    let order = Order::read(&asked);
    let Ok(outlet) = Outlet::new(stream).map(Arc::new) else { return };
    let refuse = |why: String| {
        outlet.wait_at_most(Duration::ZERO);
        outlet.turn().send(Err(why));
    };
    let place = match order {
        None => TRACES.acquire().ok_or_else(|| format!("{MOST} traces are running already: end one of them")),
        Some(_) => {
            ORDERS.acquire().ok_or_else(|| format!("{MOST} orders are being carried out already: wait for one of them"))
        }
    };
    let place = match place {
        Ok(place) => place,
        Err(why) => return refuse(why),
    };
    let thread = thread::Builder::new().name("dyntrace-trace".into());
    let own = Arc::clone(&outlet);
    let started = without_signals(|| {
        thread.spawn(move || {
            let _place = place;
            match order {
                None => trace(&own, &asked),
                Some(order) => answer(&own, order.and_then(running::carry_out)),
            }
        })
    });
    if let Err(error) = started {
        refuse(format!("cannot start a thread for the trace: {error}"));
    }
}

fn answer(outlet: &Outlet, answer: Answer) {
    outlet.wait_at_most(PATIENCE);
    let mut turn = outlet.turn();
    match answer {
        Ok(records) => _ = parts(records).into_iter().all(|part| turn.send(Ok(part))),
        Err(why) => _ = turn.send(Err(why)),
    }
}

fn trace(outlet: &Arc<Outlet>, request: &Record) {
    // Held, so that no event is sent before the answer.
    let mut turn = outlet.turn();
    let begun = TraceRequest::read(request).and_then(|request| Trace::begin(outlet, &request));
    let (trace, answer) = match begun {
        Ok((trace, answer)) => (Some(trace), Ok(answer)),
        Err(why) => (None, Err(why)),
    };
    turn.send(answer);
    drop(turn);
    if let Some(mut trace) = trace {
        trace.go_on(outlet);
        trace.end(outlet);
    }
}

struct Trace {
    session: Session,
    runtime: Runtime,
    /// When it ends, even if its tracer waits.
    end: Option<Instant>,
    /// The interval of counts that reset, if they do.
    interval: Option<Duration>,
    /// The counts of removed patterns: with an interval those not sent yet, else all, which every message repeats.
    removed: Vec<Count>,
    running: Running,
    orders: Receiver<Asked>,
}

impl Trace {
    /// Starts the session and sets all patterns, or none. Returns the trace and the records of the patterns.
    fn begin(outlet: &Arc<Outlet>, request: &TraceRequest) -> Result<(Trace, Vec<Record>), String> {
        let (running, orders) = running::enter(request.session.as_deref())?;
        let end = request.limits.time.and_then(|time| Instant::now().checked_add(time));
        let runtime =
            Builder::new_current_thread().build().map_err(|error| format!("cannot begin a trace: {error}"))?;
        let tracer = Arc::clone(outlet);
        let session = Session::start(request.limits.clone(), move |event| tracer.tell(event));
        let session = session.map_err(|error| format!("cannot begin a trace: {error}"))?;
        let set = runtime.block_on(async {
            for which in &request.processes {
                session.include(*which).await;
            }
            set(&session, &request.patterns, request.later).await
        });
        let (set, interval) = (set.map_err(|error| error.to_string())?, request.interval);
        let trace = Trace { session, runtime, end, interval, removed: Vec::new(), running, orders };
        let answer = set.iter().map(|pattern| trace.pattern(pattern)).collect();
        Ok((trace, answer))
    }

    fn pattern(&self, pattern: &PatternInfo) -> Record {
        let functions = Record::default()
            .with("session", self.running.name())
            .with("id", pattern.id)
            .with("functions", pattern.functions);
        messages::with(functions, "old_functions", Some(pattern.old_functions).filter(|old| *old > 0))
            .with("later", u8::from(pattern.is_default))
            .with("pattern", &pattern.pattern)
    }

    fn processes(&self) -> Record {
        let processes = self.session.info().processes;
        Record::default().with("session", self.running.name()).with("processes", processes)
    }

    fn carry_out(&mut self, action: Action) -> Answer {
        let patterns = match action {
            Action::Include(which) => {
                which.into_iter().for_each(|which| self.runtime.block_on(self.session.include(which)));
                return Ok(vec![self.processes()]);
            }
            Action::Exclude(which) => {
                which.into_iter().for_each(|which| self.runtime.block_on(self.session.exclude(which)));
                return Ok(vec![self.processes()]);
            }
            Action::List => Ok(self.session.info().patterns),
            Action::Add { patterns, later } => self.runtime.block_on(set(&self.session, &patterns, later)),
            Action::Update { id, pattern } => {
                self.runtime.block_on(self.session.update(id, &pattern)).map(|new| vec![new])
            }
            Action::Remove(ids) => {
                let mut patterns = self.session.info().patterns;
                let known = |id: &&PatternId| patterns.iter().any(|pattern| pattern.id == **id);
                match ids.iter().find(|id| !known(id)) {
                    // All are removed, or none.
                    Some(id) => Err(Error::NoPattern { id: *id }),
                    None => {
                        patterns.retain(|pattern| ids.contains(&pattern.id));
                        let removed = self.runtime.block_on(remove(&self.session, &patterns));
                        removed.map(|counts| self.removed.extend(counts)).map(|()| patterns)
                    }
                }
            }
        };
        patterns
            .map(|patterns| patterns.iter().map(|pattern| self.pattern(pattern)).collect())
            .map_err(|error| error.to_string())
    }

    /// Runs the trace until it is over or the client closes the connection.
    fn go_on(&mut self, outlet: &Outlet) {
        let period = self.interval.unwrap_or(PERIOD).max(SHORTEST);
        let after = |time: Instant| time.checked_add(period);
        let mut next = after(Instant::now());
        let mut lost = Lost::default();
        let until = |next: Instant| next.saturating_duration_since(Instant::now()).clamp(SHORTEST, LOOK);
        while outlet.stays(next.map_or(LOOK, until)) {
            while let Ok(Asked { action, answer }) = self.orders.try_recv() {
                // The asking thread may have given up.
                let _ = answer.send(self.carry_out(action));
            }
            let now = Instant::now();
            let info = self.session.info();
            if info.is_over || self.end.is_some_and(|end| end <= now) {
                return;
            }
            if next.is_some_and(|next| next <= now)
                && let Some(mut turn) = outlet.turn_now()
            {
                // Skipped periods are not made up for.
                next = next.and_then(after).filter(|next| *next > now).or_else(|| after(now));
                for counts in self.counts() {
                    turn.send(Ok(counts));
                }
                if lost != Lost::of(&info) {
                    lost = Lost::of(&info);
                    turn.send(Ok(vec![lost.record()]));
                }
            }
        }
    }

    /// Makes the messages of the counts, none without counts.
    fn counts(&mut self) -> Vec<Vec<Record>> {
        let (mut counts, removed) = match self.interval {
            Some(_) => (self.session.reset(), mem::take(&mut self.removed)),
            None => (self.session.counts(), self.removed.clone()),
        };
        counts.extend(removed);
        if counts.is_empty() { Vec::new() } else { messages::counts(&counts, SystemTime::now()) }
    }

    fn end(mut self, outlet: &Outlet) {
        outlet.wait_at_most(PATIENCE);
        let counts = self.counts();
        let info = self.runtime.block_on(self.session.close());
        let mut turn = outlet.turn();
        for counts in counts {
            turn.send(Ok(counts));
        }
        turn.send(Ok(vec![messages::end(&info, outlet.unheard())]));
    }
}

/// Sets all patterns, or none.
async fn set(session: &Session, patterns: &[String], later: bool) -> Result<Vec<PatternInfo>, Error> {
    let mut all = Vec::new();
    for pattern in patterns {
        let set = if later { session.set_default(pattern).await } else { session.set(pattern).await };
        match set {
            Ok(pattern) => all.push(pattern),
            Err(error) => {
                let _ = remove(session, &all).await;
                return Err(error);
            }
        }
    }
    Ok(all)
}

async fn remove(session: &Session, patterns: &[PatternInfo]) -> Result<Vec<Count>, Error> {
    let mut counts = Vec::new();
    for pattern in patterns {
        counts.extend(session.remove(pattern.id).await?);
    }
    Ok(counts)
}
