//! `dyntrace export`: the file operations of a running process, as spans to a collector, while they happen.

mod place;
mod queue;
mod summary;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};
use dyntrace_analysis::view::PAUSE;
use dyntrace_analysis::view::time::{length, now};
use dyntrace_formats::otlp::{Endpoint, Sampling, Spans};
use dyntrace_reader::{Error, FileOperation, Follower, OperationFollower};
use dyntrace_terminal::exit::{self, Failure, Outcome};
use dyntrace_terminal::{escape, say};

use crate::record;

pub use place::StreamFolder;
use queue::Queue;

/// The probes of operations, of all drivers, and of the queues and tokens that belong to them.
pub const PROBES: [&str; 7] =
    ["*-entry", "*-int_entry", "*-int_return", "*-return", "aio_pool-add", "aio_pool-get", "seq_trace-operation"];

const HELP: &str = "\
Examples:
  dyntrace export -p 4711
  dyntrace export -p 4711 --to http://127.0.0.1:4318 --slow 10ms --failed
  dyntrace export -p 4711 --tag 'req-1*' --one-in 100 --size 16M

The process records its operations into circular files in TMPDIR, which are removed at the end. They
take the bytes of --size for each thread, and for 16 threads more.

Spans are those of dyntrace convert --to otlp. The span around the operations of a user tag is sent
when the tag has had none for 5 s. If it has more later, those have a second span.

While the collector is away or busy, up to 16 MiB of spans wait. Further ones are dropped and
counted. At the end it has 10 s for the spans that wait; another interrupt ends that.

Exit status:
   0  an interrupt, --for or the end of the process ended it, and the collector has taken all spans
   1  the collector did not take all of them, or the process does not answer
   2  wrong use
   3  events were lost
   4  the recording is damaged
  65  there is no such process, or it does not allow control";

/// The time between two batches that are not full.
const BATCH: Duration = Duration::from_secs(1);
/// How long a user tag has no operation until its span is sent.
const IDLE: Duration = Duration::from_secs(5);
/// How long the collector may take for the spans that are left at the end.
const PATIENCE: Duration = Duration::from_secs(10);

/// Send the file operations of a running process to a collector, as spans of OpenTelemetry, while they happen
///
/// A process that has no control socket is asked to open one, as by dyntrace record -p.
#[derive(clap::Args)]
#[command(after_long_help = HELP)]
pub struct Arguments {
    /// The process
    #[arg(short, long)]
    pid: u32,
    /// The collector, by HTTP in JSON; at /v1/traces unless the address has another path
    #[arg(long, value_name = "ADDRESS", default_value = "http://127.0.0.1:4318")]
    to: String,
    /// The bytes of the newest events of each thread that wait to be read
    #[arg(long, value_name = "BYTES", default_value = "4M", value_parser = record::size)]
    size: u64,
    /// A new or empty folder for the circular files, if the process is another user's: one in which that user can write. It is left
    /// there
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// End after this time: 60s
    #[arg(long = "for", value_name = "TIME", value_parser = length)]
    length: Option<Duration>,
    #[command(flatten)]
    sampling: Sampling,
}

pub fn export(Arguments { pid, to, size, folder, length, sampling }: &Arguments) -> Outcome {
    let wrong = |why: anyhow::Error| Failure::new(exit::USAGE, why);
    let shown = escape::path(Path::new(to));
    let endpoint = Endpoint::of(Path::new(to)).with_context(|| format!("cannot export to {shown}")).map_err(wrong)?;
    let endpoint = endpoint.ok_or_else(|| {
        wrong(anyhow!("cannot export to {shown}: a collector's address begins with http://HOST:PORT; files are for dyntrace convert"))
    })?;
    // Dropped last, when nothing reads its files.
    let place = StreamFolder::choose(*pid, folder.as_deref())?;
    let mut session = place.record(*pid, *size, &PROBES)?;
    let mut live = Live::new(&place.directory, Spans::new(Queue::start(endpoint), sampling));
    say!("exporting the spans of process {pid} to {shown}; an interrupt ends it");
    session.last_for(*length);
    while !session.is_over_within(PAUSE) && session.is_open() {
        live.look()?;
    }
    session.stop()?;
    live.end(|| session.is_interrupted_within(Duration::ZERO))
}

/// The operations of the recording on their way to the collector.
struct Live {
    operations: OperationFollower,
    spans: Spans<Queue>,
    last_batch: Instant,
}

impl Live {
    fn new(directory: &Path, spans: Spans<Queue>) -> Live {
        let operations = OperationFollower::new(Follower::new([directory]));
        Live { operations, spans, last_batch: Instant::now() }
    }

    /// Takes the operations that have completed, and passes on a batch when it is time.
    fn look(&mut self) -> anyhow::Result<()> {
        self.take(|operations, each| operations.poll(each).map(|_| ()))?;
        if self.last_batch.elapsed() >= BATCH {
            self.last_batch = Instant::now();
            self.spans.end_idle(now() - IDLE.as_nanos() as i64)?;
            self.spans.flush()?;
        }
        Ok(())
    }

    /// Takes the rest, waits until the collector has it, and prints the summary.
    fn end(mut self, is_interrupted: impl FnMut() -> bool) -> Outcome {
        self.take(|operations, each| operations.drain(each))?;
        let counts = [self.spans.kept, self.spans.left_out, self.operations.given_up()];
        let sent = self.spans.finish().map_err(anyhow::Error::new)?.close(PATIENCE, is_interrupted);
        Ok(summary::say(counts, &self.operations.losses(), &sent))
    }

    fn take(
        &mut self,
        read: impl FnOnce(&mut OperationFollower, &mut dyn FnMut(&FileOperation<'_>)) -> Result<(), Error>,
    ) -> anyhow::Result<()> {
        let (now, mut taken) = (now(), Ok(()));
        let spans = &mut self.spans;
        let outcome = read(&mut self.operations, &mut |operation| {
            if taken.is_ok() {
                taken = spans.take(operation, now);
            }
        });
        taken?;
        Ok(outcome?)
    }
}
