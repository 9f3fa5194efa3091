//! Loads and unloads libraries whose functions are traced.

use std::ffi::{CString, c_char, c_int, c_void};
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::task::{Context, Poll, Waker};
use std::{env, fs, mem, thread};

use dyntrace::trace::{Error, Event, Limits, Session};

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlclose(library: *mut c_void) -> c_int;
}

const RTLD_NOW: c_int = 2;

struct Library(*mut c_void);

impl Library {
    fn load(name: &str) -> Library {
        let path = PathBuf::from(env::args_os().nth(1).unwrap()).join(name);
        let path = CString::new(path.into_os_string().into_encoded_bytes()).unwrap();
        // SAFETY: the path ends with NUL; the library was compiled for this test, and its only constructors are dyntrace's.
        let library = unsafe { dlopen(path.as_ptr(), RTLD_NOW) };
        assert!(!library.is_null());
        Library(library)
    }

    fn work(&self, number: u32) -> u32 {
        // SAFETY: the loaded library has a function of this name and type.
        let work: extern "C" fn(u32) -> u32 = unsafe { mem::transmute(dlsym(self.0, c"work".as_ptr())) };
        work(number)
    }

    fn read(&self) {
        // SAFETY: as above.
        let read: extern "C" fn() = unsafe { mem::transmute(dlsym(self.0, c"read".as_ptr())) };
        read();
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: loaded above, and no thread runs its functions, which are called only through the value dropped here.
        assert_eq!(unsafe { dlclose(self.0) }, 0);
    }
}

fn is_mapped(name: &str) -> bool {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().any(|line| Path::new(line).ends_with(name))
}

fn block_on<R>(future: impl Future<Output = R>) -> R {
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(answer) => return answer,
            Poll::Pending => thread::yield_now(),
        }
    }
}

fn start() -> (Session, Receiver<Event>) {
    let (send, events) = channel();
    let session = Session::start(Limits::default(), move |event| _ = send.send(event.clone())).unwrap();
    (session, events)
}

/// Returns all events without times.
fn end((session, events): (Session, Receiver<Event>)) -> Vec<String> {
    block_on(session.close());
    let shown = events.try_iter().map(|mut event| {
        event.took = None;
        event.to_string()
    });
    shown.collect()
}

#[dyntrace::traced]
fn own(number: u32) -> u32 {
    number
}

/// Active at the first call after each load of the library; counts continue.
fn default_patterns() {
    let watch = start();
    let patterns = ["**::own", "**::sell(n) if n > 4 do return, count", "library::* do silent, count"];
    let named = patterns.map(|pattern| block_on(watch.0.set_default(pattern)).unwrap().functions);
    assert_eq!(named, [1, 0, 0]);
    own(1);
    for number in [1, 2] {
        let library = Library::load("liblibrary.so");
        assert_eq!(library.work(number), number + 3);
        assert!(is_mapped("liblibrary.so"));
        drop(library);
        assert!(!is_mapped("liblibrary.so"));
    }
    let info = watch.0.info();
    assert_eq!(info.patterns.iter().map(|set| set.functions).collect::<Vec<_>>(), [1, 0, 0], "the library is gone");
    assert!(info.patterns.iter().all(|set| set.is_default));
    let calls = watch.0.counts().iter().map(|count| (count.function.name, count.calls)).collect::<Vec<_>>();
    assert_eq!(calls, [("library::sell/1", 1), ("library::bake/2", 2), ("library::sell/1", 2)]);
    assert_eq!(end(watch), ["call   program::own(1)", "call   library::sell(5)", "return library::sell -> 5"]);
}

/// Functions of a library are known while it is loaded. Their settings end with it.
fn patterns_while_it_is_there() {
    let watch = start();
    assert!(matches!(block_on(watch.0.set("**::bake")), Err(Error::NoFunction { .. })));
    let libraries = ["liblibrary.so", "libother.so"].map(Library::load);
    assert_eq!(block_on(watch.0.set("**::bake")).unwrap().functions, 2);
    libraries.iter().for_each(|library| _ = library.work(1));
    let [library, other] = libraries;
    drop(library);
    assert_eq!(block_on(watch.0.set("**::bake do silent, return")).unwrap().functions, 1);
    other.work(2);
    drop(other);
    assert!(matches!(block_on(watch.0.set("**::bake")), Err(Error::NoFunction { .. })));
    // Not active for later libraries.
    Library::load("liblibrary.so").work(3);
    let [one, two] = [1, 2].map(|number| format!("call   library::bake(\"rye\", {number})"));
    assert_eq!(end(watch), [one.clone(), one, two, "return library::bake -> 5".to_owned()]);
}

/// No thread uses an unloaded library's data, whatever runs during the unload.
fn under_settings() {
    let is_over = &AtomicBool::new(false);
    let times = [const { AtomicU32::new(0) }; 2];
    thread::scope(|scope| {
        let setters = times.each_ref().map(|times| {
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let (session, _events) = start();
                    block_on(session.set_default("** do return, count")).unwrap();
                    block_on(session.include(dyntrace::process::current()));
                    if times.fetch_add(1, Ordering::Relaxed) % 2 == 0 {
                        block_on(session.close());
                    }
                }
            })
        });
        // Until both threads have started. One that has panicked never will.
        let have_set = || times.iter().all(|times| times.load(Ordering::Relaxed) > 0);
        let is_enough = || have_set() || setters.iter().any(|setter| setter.is_finished());
        for number in (0..).take_while(|number| *number < 100 || !is_enough()) {
            let library = Library::load("liblibrary.so");
            let other = Library::load("libother.so");
            assert_eq!((library.work(number), other.work(number)), (number + 3, number + 3));
            drop(library);
            assert_eq!(other.work(number), number + 3);
        }
        is_over.store(true, Ordering::Relaxed);
        setters.into_iter().for_each(|setter| setter.join().unwrap());
    });
    assert!(times.iter().all(|times| times.load(Ordering::Relaxed) > 0));
    assert!(!is_mapped("liblibrary.so") && !is_mapped("libother.so"));
}

/// The library is unloaded at each point where a setting yields or is dropped, and loaded again, possibly at another address.
fn in_the_middle_of_settings() {
    for goes_on in [true, false] {
        let mut polls = 0;
        let mut is_done = false;
        while !is_done {
            let (session, events) = start();
            let other = start();
            block_on(other.0.set("**::own")).unwrap();
            let library = Library::load("liblibrary.so");
            {
                let mut setting = pin!(session.set_default("** do return"));
                for _ in 0..polls {
                    is_done = setting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
                    if is_done {
                        break;
                    }
                }
                drop(library);
                if goes_on && !is_done {
                    block_on(setting).unwrap();
                }
            }
            let again = Library::load("liblibrary.so");
            again.read();
            own(polls);
            assert_eq!(block_on(other.0.set("**::s7::b")).unwrap().functions, 1);
            again.read();
            assert_eq!(end(other), [format!("call   program::own({polls})"), "call   library::s7::b()".to_owned()]);
            drop(again);
            let told = end((session, events));
            assert!(!goes_on || told.len() > 300, "{}", told.len());
            polls += 1;
        }
        assert!(polls > 4, "{polls}");
    }
}

/// The program ends, with a library, while a thread is pinned for ever.
#[cfg(feature = "code")]
fn exit_in_a_view(is_own: bool) -> ! {
    use dyntrace::code::View;

    mem::forget(Library::load("liblibrary.so"));
    thread::spawn(|| {
        thread::sleep(std::time::Duration::from_secs(20));
        eprintln!("the program does not end");
        std::process::abort();
    });
    if is_own {
        View::with(|_| std::process::exit(0));
    }
    let (begun, is_begun) = channel();
    thread::spawn(move || {
        View::with(|_| {
            begun.send(()).unwrap();
            loop {
                thread::park();
            }
        })
    });
    is_begun.recv().unwrap();
    std::process::exit(0)
}

fn main() {
    #[cfg(feature = "code")]
    match env::args().nth(2).as_deref() {
        Some("exit in a view") => exit_in_a_view(true),
        Some(_) => exit_in_a_view(false),
        None => {}
    }
    default_patterns();
    patterns_while_it_is_there();
    in_the_middle_of_settings();
    under_settings();
    drop(Library::load("libnothing_called.so"));
    // At the end a library is loaded.
    mem::forget(Library::load("liblibrary.so"));
}
