//! Runs a loop over one peer's probe: measures a disabled probe (under callgrind) or a hit (under a tracer).
//!
//! `probe_loop PEER PASSES` prints the CPU time of the loop in nanoseconds per pass. With `--wait` it first waits for a line
//! on stdin, so that a tracer can attach.

use std::hint::black_box;
use std::io::stdin;

use clap::{Parser, ValueEnum};
use dyntrace_peers::cpu_ns;

mod dyntrace_probes {
    dyntrace::include_provider!("peers");
}
#[allow(missing_docs, non_snake_case, unexpected_cfgs)]
mod usdt_probes {
    include!(concat!(env!("OUT_DIR"), "/peers_usdt.rs"));
}

#[derive(Clone, Copy, ValueEnum)]
enum Peer {
    /// The loop without a probe.
    None,
    /// One integer.
    Dyntrace,
    /// `efile_drv-entry`, with its eleven arguments.
    DyntraceEntry,
    /// The `probe` crate.
    Probe,
    /// The `usdt` crate.
    Usdt,
}

#[derive(Parser)]
struct Options {
    peer: Peer,
    passes: u64,
    /// Wait for a line on stdin before the loop.
    #[arg(long)]
    wait: bool,
}

fn main() {
    let options = Options::parse();
    usdt::register_probes().expect("the usdt crate registers its probes");
    if options.wait {
        stdin().read_line(&mut String::new()).expect("stdin can be read");
    }
    let run = match options.peer {
        Peer::None => none,
        Peer::Dyntrace => with_dyntrace,
        Peer::DyntraceEntry => with_dyntrace_entry,
        Peer::Probe => with_probe,
        Peer::Usdt => with_usdt,
    };
    let before = cpu_ns();
    run(black_box(options.passes));
    println!("{:.2}", (cpu_ns() - before) as f64 / options.passes as f64);
}

#[inline(never)]
fn none(passes: u64) {
    for pass in 0..passes {
        black_box(pass);
    }
}

#[inline(never)]
fn with_dyntrace(passes: u64) {
    for pass in 0..passes {
        black_box(pass);
        dyntrace_probes::hit(|| pass);
    }
}

#[inline(never)]
fn with_dyntrace_entry(passes: u64) {
    for pass in 0..passes {
        black_box(pass);
        dyntrace::probes::efile_drv::entry(|| {
            (1, pass as i32, Some("req-1"), 12, "old-name", "new-name", pass as i64, 0, 0, 0, "#Port<0.1>")
        });
    }
}

#[inline(never)]
fn with_probe(passes: u64) {
    for pass in 0..passes {
        black_box(pass);
        probe::probe!(peers_probe, hit, pass);
    }
}

#[inline(never)]
fn with_usdt(passes: u64) {
    for pass in 0..passes {
        black_box(pass);
        usdt_probes::peers_usdt::hit!(|| pass);
    }
}
