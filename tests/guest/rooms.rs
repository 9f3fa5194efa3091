//! Tags, processes, and features that modules lack.

use std::env;
use std::fs;
use std::process::Command;

use dyntrace::process;

use crate::support::{Turn, export, file, load};

#[tokio::test]
async fn a_module_has_the_tags_of_who_calls_it() {
    let _turn = Turn::take().await;
    load("v1").await;
    let (tag, put_tag) = (export::<fn() -> Option<String>>("tag"), export::<fn(&str) -> Option<String>>("put_tag"));
    let tests = dyntrace::spawn(async move {
        assert_eq!(tag.call().unwrap(), None);
        dyntrace::put_tag("the program's").unwrap();
        assert_eq!(tag.call().unwrap().as_deref(), Some("the program's"));
        assert_eq!(put_tag.call("the module's").unwrap().as_deref(), Some("the program's"));
        tokio::task::yield_now().await;
        assert_eq!(dyntrace::get_tag().as_deref(), Some("the module's"));
        let other = dyntrace::with_tag("inner", async move { tag.call() }).await;
        assert_eq!(other.unwrap().as_deref(), Some("inner"));
    });
    tests.await.unwrap();
    // A task that is not a process has no tag, in a module, too.
    let foreign = tokio::spawn(async move { (put_tag.call("nobody's").unwrap(), tag.call().unwrap()) });
    assert_eq!(foreign.await.unwrap(), (None, None));
    let entered = tokio::spawn(async move {
        let _entered = dyntrace::enter_tag("entered by the program");
        tag.call().unwrap()
    });
    assert_eq!(entered.await.unwrap().as_deref(), Some("entered by the program"));
}

#[tokio::test]
async fn a_module_runs_as_the_process_that_calls_it() {
    let _turn = Turn::take().await;
    load("v1").await;
    let of_module = export::<fn() -> (String, i32, i32)>("process");
    let check = move || {
        let before = process::next_operation();
        let (pid, thread, operation) = of_module.call().unwrap();
        assert_eq!(pid, process::current().to_string());
        assert_eq!((thread, operation), (before.thread, before.tag + 1));
    };
    check();
    dyntrace::spawn(async move { check() }).await.unwrap();
    std::thread::spawn(check).join().unwrap();
    // The module is the first to use this thread's value.
    std::thread::spawn(move || assert_eq!(of_module.call().unwrap().0, process::current().to_string())).join().unwrap();
}

#[tokio::test]
async fn refusals_of_a_module_are_reported_to_it() {
    let _turn = Turn::take().await;
    load("v1").await;
    for (name, instead) in [
        ("read_file", "an I/O thread is not available in a module"),
        ("load_module", "cannot load the module \"/nowhere\": "),
        ("load_module", "let the program load modules"),
        ("purge_module", "let the program load modules"),
        ("find_export", "cannot find the export shelf::fire: "),
        ("find_export", "declare exports that this one calls by dyntrace::import!"),
        ("start_recording", "start it in the program: it records the module's events, too"),
        ("start_tracing", "start it in the program, whose patterns name the module's functions, too"),
        ("open_control", "open it in the program"),
    ] {
        let error = export::<fn() -> String>(name).call().unwrap();
        assert!(error.contains(instead), "{name}: {error}");
    }
}

/// Run in a process of its own by the test below.
#[test]
fn loading() {
    let Some(module) = env::var_os("MODULE") else { return };
    let threads = || fs::read_dir("/proc/self/task").unwrap().count();
    let files = || fs::read_dir("/proc/self/fd").unwrap().count();
    let before = (threads(), files());
    let path = std::ffi::CString::new(module.into_encoded_bytes()).unwrap();
    // From here on a module that mistook itself for a program would read it.
    // SAFETY: no other thread reads the environment here.
    unsafe { env::set_var("DYNTRACE", "control") };
    // SAFETY: its only constructors are dyntrace's, which this tests.
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    assert!(!library.is_null());
    assert_eq!((threads(), files()), before);
    // SAFETY: none of its functions was called.
    assert_eq!(unsafe { libc::dlclose(library) }, 0);
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    assert!(!maps.contains("/v1.so"), "something has registered itself, and keeps it");
}

#[test]
fn nothing_of_a_module_runs_when_it_is_loaded() {
    let mut test = Command::new(env::current_exe().unwrap());
    test.args(["rooms::loading", "--exact", "--test-threads=1"]).env("MODULE", file("v1"));
    let output = test.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
