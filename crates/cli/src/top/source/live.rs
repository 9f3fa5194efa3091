//! A running process, which records itself meanwhile.

use std::path::Path;
use std::time::{Duration, Instant};

use dyntrace_analysis::view::time::now;
use dyntrace_reader::{Error, Followed, Follower, OperationFollower};
use dyntrace_terminal::exit::Failure;

use super::{Source, State};
use crate::export::{self, StreamFolder};
use crate::metrics;
use crate::record::session::Session;
use crate::top::model::{Counted, Model};

/// The probes beside those of operations.
const PROBES: [&str; 6] =
    ["process-spawn", "process-exit", "process-*scheduled", "process-wait", "process-resume", "message-*"];
const BLOCKING: &str = "blocking-*";

/// The time between two requests for the pool's counts.
const COUNTS: Duration = Duration::from_secs(1);

pub struct Live {
    pid: u32,
    session: Session,
    follower: OperationFollower,
    model: Model,
    /// When the process was asked for its counts.
    counted: Option<Instant>,
    /// Nothing comes any more.
    is_over: bool,
    /// Dropped last, when nothing reads its files.
    _place: StreamFolder,
}

impl Live {
    /// Starts a recording of the process, into circular files of `size` bytes for each thread.
    pub fn start(pid: u32, folder: Option<&Path>, size: u64) -> Result<Live, Failure> {
        let place = StreamFolder::choose(pid, folder)?;
        let probes = [&export::PROBES[..], &PROBES, &[BLOCKING]].concat();
        let model = Model::starting(now());
        let session = place.record(pid, size, &probes)?;
        let follower = OperationFollower::new(Follower::new([&place.directory]));
        Ok(Live { pid, session, follower, model, counted: None, is_over: false, _place: place })
    }

    fn take(
        &mut self,
        read: impl FnOnce(&mut OperationFollower, &mut dyn FnMut(Followed<'_, '_>)) -> Result<(), Error>,
    ) -> Result<(), Failure> {
        let model = &mut self.model;
        let outcome = read(&mut self.follower, &mut |followed| match followed {
            Followed::Event(event) => model.event(event),
            Followed::Operation(operation) => model.operation(operation),
            _ => {}
        });
        match outcome {
            // The recording has not begun, or the process ended before it did.
            Ok(()) | Err(Error::NoTrace { .. }) => {}
            Err(error) => return Err(anyhow::Error::new(error).into()),
        }
        self.model.losses = self.follower.losses();
        self.model.given_up = self.follower.given_up();
        Ok(())
    }

    /// Asks for the counts of the pool's lanes. A process that does not answer may have ended, which the next look finds out.
    fn count(&mut self) {
        if self.counted.is_some_and(|before| before.elapsed() < COUNTS) {
            return;
        }
        self.counted = Some(Instant::now());
        for lane in metrics::of(&mut self.session.connection).into_iter().flat_map(|figures| figures.lanes) {
            let busy = lane.threads.saturating_sub(lane.idle);
            self.model.count_lane(&lane.lane, Counted { queued: lane.queued, threads: lane.threads, busy });
        }
    }
}

impl Source for Live {
    fn look(&mut self, pause: Duration) -> Result<State, Failure> {
        if self.session.is_interrupted_within(pause) {
            return Ok(State::Interrupted);
        }
        if self.is_over {
            return Ok(State::Ended);
        }
        if self.session.is_open() {
            self.count();
            self.take(|follower, each| follower.poll_all(each).map(|_| ()))?;
            self.model.now = self.model.now.max(now());
            return Ok(State::Runs);
        }
        self.is_over = true;
        self.take(|follower, each| follower.drain_all(each))?;
        Ok(State::Ended)
    }

    fn model(&self) -> &Model {
        &self.model
    }

    fn stop(&mut self) -> Result<(), Failure> {
        if !std::mem::replace(&mut self.is_over, true) {
            self.counted = None;
            self.count();
            self.session.stop()?;
            self.take(|follower, each| follower.drain_all(each))?;
        }
        Ok(())
    }

    fn seek(&mut self, _by: i64) {}

    fn play(&mut self, _plays: bool) {}

    fn pid(&self) -> Option<u32> {
        Some(self.pid)
    }
}
