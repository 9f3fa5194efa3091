//! `dyntrace code`: the modules of a running process.

mod output;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use dyntrace::code::remote::Order;
use dyntrace::recorder::control::protocol::Request;
use dyntrace_terminal::escape;
use dyntrace_terminal::exit::{self, Failure, Outcome};

use crate::record::process::{PATIENCE, ask, connect, refusal};

const HELP: &str = "\
Examples:
  dyntrace code -p 4711 list
  dyntrace code -p 4711 load target/release/libpricing.so target/release/libtax.so
  dyntrace code -p 4711 upgrade target/release/libpricing.so
  dyntrace code -p 4711 purge pricing --soft
  dyntrace code -p 4711 history --json

The process opens its control socket when it is asked to, at its next file operation, message or
call of a traced function; it has the socket from the start if it calls
dyntrace::recorder::control() or has DYNTRACE=control. It must also allow the files, and orders
from other processes:
dyntrace::code::allow(Policy::new().directory(\"/srv/modules\").remote(true)).

All files of one command take effect together, or none does. No caller stops: each call finishes in
the version that it entered. A module has at most one old version, which must be purged before the
next upgrade.

Exit status:
   0  the order was carried out
   1  the process refused, and nothing has changed; or it does not answer
   2  wrong use
  65  there is no such process, or it does not allow control";

/// Load, upgrade and purge modules of a running process
///
/// Modules are libraries made with dyntrace::module!. No caller stops: a call that is inside a module finishes in the version that
/// it entered, a later call enters the new version.
#[derive(clap::Args)]
#[command(after_long_help = HELP)]
pub struct Arguments {
    /// The process
    #[arg(short, long)]
    pid: u32,
    /// Print JSON, one object per version or event
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Show the loaded versions: current, old, and unreachable ones that are still in memory
    List,
    /// Load new modules
    Load {
        /// The files of modules
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Replace the current versions of modules
    Upgrade {
        /// The files of modules
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Make the current version of a module old, so that it cannot be called any more
    Delete {
        /// The module's name
        module: String,
    },
    /// Wait until no call is inside the old version of a module, then remove it; an interrupt cancels that
    Purge {
        /// The module's name
        module: String,
        /// Fail instead of waiting if a call is inside
        #[arg(long)]
        soft: bool,
    },
    /// Show the threads and futures inside the old version of a module
    Check {
        /// The module's name
        module: String,
    },
    /// Show when modules were loaded, upgraded, deleted and purged
    History,
}

impl Action {
    fn order(&self) -> Result<Order, Failure> {
        Ok(match self {
            Action::List => Order::List,
            Action::Load { files } => Order::Load(absolute(files)?),
            Action::Upgrade { files } => Order::Upgrade(absolute(files)?),
            Action::Delete { module } => Order::Delete(module.clone()),
            Action::Purge { module, soft: false } => Order::Purge(module.clone()),
            Action::Purge { module, soft: true } => Order::SoftPurge(module.clone()),
            Action::Check { module } => Order::Check(module.clone()),
            Action::History => Order::History,
        })
    }
}

/// Makes paths absolute, since the process may have another current directory.
fn absolute(files: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let absolute = |file: &PathBuf| {
        let shown = escape::path(file);
        if file.to_str().is_none() {
            return Err(Failure::new(
                exit::USAGE,
                anyhow!("cannot send the path {shown}, which is not UTF-8: give the file another name"),
            ));
        }
        Ok(std::path::absolute(file).with_context(|| format!("cannot make the path {shown} absolute"))?)
    };
    files.iter().map(absolute).collect()
}

/// Sends the order to the process, and prints the answer.
pub fn code(arguments: &Arguments) -> Outcome {
    let order = arguments.action.order()?;
    // A purge waits for calls that are inside the old version.
    let limit = if matches!(order, Order::Purge(_)) { Duration::MAX } else { PATIENCE };
    let records = ask(&mut connect(arguments.pid)?, &Request::Code(order.record()), limit).map_err(refusal)?;
    output::print(&order, &records, arguments.json)?;
    Ok(ExitCode::SUCCESS)
}
