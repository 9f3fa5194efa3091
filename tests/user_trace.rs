//! The cost of `p!` and `s1` for their program. Tests with tracers check their output.
//!
//! The probes' words are accessible by name, so a test can act as a tracer.
#![cfg(all(
    not(dyntrace_without_probes),
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64")
))]

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Mutex, OnceLock};

use dyntrace::mailbox::{UnboundedReceiver, UnboundedSender};

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

/// A signal handler may fire first, while its thread is inside of malloc.
#[test]
fn the_first_firing_of_a_thread_allocates_nothing_in_the_c_library() {
    struct Ends;
    impl Drop for Ends {
        fn drop(&mut self) {}
    }
    thread_local! {
        static ENDS: Ends = const { Ends };
    }
    let first = |of: fn()| std::thread::spawn(move || allocations(of)).join().unwrap();
    assert_eq!(first(|| ENDS.with(|_| ())), 1, "the counter counts those of the C library");

    let directory = tempfile::tempdir().unwrap();
    let options = format!("record:{}", directory.path().display()).parse().unwrap();
    let _session = dyntrace::recorder::Session::start(options).unwrap();
    dyntrace::put_tag("some-user-tag").unwrap();
    let _entered = dyntrace::enter_tag("another one");
    let (sender, receiver) = dyntrace::mailbox::unbounded_channel();
    assert!(ADDRESS.set(sender).is_ok() && MAILBOX.lock().unwrap().replace(receiver).is_none());
    let firings: [fn(); 8] = [
        || dyntrace::p!(1, "text"),
        || dyntrace::user_trace::s1("text"),
        || dyntrace::probes::efile_drv::entry(|| (1, 1, "tag", 12, "path", None::<&str>, 1, 0, 0, 0, None::<&str>)),
        || drop(dyntrace::get_tag_data()),
        || assert!(dyntrace::process::current() == dyntrace::process::current()),
        || ADDRESS.get().unwrap().send(1).unwrap(),
        || assert_eq!(MAILBOX.lock().unwrap().as_mut().unwrap().try_recv(), Ok(1)),
        || traced(1),
    ];
    assert_eq!(firings.map(first), [0; 8]);
}
