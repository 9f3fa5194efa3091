//! `dyntrace filter`: changes the probes and the filter of a running session.

use std::process::ExitCode;

use dyntrace::recorder::control::protocol::Request;
use dyntrace_terminal::exit::Outcome;

use crate::record::filter::FilterArguments;
use crate::record::process;

const HELP: &str = "\
Examples:
  dyntrace filter -p 4711 --tag 'req-*' --failed
  dyntrace filter -p 4711 --session 3 --probes 'efile_drv*,aio_pool*'
  dyntrace filter -p 4711

The options replace all earlier ones: the session of the last example records everything.

Exit status:
   0  the session was changed
   1  the process does not answer
   2  wrong use
  65  there is no such process, session or probe, or the process does not allow control";

/// Change which events a recorded process records
#[derive(clap::Args)]
#[command(after_long_help = HELP)]
pub struct Arguments {
    /// The process
    #[arg(short, long)]
    pid: u32,
    /// The number of the session, if there are several; dyntrace status shows it
    #[arg(long, value_name = "N")]
    session: Option<u32>,
    #[command(flatten)]
    events: FilterArguments,
}

pub fn filter(arguments: &Arguments) -> Outcome {
    let pid = arguments.pid;
    arguments.events.check_process(pid)?;
    let mut connection = process::connect(pid)?;
    let none = format!("records nothing: start dyntrace record -p {pid}");
    let session = process::session(&mut connection, pid, arguments.session, |_| true, &none)?;
    let (probes, filter) = (arguments.events.probes(), arguments.events.filter());
    let change = Request::Change { session, probes, filter };
    connection.request_within(&change, process::PATIENCE).map_err(process::refusal)?;
    Ok(ExitCode::SUCCESS)
}
