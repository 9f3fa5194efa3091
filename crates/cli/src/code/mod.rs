//! `dyntrace code`: the modules of a running process.

mod output;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, anyhow};
use dyntrace::code::remote::Order;
use dyntrace::recorder::control::protocol::Request;

use crate::escape;
use crate::exit::{self, Failure, Outcome};
use crate::record::process::{ask, refusal};

/// The examples and the exit statuses.
pub const HELP: &str = "\
Examples:
  dyntrace code -p 4711 list
  dyntrace code -p 4711 load target/release/libpricing.so target/release/libtax.so
  dyntrace code -p 4711 upgrade target/release/libpricing.so
  dyntrace code -p 4711 purge pricing --soft
  dyntrace code -p 4711 history --json

The program must let itself be controlled: by dyntrace::recorder::control(), or by
DYNTRACE=control in its environment. It says which files it loads, and whether others may have it
do so: dyntrace::code::allow(Policy::new().directory(\"/srv/modules\").remote(true)).

Files that are named together take effect together, or none of them does. Callers go on meanwhile,
each in the version that it has entered. A module has one old version at most: it is purged before
the next upgrade.

Exit status:
   0  it is done
   1  the process says no, and why: nothing has changed; or it does not answer
   2  wrong use
  65  there is no such process, or it does not let itself be controlled";

/// The arguments of `dyntrace code`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The process
    #[arg(short, long, value_parser = clap::value_parser!(u32).range(1..))]
    pid: u32,
    /// Print JSON, one object for each version or event
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    action: Action,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Show the versions that are loaded: current, old, and those that are still in memory
    List,
    /// Load modules that the process does not have
    Load {
        /// The files of modules
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Put new versions of modules in the place of the current ones
    Upgrade {
        /// The files of modules
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Make the current version of a module old, so that nobody can call it any more
    Delete {
        /// The module's name
        module: String,
    },
    /// Wait until nobody is inside the old version of a module, and remove it; an interrupt leaves it as it is
    Purge {
        /// The module's name
        module: String,
        /// Do not wait: fail if somebody is inside
        #[arg(long)]
        soft: bool,
    },
    /// Show who is inside the old version of a module
    Check {
        /// The module's name
        module: String,
    },
    /// Show what was loaded, upgraded, deleted and purged, and when
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

/// The process may stand in another folder.
fn absolute(files: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    files.iter().map(|file| one_absolute(file)).collect()
}

fn one_absolute(file: &Path) -> Result<PathBuf, Failure> {
    if file.to_str().is_none() {
        let shown = escape::path(file.as_os_str());
        return Err(Failure::new(exit::USAGE, anyhow!("the path {shown} is not UTF-8: give the file another name")));
    }
    Ok(std::path::absolute(file).with_context(|| format!("cannot find {}", file.display()))?)
}

/// Has the process do it, and prints its answer.
pub fn code(arguments: &Arguments) -> Outcome {
    let order = arguments.action.order()?;
    let records = ask(arguments.pid, &Request::Code(order.record())).map_err(refusal)?;
    output::print(&order, &records, arguments.json)?;
    Ok(ExitCode::SUCCESS)
}
