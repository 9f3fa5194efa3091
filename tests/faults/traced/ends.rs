//! Calls when threads, panics and the program end.

use std::cell::RefCell;
use std::io::Write;
use std::panic::catch_unwind;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use dyntrace::trace::{Kind, Limits, Session};
use dyntrace::traced;

use super::{Watch, calls};
use crate::support::{inside_of, program};

#[traced]
fn given_back(number: u32) -> u32 {
    number + 1
}

/// Calls a traced function when it is dropped.
struct Last(u32);

impl Drop for Last {
    fn drop(&mut self) {
        assert_eq!(given_back(self.0), self.0 + 1);
    }
}

thread_local! {
    static FIRST: RefCell<Option<Last>> = const { RefCell::new(None) };
    static SECOND: RefCell<Option<Last>> = const { RefCell::new(None) };
}

/// Dropped in the order of their creation or the reverse, by the system.
#[tokio::test]
async fn destructors_of_threads() {
    const THREADS: u32 = 200;
    let watch = Watch::on("**::ends::given_back do return, count").await;
    for number in 0..THREADS {
        let thread = thread::spawn(move || {
            FIRST.set(Some(Last(number)));
            given_back(number);
            SECOND.set(Some(Last(number)));
        });
        thread.join().unwrap();
    }
    assert_eq!(calls(&watch.session), 3 * u64::from(THREADS));
    let (events, info) = watch.end().await;
    assert_eq!(events.len() as u64 + info.dropped, 6 * u64::from(THREADS));
    for event in events {
        let number: u32 = event.text.parse().unwrap();
        assert!(number <= THREADS && (event.kind == Kind::Call || number > 0));
    }
}

#[traced]
fn cleared_up(number: u32) -> u32 {
    number * 2
}

struct Clears;

impl Drop for Clears {
    fn drop(&mut self) {
        assert!(thread::panicking());
        assert_eq!(cleared_up(7), 14);
        // Another panic meanwhile, caught here.
        catch_unwind(|| fails(8)).unwrap_err();
    }
}

#[traced]
fn fails(number: u32) {
    let _clears = (number == 7).then(|| Clears);
    panic!("of {number}");
}

#[tokio::test]
async fn calls_while_a_panic_unwinds() {
    let [watch, panics] = [
        Watch::on("**::ends::cleared_up do return").await,
        Watch::on("**::ends::fails do silent, return, exception").await,
    ];
    catch_unwind(|| fails(7)).unwrap_err();
    let told = |events: &[dyntrace::trace::Event]| -> Vec<(Kind, String)> {
        events.iter().map(|event| (event.kind, event.text.to_string())).collect()
    };
    assert_eq!(told(&watch.end().await.0), [(Kind::Call, "7".into()), (Kind::Return, "14".into())]);
    assert_eq!(told(&panics.end().await.0), [(Kind::Panic, "of 8".into()), (Kind::Panic, "of 7".into())]);
}

#[traced]
fn at_the_end(number: u32) -> u32 {
    number
}

#[traced]
fn without_end(number: u32) -> u32 {
    number
}

static SESSION: OnceLock<Session> = OnceLock::new();
static IS_TOLD: AtomicBool = AtomicBool::new(false);

/// The C library calls this when the program exits, while another thread runs.
extern "C" fn at_exit() {
    let before = calls(SESSION.get().unwrap());
    assert_eq!(at_the_end(2), 2);
    while !IS_TOLD.load(Ordering::Acquire) {
        thread::yield_now();
    }
    assert!(calls(SESSION.get().unwrap()) > before);
    std::io::stdout().write_all(b"told at exit").unwrap();
}

#[test]
fn the_exit_of_the_program() {
    if inside_of().is_none() {
        let place = tempfile::tempdir().unwrap();
        let exited = program("traced::ends::the_exit_of_the_program", place.path(), &[]).output().unwrap();
        let said = String::from_utf8_lossy(&exited.stdout);
        assert!(exited.status.success() && said.ends_with("told at exit"), "{}: {said}", exited.status);
        return;
    }
    let tracer = |event: &dyntrace::trace::Event| {
        if event.kind == Kind::Return {
            IS_TOLD.store(true, Ordering::Release);
        }
    };
    let session = SESSION.get_or_init(|| Session::start(Limits::default(), tracer).unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        session.set("**::ends::at_the_end do return, count").await.unwrap();
        session.set("**::ends::without_end do silent, count, time").await.unwrap();
    });
    thread::spawn(|| {
        loop {
            without_end(1);
        }
    });
    // SAFETY: the handler is a function of this program. The alarm ends the program if it hangs.
    unsafe {
        libc::alarm(60);
        assert_eq!(libc::atexit(at_exit), 0);
    }
    std::process::exit(0);
}
