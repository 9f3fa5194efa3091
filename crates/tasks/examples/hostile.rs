//! A tokio program with three tasks, whose memory is full of forged cells and whose heap is huge, for the tests of this crate.
//!
//! Prints `task NAME HEADER` lines, then `ready`; ends when its standard input does. Its argument is the number of forged cells; with a
//! second one, its first thread ends before the tasks begin.

use std::fs::File;
use std::future::poll_fn;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::sync::LazyLock;
use std::sync::mpsc::{Sender, channel};
use std::task::Poll;
use std::time::Duration;

/// As long as a task's alignment, so that each may be one.
#[repr(align(128))]
#[derive(Clone)]
struct Cell([u64; 16]);

/// Looks like the functions and offsets of a task.
#[repr(C)]
struct Vtable([fn(); 7], [usize; 3]);

static FORGED: Vtable = Vtable([nothing; 7], [0x50, 0x20, 0x28]);

fn nothing() {
    std::hint::black_box(());
}

async fn sleeps(name: &'static str, tell: Sender<u64>) {
    let header = poll_fn(|context| Poll::Ready(context.waker().data() as u64)).await;
    println!("task {name} {header}");
    tell.send(header).expect("the main thread waits");
    tokio::time::sleep(Duration::from_secs(3600)).await;
}

fn word(address: u64) -> u64 {
    static MEMORY: LazyLock<File> = LazyLock::new(|| File::open("/proc/thread-self/mem").expect("own memory"));
    let mut bytes = [0; 8];
    MEMORY.read_exact_at(&mut bytes, address).expect("own memory");
    u64::from_le_bytes(bytes)
}

/// Makes cells: copies of a task, such with other ids, complete ones, and those of a type that is none.
fn forge(header: u64, count: u64) -> Vec<Cell> {
    let real = Cell(std::array::from_fn(|number| word(header + 8 * number as u64)));
    let id = (word(real.0[2] + 0x48) / 8) as usize;
    let cell = |number: u64| {
        let mut cell = real.clone();
        if !number.is_multiple_of(4) {
            cell.0[id] = 1_000_000 + number;
        }
        match number % 4 {
            2 => cell.0[0] = 1 << 6 | 2,
            3 => (cell.0[2], cell.0[3]) = (std::ptr::from_ref(&FORGED).addr() as u64, 99),
            _ => {}
        }
        cell
    };
    (0..count).map(cell).collect()
}

fn main() {
    if std::env::args().len() > 2 {
        std::thread::spawn(|| {
            run();
            std::process::exit(0);
        });
        // SAFETY: ends this thread, which has nothing that others use.
        unsafe { libc::syscall(libc::SYS_exit, 0) };
    }
    run();
}

fn run() {
    let count = std::env::args().nth(1).and_then(|word| word.parse().ok()).expect("the number of forged cells");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime");
    let (tell, told) = channel();
    for name in ["a", "b", "c"] {
        runtime.spawn(sleeps(name, tell.clone()));
    }
    let headers: Vec<u64> = told.iter().take(3).collect();
    std::thread::sleep(Duration::from_millis(50));
    let forged = std::hint::black_box(forge(headers[0], count));
    let mut sparse =
        memmap2::MmapOptions::new().len(100 << 30).no_reserve_swap().map_anon().expect("100 GB, of which few are used");
    for place in [0, 1 << 30, 99 << 30] {
        sparse[place] = 1;
    }
    println!("ready");
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    drop((forged, sparse));
    runtime.shutdown_background();
}
