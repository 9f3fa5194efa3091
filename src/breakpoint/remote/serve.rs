//! One trace for one client: from the request to the last words.

use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use tokio::runtime::{Builder, Runtime};

use crate::breakpoint::Session;
use crate::recorder::control::clients::Places;
use crate::recorder::control::protocol::Record;
use crate::thread_progress::os::without_signals;

use super::messages;
use super::outlet::Outlet;
use super::wish::Wish;

/// Traces for clients at once. More are refused.
const MOST: usize = 16;
/// How often it is looked whether the session is over.
const LOOK: Duration = Duration::from_millis(50);
/// How often counts and losses are told, if nothing is said of it, and how often at most.
const PERIOD: Duration = Duration::from_secs(1);
const SHORTEST: Duration = Duration::from_millis(1);
/// How long a client may take to hear the last words.
const PATIENCE: Duration = Duration::from_secs(5);

static TRACES: Places = Places::new(MOST);

/// Serves a client on a thread of its own.
pub(super) fn serve(stream: UnixStream, wish: Record) {
    let Ok(outlet) = Outlet::new(stream).map(Arc::new) else { return };
    let refuse = |why: String| {
        outlet.wait_at_most(Duration::ZERO);
        outlet.turn().send(Err(why));
    };
    let Some(place) = TRACES.take() else {
        return refuse(format!("{MOST} traces go on already: end one of them"));
    };
    let thread = thread::Builder::new().name("dyntrace-trace".into());
    let own = Arc::clone(&outlet);
    let started = without_signals(|| {
        thread.spawn(move || {
            let _place = place;
            trace(&own, &wish);
        })
    });
    if let Err(error) = started {
        refuse(format!("cannot start a thread for the trace: {error}"));
    }
}

fn trace(outlet: &Arc<Outlet>, wish: &Record) {
    // Nothing of the trace is told before the answer.
    let mut turn = outlet.turn();
    let begun = Wish::read(wish).and_then(|wish| Trace::begin(outlet, &wish));
    let (trace, answer) = match begun {
        Ok((trace, answer)) => (Some(trace), Ok(answer)),
        Err(why) => (None, Err(why)),
    };
    turn.send(answer);
    drop(turn);
    if let Some(trace) = trace {
        trace.go_on(outlet);
        trace.end(outlet);
    }
}

struct Trace {
    session: Session,
    runtime: Runtime,
    /// It is over then, whatever its tracer waits for.
    end: Option<Instant>,
    /// How often counts begin anew, if they do.
    interval: Option<Duration>,
}

impl Trace {
    /// Sets all patterns, or none. Also the answer: what each names.
    fn begin(outlet: &Arc<Outlet>, wish: &Wish) -> Result<(Trace, Vec<Record>), String> {
        let end = wish.limits.time.and_then(|time| Instant::now().checked_add(time));
        let runtime =
            Builder::new_current_thread().build().map_err(|error| format!("cannot begin a trace: {error}"))?;
        let tracer = Arc::clone(outlet);
        let session = Session::start(wish.limits.clone(), move |event| tracer.tell(event));
        let session = session.map_err(|error| format!("cannot begin a trace: {error}"))?;
        let set = runtime.block_on(async {
            for process in &wish.processes {
                session.process(*process).await;
            }
            for pattern in &wish.patterns {
                match wish.later {
                    true => session.default_pattern(pattern).await?,
                    false => session.pattern(pattern).await?,
                };
            }
            Ok(())
        });
        set.map_err(|error: crate::breakpoint::Error| error.to_string())?;
        let patterns = session.info().patterns;
        let answer = patterns
            .iter()
            .map(|set| Record::default().with("pattern", &set.pattern).with("functions", set.functions))
            .collect();
        Ok((Trace { session, runtime, end, interval: wish.interval }, answer))
    }

    /// Until it is over, or the client wants no more.
    fn go_on(&self, outlet: &Outlet) {
        let period = self.interval.unwrap_or(PERIOD).max(SHORTEST);
        let after = |time: Instant| time.checked_add(period);
        let mut next = after(Instant::now());
        let mut lost = (0, 0);
        let until = |next: Instant| next.saturating_duration_since(Instant::now()).clamp(SHORTEST, LOOK);
        while outlet.stays(next.map_or(LOOK, until)) {
            let now = Instant::now();
            let info = self.session.info();
            if info.is_over || self.end.is_some_and(|end| end <= now) {
                return;
            }
            if next.is_some_and(|next| next <= now)
                && let Some(mut turn) = outlet.turn_now()
            {
                // Where it is late by more than a period, it is not made up for.
                next = next.and_then(after).filter(|next| *next > now).or_else(|| after(now));
                for counts in self.counts() {
                    turn.send(Ok(counts));
                }
                if lost != (info.dropped, info.limited) {
                    lost = (info.dropped, info.limited);
                    turn.send(Ok(vec![messages::lost(info.dropped, info.limited)]));
                }
            }
        }
    }

    /// As messages: none, if nothing is counted.
    fn counts(&self) -> Vec<Vec<Record>> {
        let counts = if self.interval.is_some() { self.session.reset() } else { self.session.counts() };
        if counts.is_empty() { Vec::new() } else { messages::counts(&counts, SystemTime::now()) }
    }

    fn end(self, outlet: &Outlet) {
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
