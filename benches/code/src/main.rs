//! `code calls|finishing|gaps|resolving|cycles ...` prints measurements as JSON.

mod calls;
mod clock;
mod cycles;
mod finishing;
mod gaps;
mod made;
mod resolving;

use clap::Parser;
use tokio::runtime::{Builder, Runtime};

#[derive(Parser)]
enum Case {
    Calls { rounds: usize },
    Finishing { modules: usize, few: usize, many: usize, rounds: usize },
    Gaps { windows: usize, upgrades: usize },
    Resolving { modules: usize, rounds: usize },
    Cycles { cycles: usize },
}

fn main() {
    let measured = match Case::parse() {
        Case::Calls { rounds } => calls::measure(rounds),
        Case::Finishing { modules, few, many, rounds } => finishing::measure(modules, few, many, rounds),
        Case::Gaps { windows, upgrades } => gaps::measure(windows, upgrades),
        Case::Resolving { modules, rounds } => resolving::measure(modules, rounds),
        Case::Cycles { cycles } => cycles::measure(cycles),
    };
    println!("{measured}");
}

fn runtime() -> Runtime {
    Builder::new_current_thread().build().expect("a runtime")
}
