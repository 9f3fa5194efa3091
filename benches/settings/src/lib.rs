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
    /// One function set and removed, while another thread does this.
    One { other: Other, rounds: usize },
    /// Half of the functions set and removed.
    Half { rounds: usize },
    /// The longest gap between two looks at the clock, in turns while another thread sets and removes half of the functions
    /// without end, and while it merely spins.
    Pause {
        windows: usize,
        /// Of one window.
        #[arg(long, default_value_t = 500)]
        milliseconds: u64,
        /// Have the library's threads run wherever the system likes, instead of where the setter does.
        #[arg(long)]
        free: bool,
    },
}

/// What the programs of `bin` do. They name their sites, so that they are linked.
pub fn run(sites: &'static [Site]) {
    assert!(sites.iter().all(|site| !site.is_set()), "nobody traces anything yet");
    let figures = match Options::parse().figure {
        Figure::One { other, rounds } => one::measure(other, rounds),
        Figure::Half { rounds } => many::measure(sites, rounds),
        Figure::Pause { windows, milliseconds, free } => pause::measure(windows, milliseconds, free),
    };
    println!("{figures}");
}

/// The one traced function that can be called.
#[dyntrace::traced]
#[inline(never)]
fn callable(a: u64, b: u64) -> u64 {
    a ^ b
}

fn session() -> Session {
    Session::start(Limits::default(), |_| ()).expect("a session starts")
}
