//! The cost of `p!` and `s1` for their program. Tests with tracers check their output.
//!
//! The probes' words are accessible by name, so a test can act as a tracer.
#![cfg(all(
    not(dyntrace_without_probes),
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64")
))]

#[path = "common/alone.rs"]
mod alone;

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread;

use dyntrace::mailbox::{UnboundedReceiver, UnboundedSender};
use dyntrace::seq_trace::{self, Flags};
use dyntrace::{recorder, trace};

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// Also for the C library, whose own calls come here, too.
#[cfg(target_env = "gnu")]
unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
}

#[cfg(target_env = "gnu")]
#[unsafe(no_mangle)]
extern "C" fn malloc(size: usize) -> *mut c_void {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
    // SAFETY: the caller keeps the contract of malloc.
    unsafe { __libc_malloc(size) }
}

#[cfg(target_env = "gnu")]
#[unsafe(no_mangle)]
extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    ALLOCATIONS.set(ALLOCATIONS.get() + 1);
    // SAFETY: the caller keeps the contract of calloc.
    unsafe { __libc_calloc(count, size) }
}

fn allocations(of: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.get();
    of();
    ALLOCATIONS.get() - before
}

unsafe extern "C" {
    #[link_name = "__dyntrace_word_dyntrace.user_trace__i4s4"]
    static I4S4: [AtomicU16; 2];
    #[link_name = "__dyntrace_word_dyntrace.user_trace__s1"]
    static S1: [AtomicU16; 2];
}

/// Increments the semaphore like a tracer, and decrements it when dropped.
struct Look(&'static AtomicU16);

impl Look {
    fn at(word: &'static [AtomicU16; 2]) -> Look {
        word[0].fetch_add(1, Ordering::Relaxed);
        Look(&word[0])
    }
}

impl Drop for Look {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[test]
fn arguments_are_evaluated_only_while_a_tracer_looks_and_firing_allocates_nothing() {
    let mut evaluated = 0;
    let mut next = || {
        evaluated += 1;
        evaluated
    };
    dyntrace::p!(next(), "text");
    assert_eq!(next(), 1, "evaluated though nobody looks");

    // SAFETY: each word is two aligned u16, lives as long as the program, and is only changed atomically.
    let _looks = unsafe { [Look::at(&I4S4), Look::at(&S1)] };
    dyntrace::put_tag("some-user-tag").unwrap();
    let text = String::from("text");
    let count = allocations(|| {
        dyntrace::p!(next(), next(), next(), next(), &text, "b", c"c", text.as_bytes());
        dyntrace::user_trace::s1(&text);
    });
    assert_eq!(evaluated, 5);
    assert_eq!(count, 0);
    assert_eq!(allocations(|| drop(text.clone())), 1, "the counter counts");
}

static ADDRESS: OnceLock<UnboundedSender<i32>> = OnceLock::new();
static MAILBOX: Mutex<Option<UnboundedReceiver<i32>>> = Mutex::new(None);

#[dyntrace::traced]
fn traced(_: i32) {}

#[dyntrace::traced]
fn counted(_: i32) {}

#[dyntrace::traced]
fn timed(_: i32) {}

#[dyntrace::traced]
fn to_probes(_: i32) {}

/// A signal handler may fire first, while its thread is inside of malloc.
///
/// In a child: the table of tasks is the whole program's.
#[test]
fn the_first_firing_of_a_thread_allocates_nothing_in_the_c_library() {
    alone::run_child("measured");
}

#[test]
fn child() {
    if !alone::is_child() {
        return;
    }
    struct Ends;
    impl Drop for Ends {
        fn drop(&mut self) {}
    }
    thread_local! {
        static ENDS: Ends = const { Ends };
    }
    /// Returns the allocations of `of` on a new thread, which has called `before`.
    fn first_after<T: 'static>(before: fn() -> T, of: fn()) -> usize {
        let measured = move || {
            let _before = before();
            allocations(of)
        };
        thread::spawn(measured).join().unwrap()
    }
    let first = |of| first_after(|| (), of);
    assert_eq!(first(|| ENDS.with(|_| ())), 1, "the counter counts those of the C library");

    let directory = tempfile::tempdir().unwrap();
    let options = format!("record:{}", directory.path().display()).parse().unwrap();
    let _session = recorder::Session::start(options).unwrap();
    recorder::tasks().unwrap();
    dyntrace::put_tag("some-user-tag").unwrap();
    let _entered = dyntrace::enter_tag("another one");
    let (sender, receiver) = dyntrace::mailbox::unbounded_channel();
    assert!(ADDRESS.set(sender).is_ok() && MAILBOX.lock().unwrap().replace(receiver).is_none());
    let traces = trace::Session::to_probes(trace::Limits::default()).unwrap();
    for pattern in ["user_trace::counted do count", "user_trace::timed do time", "user_trace::to_probes do return"] {
        assert_eq!(pollster::block_on(traces.set(pattern)).unwrap().functions, 1, "{pattern}");
    }
    // From now on, processes may have tokens.
    seq_trace::set_token(42, Flags::SEND | Flags::PRINT).unwrap();

    fn send() {
        ADDRESS.get().unwrap().send(1).unwrap();
    }
    let firings: [fn(); 14] = [
        || dyntrace::p!(1, "text"),
        || dyntrace::user_trace::s1("text"),
        || dyntrace::probes::efile_drv::entry(|| (1, 1, "tag", 12, "path", None::<&str>, 1, 0, 0, 0, None::<&str>)),
        || dyntrace::probes::dist::monitor(|| ("a@b", "up", "c@d", "visible", "")),
        || drop(dyntrace::get_tag_data()),
        || assert!(dyntrace::process::current() == dyntrace::process::current()),
        send,
        || assert_eq!(MAILBOX.lock().unwrap().as_mut().unwrap().try_recv(), Ok(1)),
        || traced(1),
        || counted(1),
        || timed(1),
        || to_probes(1),
        || assert!(dyntrace::process::next_operation().thread == dyntrace::process::thread_number()),
        || seq_trace::print("text"),
    ];
    assert_eq!(firings.map(first), [0; 14]);

    // Tokio's own value of a thread allocates where the token of a thread is set, not where it travels.
    let with_token: [fn(); 2] = [send, || seq_trace::print("text")];
    let set_token = || seq_trace::set_token(42, Flags::SEND | Flags::PRINT);
    assert_eq!(with_token.map(|of| first_after(set_token, of)), [0; 2]);
    let with_tag: [fn(); 2] = [|| dyntrace::p!(1, "text"), || drop(dyntrace::get_tag_data())];
    assert_eq!(with_tag.map(|of| first_after(|| dyntrace::enter_tag("entered"), of)), [0; 2]);

    // A process has boxes, and a runtime what it needs: as many on a new thread as on one that has polled a process.
    fn bare() {
        on_runtime(async || tokio::spawn(async {}).await.unwrap());
    }
    fn process() {
        on_runtime(async || dyntrace::spawn(async {}).await.unwrap());
    }
    // Not the first process of the program, whose texts are noted.
    process();
    let adds = |before| first_after(before, process) - first_after(before, bare);
    assert_eq!(adds(|| ()), adds(process));
    println!("measured");
}

fn on_runtime(spawns: impl AsyncFnOnce()) {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(spawns());
}
