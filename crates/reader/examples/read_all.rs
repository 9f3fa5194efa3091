//! Reads a trace to its end and counts events: `read_all TRACE`. `ci/bench` measures it.

use std::env;
use std::process::ExitCode;
use std::time::Instant;

use dyntrace_reader::Trace;

fn main() -> ExitCode {
    let Some(path) = env::args_os().nth(1) else {
        eprintln!("usage: read_all TRACE");
        return ExitCode::from(2);
    };
    let started = Instant::now();
    let trace = match Trace::open(&path) {
        Ok(trace) => trace,
        Err(error) => {
            eprintln!("read_all: {error}");
            return ExitCode::FAILURE;
        }
    };
    let (mut events, mut fields) = (0_u64, 0_u64);
    for event in trace.events() {
        events += 1;
        fields += event.fields().count() as u64;
    }
    let seconds = started.elapsed().as_secs_f64();
    println!("{events} events, {fields} fields, {:.1} M events/s", events as f64 / seconds / 1e6);
    println!("{:?}", trace.losses());
    ExitCode::SUCCESS
}
