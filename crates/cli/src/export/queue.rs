//! Batches of spans that wait for the collector. A thread sends them, so that the recording is read on while the collector is away.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use dyntrace_analysis::losses::warn;
use dyntrace_formats::otlp::{Batch, Endpoint, Receiver, Verdict};
use hyper::body::Bytes;

/// The most bytes that wait. Further batches are dropped.
const LIMIT: usize = 16 << 20;
/// The pause before a batch is sent again; each later one is twice as long.
const PAUSE: Duration = Duration::from_millis(100);
/// The longest such pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The time between two looks for an interrupt at the end.
const LOOK: Duration = Duration::from_millis(50);

/// The end at which batches are put in.
pub struct Queue(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The first is being sent.
    batches: VecDeque<Batch>,
    bytes: usize,
    sent: Sent,
    is_closed: bool,
}

/// How many spans the collector has got.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    pub sent: u64,
    /// Spans that it does not take, and the reason of the last.
    pub refused: u64,
    pub reason: String,
    /// Spans for which there was no room.
    pub dropped: u64,
    /// Spans that it has not taken when the command ended.
    pub left: u64,
}

impl Queue {
    /// Sends batches to the endpoint, in a thread of its own.
    pub fn start(endpoint: Endpoint) -> Queue {
        let shared = Arc::new(Shared { state: Mutex::new(State::default()), changed: Condvar::new() });
        let queue = Queue(Arc::clone(&shared));
        thread::spawn(move || shared.send_all(&endpoint));
        queue
    }

    /// Waits until all batches are sent, for `patience` at most, and unless `is_interrupted`.
    pub fn close(self, patience: Duration, mut is_interrupted: impl FnMut() -> bool) -> Sent {
        let end = Instant::now() + patience;
        let mut state = self.0.lock();
        while !state.batches.is_empty() && !is_interrupted() {
            let Some(left) = end.checked_duration_since(Instant::now()) else { break };
            state = self.0.wait(state, left.min(LOOK));
        }
        state.is_closed = true;
        let left = state.batches.iter().map(|batch| batch.spans).sum();
        Sent { left, ..state.sent.clone() }
    }
}

impl Receiver for Queue {
    fn take(&mut self, batch: Batch) -> io::Result<()> {
        let mut state = self.0.lock();
        if state.bytes + batch.line.len() > LIMIT {
            state.sent.dropped += batch.spans;
            return Ok(());
        }
        state.bytes += batch.line.len();
        state.batches.push_back(batch);
        self.0.changed.notify_all();
        Ok(())
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'s>(&self, state: MutexGuard<'s, State>, longest: Duration) -> MutexGuard<'s, State> {
        self.changed.wait_timeout(state, longest).unwrap_or_else(PoisonError::into_inner).0
    }

    fn send_all(&self, endpoint: &Endpoint) -> ! {
        loop {
            let mut state = self.lock();
            while state.batches.is_empty() {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            let line = Bytes::copy_from_slice(&state.batches[0].line);
            drop(state);
            self.send(endpoint, &line);
        }
    }

    /// Sends the first batch, again until the collector answers that it takes or refuses it.
    fn send(&self, endpoint: &Endpoint, line: &Bytes) {
        let (mut pause, mut is_away) = (PAUSE, false);
        loop {
            let (trouble, wanted) = match endpoint.try_send(line.clone()) {
                Ok(Verdict::Taken { rejected, reason }) => {
                    if is_away {
                        self.tell("the collector takes spans again");
                    }
                    return self.settle(rejected, reason);
                }
                Ok(Verdict::Refused { answer }) => return self.settle(u64::MAX, answer),
                Ok(Verdict::Busy { answer, retry_after }) => (answer, retry_after),
                Err(error) => (error.to_string(), None),
            };
            if !is_away {
                self.tell(&format!("the collector takes no spans now, they wait: {trouble}"));
                is_away = true;
            }
            thread::sleep(wanted.unwrap_or(pause));
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
    }

    /// Says a line, unless the summary, which is the last one, is about to come.
    fn tell(&self, line: &str) {
        let state = self.lock();
        if !state.is_closed {
            warn(line);
        }
    }

    /// The first batch is done, but for that many of its spans.
    fn settle(&self, refused: u64, reason: String) {
        let mut state = self.lock();
        let Some(Batch { line, spans }) = state.batches.pop_front() else { return };
        let refused = refused.min(spans);
        state.bytes -= line.len();
        state.sent.sent += spans - refused;
        state.sent.refused += refused;
        if refused > 0 {
            state.sent.reason = reason;
        }
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::path::Path;

    use super::*;

    #[test]
    fn batches_beyond_the_limit_are_dropped_and_counted() {
        // A collector that never answers.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let mut queue = Queue::start(Endpoint::of(Path::new(&address)).unwrap().unwrap());
        const COUNT: usize = 50;
        for _ in 0..COUNT {
            queue.take(Batch { line: vec![b' '; LIMIT / 16], spans: 3 }).unwrap();
        }
        let state = queue.0.lock();
        assert_eq!((state.batches.len(), state.bytes), (16, LIMIT));
        drop(state);
        let sent = queue.close(Duration::ZERO, || false);
        assert_eq!((sent.sent, sent.refused), (0, 0));
        assert_eq!((sent.left, sent.dropped), (3 * 16, 3 * (COUNT as u64 - 16)));
    }
}
