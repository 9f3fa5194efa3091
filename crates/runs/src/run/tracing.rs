//! The tracer while it runs.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::Sender;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::tracer::{Tracer, TracerKind};

use super::event::Event;
use super::output::{self, Progress, Sink, Trace};
use super::script_file::{ScriptFile, Text};
use super::{at_work, dtrace, leftovers};

/// The process or command that a tracer follows.
pub enum Followed<'a> {
    /// A process that runs.
    Process(u32),
    /// A command that the tracer starts itself.
    Command(&'a [OsString]),
}

impl Followed<'_> {
    /// The number of the process, if a tracer of this kind gets it in its script.
    pub fn number_for(&self, kind: TracerKind) -> Option<u32> {
        match self {
            Followed::Process(pid) if kind == TracerKind::Dtrace && dtrace::BY_NUMBER => Some(*pid),
            _ => None,
        }
    }
}

/// A tracer that was started, in a process group of its own: the terminal's signals do not reach it.
pub struct Tracing {
    kind: TracerKind,
    child: Child,
    _script: ScriptFile,
    /// Whether the script says when it has begun, and the tracer does not end with the process.
    pub is_told_by_number: bool,
    /// Whether the script ends the trace when the tracer gets SIGUSR1.
    ends_when_asked: bool,
    /// Whether the script prints the count of its lines at the end.
    pub is_counted: bool,
    /// How it ended, once it has.
    pub ended: Option<ExitStatus>,
    /// How much it has printed.
    pub progress: Progress,
}

impl Tracing {
    /// Starts `tracer` with the user's `options` and `script` on the process or command to follow, which runs `program`.
    pub fn start(
        tracer: &Tracer,
        options: &[OsString],
        script: &Text,
        followed: &Followed,
        program: &Path,
        sink: Sink,
        events: &Sender<Event>,
    ) -> anyhow::Result<Tracing> {
        let reading = script.reading(followed)?;
        let (ends_when_asked, is_counted) = (script.ends_when_asked, script.is_counted());
        let file = script.file(followed)?;
        let is_told_by_number = followed.number_for(tracer.kind).is_some();
        let [before, behind] = script.arguments();
        let options: Vec<OsString> = options.iter().cloned().chain(before).collect();
        let mut command = command(tracer, &options, file.path(), followed, program);
        command.args(behind);
        command.envs(script.environment().iter().copied());
        if is_told_by_number {
            dtrace::end_with_this_thread(&mut command);
        }
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).spawn()?;
        let progress = Progress::default();
        if let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) {
            let trace = move || Trace::new(reading(&sink), sink);
            output::pass_on(stdout, trace, progress.clone(), events.clone());
            output::pass_errors_on(stderr, progress.clone(), events.clone());
        }
        Ok(Tracing {
            kind: tracer.kind,
            child,
            _script: file,
            is_told_by_number,
            ends_when_asked,
            is_counted,
            ended: None,
            progress,
        })
    }

    /// Checks whether it has ended.
    pub fn poll(&mut self) -> io::Result<()> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait()?;
            if self.ended.is_some_and(|status| status.code().is_none()) && self.kind == TracerKind::Dtrace {
                leftovers::remove(self.child.id());
            }
        }
        Ok(())
    }

    /// Whether one of its threads is busy, as far as the system says.
    pub fn is_at_work(&self) -> bool {
        at_work::is_at_work(self.child.id())
    }

    /// Asks it to end after the events that it has buffered. Returns false if it can only be [interrupted](Self::interrupt).
    pub fn ask_to_end(&self) -> bool {
        if self.ends_when_asked {
            self.signal(Signal::SIGUSR1);
        }
        self.ends_when_asked
    }

    /// Interrupts it: its script runs its end clauses. Returns false if it is just writing, and must not be interrupted.
    pub fn interrupt(&self) -> bool {
        if self.ended.is_some() {
            return true;
        }
        if self.kind == TracerKind::Dtrace {
            let Some(_stopped) = dtrace::Stopped::between_writes(self.child.id()) else { return false };
            self.progress.will_print_newline();
            // A shell script starts its background jobs with SIGINT ignored, and DTrace inherits that.
            self.signal(Signal::SIGTERM);
        } else {
            self.signal(Signal::SIGINT);
        }
        true
    }

    /// Ends it the hard way.
    pub fn kill(&self) {
        self.signal(Signal::SIGKILL);
    }

    fn signal(&self, signal: Signal) {
        if self.ended.is_none() {
            // It was not waited for, so the number is still its own. An error means that it has ended, which is fine.
            let _ = killpg(Pid::from_raw(self.child.id().cast_signed()), signal);
        }
    }
}

/// Kills the tracer on every error path.
impl Drop for Tracing {
    fn drop(&mut self) {
        if self.ended.is_none() {
            self.kill();
            let _ = self.child.wait();
            leftovers::remove(self.child.id());
        }
    }
}

fn command(tracer: &Tracer, options: &[OsString], script: &Path, followed: &Followed, program: &Path) -> Command {
    let mut command = Command::new(&tracer.path);
    command.args(options);
    match (tracer.kind, followed) {
        (TracerKind::Bpftrace, Followed::Process(pid)) => {
            // With the plain path and -p, bpftrace attaches twice.
            command.args(["-q", "-p", &pid.to_string()]).arg(script).arg(format!("/proc/{pid}/exe"));
        }
        (TracerKind::Stap, Followed::Process(pid)) => {
            // Otherwise its strings have at most 127 bytes.
            command.args(["-DMAXSTRINGLEN=512", "-x", &pid.to_string()]).arg(script).arg(program);
        }
        (TracerKind::Dtrace, Followed::Process(pid)) => {
            command.arg("-s").arg(script);
            if followed.number_for(tracer.kind).is_none() {
                command.args(["-p", &pid.to_string()]);
            }
        }
        (TracerKind::Bpftrace | TracerKind::Dtrace | TracerKind::Stap, Followed::Command(words)) => {
            command.arg("-s").arg(script).arg("-c").arg(words.join(OsStr::new(" ")));
        }
    }
    command
}
