//! Trace settings in programs of many traced functions; each such program is one of `bin`.

pub mod machine;
pub mod made;
mod many;
mod one;
mod pause;

use clap::{Parser, Subcommand};
use dyntrace::__traced::Site;
use dyntrace::trace::{Limits, Session};

use machine::Other;

/// Prints medians in nanoseconds, as JSON.
#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    figure: Figure,
}

#[derive(Subcommand)]
enum Figure {
    /// Set and remove a trace of one function, while another thread does this.
    One { other: Other, rounds: usize },
    /// Set and remove traces of half of the functions.
    Half { rounds: usize },
    /// Measure the longest gap between two reads of the clock, alternately while another thread sets and removes half of the functions
    /// in a loop, and while it spins.
    Pause {
        windows: usize,
        /// Duration of one window.
        #[arg(long, default_value_t = 500)]
        milliseconds: u64,
        /// Let the library's threads run on any processor, instead of the setter's.
        #[arg(long)]
        free: bool,
    },
}

/// The main function of the programs in `bin`. They name their sites, so that the linker keeps them.
pub fn run(sites: &'static [Site]) {
    assert!(sites.iter().all(|site| !site.is_set()), "nobody traces anything yet");
    let figures = match Options::parse().figure {
        Figure::One { other, rounds } => one::measure(other, rounds),
        Figure::Half { rounds } => many::measure(sites, rounds),
        Figure::Pause { windows, milliseconds, free } => pause::measure(windows, milliseconds, free),
    };
    println!("{figures}");
}

/// The only callable traced function.
#[dyntrace::traced]
#[inline(never)]
fn callable(a: u64, b: u64) -> u64 {
    a ^ b
}

fn session() -> Session {
    Session::start(Limits::default(), |_| ()).expect("a session starts")
}
