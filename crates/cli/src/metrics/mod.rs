//! `dyntrace metrics`: the counts of a running process, for people and for Prometheus.

mod exposition;
mod json;
mod read;
mod server;

use std::net::{SocketAddr, TcpListener};
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use dyntrace::recorder::control::Connection;
use dyntrace::recorder::control::protocol::Request;
use dyntrace_metrics::Figures;
use dyntrace_programs::process::when_ended;
use dyntrace_terminal::exit::{Failure, Outcome};
use dyntrace_terminal::signals::Interrupts;
use dyntrace_terminal::{say, stdout};

use crate::record::process::{connect, refusal};

const HELP: &str = "\
Examples:
  dyntrace metrics -p 4711
  dyntrace metrics -p 4711 --json
  dyntrace metrics -p 4711 --listen 127.0.0.1:9464

The names, and what each counts, are in the output. JSON has one object:
  version    1
  pid
  waiting    jobs without room in the queues
  left_out   commands without room in the answer
  lanes      lane, queued, threads, idle, blocked, jobs; wait and service: count, sum_ns, buckets;
             a bucket: below_ns (null: no bound), count
  commands   driver, command, operations, errors, bytes, service_ns
  sessions   the recorder's: session, bytes, lost, removed
  monitor    events by kind, left_out, panics; null without one

With --listen, GET /metrics answers in Prometheus's text format, until an interrupt or the end of the process.

Exit status:
   0  the metrics were printed; with --listen: an interrupt or the end of the process ended it
   1  the process does not answer, or the address is taken
   2  wrong use
  65  there is no such process, or it does not allow control";

/// How long the process may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Print or serve the metrics of a process: operations, errors, bytes, times and queues
///
/// They are counted in each program that links dyntrace, without a tracer or a recording. A process that has no control socket is asked
/// to open one, as by dyntrace record -p.
#[derive(clap::Args)]
#[command(after_long_help = HELP)]
pub struct Arguments {
    /// The process
    #[arg(short, long)]
    pid: u32,
    /// Print JSON instead of Prometheus's text format
    #[arg(long, conflicts_with = "listen")]
    json: bool,
    /// Serve them by HTTP at this address, such as 127.0.0.1:9464; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
}

pub fn metrics(arguments: &Arguments) -> Outcome {
    let pid = arguments.pid;
    let figures = ask(pid)?;
    match arguments.listen {
        Some(address) => listen(pid, address)?,
        None if arguments.json => stdout::write_json(&json::object(pid, &figures), false)?,
        None => stdout::write(&exposition::text(&figures))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn ask(pid: u32) -> Result<Figures, Failure> {
    of(&mut connect(pid)?)
}

/// The counts of the process behind the connection.
pub fn of(connection: &mut Connection) -> Result<Figures, Failure> {
    let records = connection.request_within(&Request::Metrics, PATIENCE).map_err(refusal)?;
    Ok(read::figures(&records))
}

/// The number of the interrupt that ends the server at once.
const LAST: u32 = 2;

/// Why serving ends.
enum End {
    Interrupt,
    Process,
}

/// Serves the metrics of the process until a signal arrives or the process ends.
fn listen(pid: u32, address: SocketAddr) -> anyhow::Result<()> {
    let (sender, ends) = mpsc::channel();
    let process = sender.clone();
    when_ended(pid, move || drop(process.send(End::Process))).with_context(|| format!("cannot watch process {pid}"))?;
    let interrupts = Interrupts::receive(LAST)?;
    thread::spawn(move || interrupts.wait_long().is_some_and(|_| sender.send(End::Interrupt).is_ok()));
    let listener = TcpListener::bind(address)
        .with_context(|| format!("cannot listen on {address}; choose another address with --listen"))?;
    let address = listener.local_addr().context("cannot see which address this listens on")?;
    let answer = move || {
        let figures = ask(pid).map_err(|failure| format!("{:#}", failure.error))?;
        Ok(exposition::text(&figures))
    };
    server::start(listener, answer).with_context(|| format!("cannot serve {address}"))?;
    say!("serving the metrics of process {pid} at http://{address}/metrics; an interrupt ends it");
    if let Ok(End::Process) = ends.recv() {
        say!("process {pid} has ended");
    }
    Ok(())
}
