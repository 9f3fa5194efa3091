//! The cost of counting memory: `allocations CASE NUMBER` runs a case NUMBER times, and prints the nanoseconds of one run.

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;

use clap::{Parser, ValueEnum};
use dyntrace::alloc::Counting;
use dyntrace::trace::{Limits, Session};
use settings::machine::{runtime, time};

#[global_allocator]
static ALLOCATOR: Counting = Counting::system();

#[derive(Clone, Copy, ValueEnum)]
enum Case {
    /// Allocates and frees by the system's allocator.
    System,
    /// The same by the counting allocator.
    Counting,
    /// A call of a function whose time is measured.
    Time,
    /// A call of a function whose memory is measured.
    Memory,
}

#[derive(Parser)]
struct Options {
    case: Case,
    number: u64,
}

#[dyntrace::traced]
#[inline(never)]
fn called(a: u64, b: u64) -> u64 {
    a ^ b
}

fn main() {
    let Options { case, number } = Options::parse();
    let (took, ()) = match case {
        Case::System => time(|| allocate(&System, number)),
        Case::Counting => time(|| allocate(&ALLOCATOR, number)),
        Case::Time => call("**::called do silent, time", number),
        Case::Memory => call("**::called do silent, memory", number),
    };
    println!("{:.2}", took as f64 / number as f64);
}

fn allocate(allocator: &impl GlobalAlloc, number: u64) {
    let layout = Layout::new::<[u64; 8]>();
    for _ in 0..number {
        // SAFETY: the size is not zero, and the block is freed with the layout of its allocation.
        unsafe { allocator.dealloc(black_box(allocator.alloc(black_box(layout))), layout) };
    }
}

fn call(pattern: &str, number: u64) -> (u64, ()) {
    let session = Session::start(Limits::default(), |_| ()).expect("a session starts");
    runtime().block_on(session.set(pattern)).expect("the pattern is right");
    let measured = time(|| {
        for turn in 0..number {
            black_box(called(black_box(turn), 2));
        }
    });
    assert_eq!(session.counts()[0].calls, number, "each call is counted once");
    measured
}
