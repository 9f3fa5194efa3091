//! Runs a script: the tracer, the command if there is one, and this process between them.
//!
//! The command is held before its first instruction until the tracer is ready, then let go. When it ends, so do most tracers by
//! themselves; one that does not is interrupted, and killed as the last resort. A busy tracer is left alone: on a busy machine
//! it may take long to end, and bpftrace discards its buffers when it is interrupted.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitCode};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};
use dyntrace_programs::elf::Note;
use dyntrace_terminal::exit::{self, Failure, Outcome};
use dyntrace_terminal::signals::{self, Notice};
use dyntrace_terminal::{escape, say};
use nix::sys::signal::Signal;

use crate::command::Running;
use crate::tracer::{Tracer, TracerKind};

use super::dtrace;
use super::event::Event;
use super::gate::{self, Held, Started};
use super::lost::Lost;
use super::marks::Tally;
use super::output::Sink;
use super::script_file::Text;
use super::target::{Asked, Target};
use super::tracing::{Followed, Tracing};
use super::watch::Watch;

/// The time between two looks at the process while the tracer gets ready, and at a tracer that writes.
const LOOK: Duration = Duration::from_millis(2);
/// How long a tracer may print nothing after its process has ended, before it is interrupted.
const GRACE: Duration = Duration::from_secs(3);
/// How long bpftrace reads its buffers before it is interrupted, if it cannot be asked to end: it discards them then.
const LAST_READ: Duration = Duration::from_millis(300);
/// How long a tracer may print nothing after it was interrupted, before it is killed.
const PATIENCE: Duration = Duration::from_secs(20);
/// How many times a busy tracer gets more time.
const REPRIEVES: u32 = 20;

/// One tracing session: the tracer, its script and its target.
pub struct Session<'a> {
    /// The tracer.
    pub tracer: &'a Tracer,
    /// The user's options for it.
    pub options: &'a [OsString],
    /// The script for it.
    pub script: &'a Text<'a>,
    /// The program to trace.
    pub target: &'a Target,
    /// The probes that the tracer will attach to.
    pub sites: &'a [Note],
    /// The time after which the trace of a process ends.
    pub length: Option<Duration>,
}

impl Session<'_> {
    /// Runs the session; the tracer's output goes to `sink`.
    pub fn run(&self, sink: Sink) -> Outcome {
        let (sender, events) = mpsc::channel();
        let notices = sender.clone();
        signals::receive(move |notice| notices.send(Event::Notice(notice)).is_ok())?;
        let mut run = match &self.target.asked {
            Asked::Command(words) if gate::IS_SUPPORTED => match self.hold(words)? {
                Ok((child, held)) => self.start_held(child, held, sink, &sender, events)?,
                Err(status) => return Ok(exit::like(status)),
            },
            Asked::Command(words) => {
                self.must_be_startable(words)?;
                let tracing = self.start_tracer(&Followed::Command(words), sink, &sender)?;
                Run::new(self.tracer.kind, tracing, None, events)
            }
            Asked::Process(pid) => {
                let watch = |length| Watch::new(*pid, self.target, self.sites).map(|watch| (length, watch));
                let timed = self.length.map(watch).transpose()?;
                let tracing = self.start_tracer(&Followed::Process(*pid), sink, &sender)?;
                if let Some((length, watch)) = timed {
                    let sender = sender.clone();
                    let latest = Instant::now() + time_to_attach(self.tracer.kind);
                    thread::spawn(move || {
                        // A failed read means that the process is ending.
                        while !watch.is_ready().unwrap_or(true) && Instant::now() < latest {
                            thread::sleep(LOOK);
                        }
                        thread::sleep(length);
                        let _ = sender.send(Event::TimeOver);
                    });
                }
                if tracing.is_told_by_number {
                    dtrace::when_ended(*pid, move || drop(sender.send(Event::ProcessEnded)))
                        .with_context(|| format!("cannot wait for the end of process {pid}"))?;
                }
                Run::new(self.tracer.kind, tracing, None, events)
            }
        };
        run.until_end()?;
        run.outcome()
    }

    fn hold(&self, words: &[OsString]) -> Result<Started, Failure> {
        let mut command = Command::new(&self.target.program);
        command.arg0(&words[0]).args(&words[1..]);
        gate::hold(&mut command, |pid| self.target.entry(pid)).map_err(|error| {
            let program = escape::path(&self.target.program);
            Failure::new(exit::NOT_EXECUTABLE, anyhow!("cannot start {program}: {error}"))
        })
    }

    /// Starts the tracer on a held command. Returns when the command runs under the tracer, or cannot.
    fn start_held(
        &self,
        child: Child,
        held: Held,
        sink: Sink,
        sender: &Sender<Event>,
        events: Receiver<Event>,
    ) -> Result<Run, Failure> {
        let pid = child.id();
        let child = Running::held(child);
        let watch = Watch::new(pid, self.target, self.sites)?;
        let tracing = self.start_tracer(&Followed::Process(pid), sink, sender)?;
        let mut run = Run::new(self.tracer.kind, tracing, Some(child), events);
        run.until_ready(&watch, held)?;
        Ok(run)
    }

    fn start_tracer(&self, followed: &Followed, sink: Sink, sender: &Sender<Event>) -> Result<Tracing, Failure> {
        let Session { tracer, options, script, target, .. } = self;
        script.must_be_harmless(followed)?;
        Tracing::start(tracer, options, script, followed, &target.program, sink, sender).map_err(|error| {
            let error = error.context(format!("cannot start {}", escape::path(&self.tracer.path)));
            Failure::new(exit::TRACER_FAILED, error)
        })
    }

    /// DTrace splits the command that it starts at blanks and knows no quotes.
    fn must_be_startable(&self, words: &[OsString]) -> Result<(), Failure> {
        if self.tracer.kind == TracerKind::Dtrace
            && !words.iter().any(|word| word.to_string_lossy().contains(char::is_whitespace))
        {
            return Ok(());
        }
        let why = "on this system dtrace starts the command, and takes no arguments with blanks; start it yourself and use -p";
        Err(Failure::new(exit::NOT_EXECUTABLE, anyhow!(why)))
    }
}

/// The longest time that a tracer may take from its start until it traces. SystemTap compiles a kernel module first.
fn time_to_attach(kind: TracerKind) -> Duration {
    Duration::from_secs(if kind == TracerKind::Stap { 300 } else { 60 })
}

/// How far the end of the tracer has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// Not asked for.
    No,
    /// Its process is gone; it should end by itself.
    ByItself,
    /// It was asked to end after the events that it has buffered.
    Asked,
    /// It reads its buffers, or writes what it has read, until then, and is interrupted.
    Reading(Instant),
    /// It was interrupted.
    Interrupted,
    /// It was killed.
    Killed,
}

/// The two processes and their events.
struct Run {
    kind: TracerKind,
    tracing: Tracing,
    child: Option<Running>,
    events: Receiver<Event>,
    open_outputs: u32,
    ending: Ending,
    /// The number of signals that asked for the end of the trace; with a command, since its end.
    requests: u32,
    /// The lines of the trace, once it has ended.
    tally: Option<Tally>,
    /// The error of writing the trace, if there was one.
    unwritten: Option<io::ErrorKind>,
    /// Whether the script takes events, as far as it reports that.
    has_begun: bool,
    /// The signal that ended everything before the command began.
    aborted: Option<i32>,
}

impl Run {
    fn new(kind: TracerKind, tracing: Tracing, child: Option<Running>, events: Receiver<Event>) -> Run {
        let has_begun = !tracing.is_told_by_number;
        Run {
            kind,
            tracing,
            child,
            events,
            open_outputs: 2,
            ending: Ending::No,
            requests: 0,
            tally: None,
            unwritten: None,
            has_begun,
            aborted: None,
        }
    }

    /// Waits until the tracer is ready and lets the command go.
    fn until_ready(&mut self, watch: &Watch, held: Held) -> Result<(), Failure> {
        let limit = time_to_attach(self.kind);
        let deadline = Instant::now() + limit;
        loop {
            match self.events.recv_timeout(LOOK) {
                Ok(Event::Notice(Notice::Signal(signal))) => {
                    self.aborted = Some(signal.number);
                    self.drop_child();
                    self.interrupt();
                    return Ok(());
                }
                Ok(event) => self.handle(event),
                Err(_) => {}
            }
            self.poll()?;
            if self.child.as_ref().is_some_and(|child| child.ended.is_some()) {
                self.interrupt();
                return Ok(());
            }
            if let Some(status) = self.tracing.ended {
                self.drop_child();
                self.until_outputs_end();
                return Err(
                    self.tracer_failed(format!("ended ({status}) before it was ready; the command was not started"))
                );
            }
            // A failed read means that the process is ending: the next turn sees that.
            if self.has_begun && watch.is_ready().unwrap_or(false) {
                break;
            }
            if Instant::now() > deadline {
                return Err(self
                    .tracer_failed(format!("was not ready after {} s; the command was not started", limit.as_secs())));
            }
        }
        held.release().context("cannot let the command go")?;
        if let Some(child) = &mut self.child {
            child.is_held = false;
        }
        Ok(())
    }

    /// Waits until the command and the tracer have ended.
    fn until_end(&mut self) -> Result<(), Failure> {
        let mut printed = self.tracing.progress.count();
        let mut reprieves = REPRIEVES;
        loop {
            self.poll()?;
            let command_runs = self.child.as_ref().is_some_and(|child| child.ended.is_none());
            if !command_runs && self.tracing.ended.is_some() {
                self.until_outputs_end();
                return Ok(());
            }
            if !command_runs && self.child.is_some() && self.ending == Ending::No {
                self.process_ended();
            }
            let limit = match self.ending {
                Ending::No | Ending::Killed => None,
                Ending::ByItself | Ending::Asked => Some(GRACE),
                Ending::Reading(until) => Some(until.saturating_duration_since(Instant::now())),
                Ending::Interrupted => Some(PATIENCE),
            };
            match limit.map_or_else(|| self.events.recv().map_err(Into::into), |limit| self.events.recv_timeout(limit))
            {
                Ok(event) => self.handle(event),
                Err(RecvTimeoutError::Timeout) if matches!(self.ending, Ending::Reading(_)) => self.press(),
                Err(RecvTimeoutError::Timeout) if self.tracing.progress.count() != printed => {
                    printed = self.tracing.progress.count();
                }
                Err(RecvTimeoutError::Timeout) if reprieves > 0 && self.tracing.is_at_work() => reprieves -= 1,
                Err(RecvTimeoutError::Timeout) => self.press(),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(anyhow!("the thread that receives signals has ended").into());
                }
            }
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Notice(Notice::ChildChanged) => {}
            Event::Begun => self.has_begun = true,
            Event::ProcessEnded => self.process_ended(),
            Event::TimeOver => self.end_tracing(),
            Event::OutputEnded => self.open_outputs -= 1,
            Event::CannotWrite(error) => {
                if error.kind() != io::ErrorKind::BrokenPipe {
                    say!("dyntrace: cannot write the trace: {error}");
                }
                self.unwritten = Some(error.kind());
                self.end_tracing();
            }
            Event::Counted(tally) => self.tally = Some(tally),
            Event::Notice(Notice::Signal(signal)) => match &self.child {
                Some(child) if child.ended.is_none() => {
                    if !signal.is_from_terminal {
                        child.send(signal.number);
                    }
                }
                _ if !signal.ends_command() => {}
                _ => self.end_is_requested(),
            },
        }
    }

    fn process_ended(&mut self) {
        if self.tracing.is_told_by_number {
            self.interrupt();
        } else if self.ending == Ending::No {
            self.ending = Ending::ByItself;
        }
    }

    /// Handles a signal of the user's when there is no command to send it to. One request may arrive twice: `timeout` signals the
    /// process and its group. So only the third one gives up the rest of the trace.
    fn end_is_requested(&mut self) {
        self.requests += 1;
        match self.requests {
            1 if self.ending == Ending::No => self.end_tracing(),
            1 => {}
            2 => say!("dyntrace: {} is writing out the end of the trace; one more signal gives it up", self.kind),
            _ => self.kill(),
        }
    }

    /// Ends the tracer in the gentlest way that it knows.
    fn end_tracing(&mut self) {
        if matches!(self.ending, Ending::No | Ending::ByItself) {
            if self.tracing.ask_to_end() {
                self.ending = Ending::Asked;
            } else if self.kind == TracerKind::Bpftrace {
                self.ending = Ending::Reading(Instant::now() + LAST_READ);
            } else {
                self.interrupt();
            }
        }
    }

    /// Ends the tracer in the next harder way, as it has printed nothing for a while.
    fn press(&mut self) {
        match self.ending {
            Ending::No | Ending::ByItself => self.end_tracing(),
            Ending::Asked | Ending::Reading(_) => self.interrupt(),
            Ending::Interrupted | Ending::Killed => self.kill(),
        }
    }

    fn interrupt(&mut self) {
        if !matches!(self.ending, Ending::Interrupted | Ending::Killed) {
            let is_interrupted = self.tracing.interrupt();
            self.ending = if is_interrupted { Ending::Interrupted } else { Ending::Reading(Instant::now() + LOOK) };
        }
    }

    fn kill(&mut self) {
        if self.ending != Ending::Killed {
            say!("dyntrace: {} does not end and is killed; the end of the trace is lost", self.kind);
        }
        self.tracing.kill();
        self.ending = Ending::Killed;
    }

    fn poll(&mut self) -> Result<(), Failure> {
        if let Some(child) = &mut self.child {
            child.poll().context("cannot wait for the command")?;
        }
        self.tracing.poll().context("cannot wait for the tracer")?;
        Ok(())
    }

    /// Ends a command that has not begun.
    fn drop_child(&mut self) {
        self.child = None;
    }

    /// Waits until the tracer's output is printed, so that it comes before later messages of this process. Does not wait for a process
    /// that the tracer left behind and that keeps the output open.
    fn until_outputs_end(&mut self) {
        while self.open_outputs > 0 {
            match self.events.recv_timeout(GRACE) {
                Ok(event) => self.handle(event),
                Err(_) => return,
            }
        }
    }

    fn tracer_failed(&self, how: String) -> Failure {
        Failure::new(exit::TRACER_FAILED, anyhow!("{} {how}", self.kind))
    }

    /// The exit status: the command's own unless that is 0 and the trace is not whole.
    fn outcome(&self) -> Outcome {
        if let Some(signal) = self.aborted {
            return Ok(exit::by_signal(signal));
        }
        let command = self.child.as_ref().and_then(|child| child.ended);
        let tracer = self.tracing.ended;
        let is_whole = match self.ending {
            Ending::No | Ending::ByItself | Ending::Reading(_) => tracer.is_some_and(|status| status.success()),
            // Some tracers end by the signal that they got, or report it in their status.
            Ending::Asked | Ending::Interrupted => tracer.is_some_and(|status| {
                let ends = [Signal::SIGINT, Signal::SIGUSR1].map(|signal| signal as i32);
                status.success()
                    || status.signal().is_some_and(|signal| ends.contains(&signal))
                    || status.code() == Some(128 + Signal::SIGINT as i32)
            }),
            Ending::Killed => false,
        };
        if !is_whole {
            let how = tracer.map_or_else(String::new, |status| format!(" ({status})"));
            let failure = self.tracer_failed(format!("failed{how}: the trace is not whole"));
            match command {
                Some(status) if !status.success() => say!("dyntrace: {:#}", failure.error),
                _ => return Err(failure),
            }
        }
        let has_lost = self.unwritten.is_none() && self.lost().say();
        let is_cut = self.unwritten.is_some_and(|kind| kind != io::ErrorKind::BrokenPipe);
        Ok(match command {
            Some(status) if !status.success() => exit::like(status),
            _ if has_lost || is_cut => exit::LOSSY.into(),
            _ => ExitCode::SUCCESS,
        })
    }

    fn lost(&self) -> Lost {
        let tally = self.tally.unwrap_or_default();
        // If SIGUSR1 has ended the tracer, its script had not begun: a running script handles the signal.
        let had_begun = self.tracing.ended.is_none_or(|status| status.signal() != Some(Signal::SIGUSR1 as i32));
        let is_counted = self.tracing.is_counted && had_begun;
        let progress = &self.tracing.progress;
        Lost { kind: self.kind, said: progress.lost(), unmapped: progress.unmapped(), tally, is_counted }
    }
}
