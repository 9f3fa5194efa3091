//! Runtimes of `dyntrace::runtime::Builder`, and functions with the attributes `main` and `test`.
#![cfg(not(any(loom, miri)))]

use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use dyntrace::process;
use dyntrace::runtime::Builder;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::yield_now;

#[test]
fn the_settings_are_tokios() {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(3).max_blocking_threads(5).thread_name("w-1").thread_stack_size(1 << 20);
    builder
        .thread_keep_alive(Duration::from_secs(1))
        .global_queue_interval(7)
        .event_interval(5)
        .enable_io()
        .enable_time();
    assert!(format!("{builder:?}").contains("worker_threads: Some(3)"), "{builder:?}");
    // A builder builds several times.
    for _ in 0..2 {
        let runtime = builder.build().unwrap();
        assert_eq!(
            (runtime.metrics().num_workers(), runtime.handle().runtime_flavor()),
            (3, RuntimeFlavor::MultiThread)
        );
        let name =
            runtime.block_on(async { tokio::spawn(async { thread::current().name().map(str::to_owned) }).await });
        assert_eq!(name.unwrap().as_deref(), Some("w-1"));
    }
    builder.thread_name_fn(|| "named".to_owned());
    let runtime = builder.build().unwrap();
    let name = runtime.block_on(runtime.spawn_blocking(|| thread::current().name().map(str::to_owned)));
    assert_eq!(name.unwrap().as_deref(), Some("named"));
}

#[test]
fn a_builder_of_tokio_keeps_its_settings() {
    let mut tokio = tokio::runtime::Builder::new_current_thread();
    tokio.thread_name("taken").enable_all();
    let runtime = Builder::from(tokio).build().unwrap();
    assert_eq!(runtime.handle().runtime_flavor(), RuntimeFlavor::CurrentThread);
    let name = runtime.block_on(async {
        tokio::time::sleep(Duration::from_millis(1)).await;
        tokio::task::spawn_blocking(|| thread::current().name().map(str::to_owned)).await
    });
    assert_eq!(name.unwrap().as_deref(), Some("taken"));
}

#[test]
fn threads_call_the_functions_that_are_set() {
    let calls = Arc::new([const { AtomicU32::new(0) }; 4]);
    let count = |which: usize| {
        let calls = Arc::clone(&calls);
        move || {
            calls[which].fetch_add(1, Ordering::Relaxed);
        }
    };
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(2).on_thread_start(count(0)).on_thread_stop(count(1));
    builder.on_thread_park(count(2)).on_thread_unpark(count(3)).enable_all();
    let runtime = builder.build().unwrap();
    runtime.block_on(async {
        tokio::spawn(tokio::time::sleep(Duration::from_millis(5))).await.unwrap();
        tokio::task::spawn_blocking(|| ()).await.unwrap();
    });
    drop(runtime);
    let [start, stop, park, unpark] = [0, 1, 2, 3].map(|which| calls[which].load(Ordering::Relaxed));
    // The workers, and the thread of the closure.
    assert_eq!((start, stop), (3, 3));
    assert!(park > 0 && unpark > 0 && unpark <= park, "{park} {unpark}");
}

#[test]
fn a_runtime_ends_as_tokios_does() {
    let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
    let dropped = Arc::new(());
    let kept = Arc::clone(&dropped);
    runtime.spawn(async move {
        std::future::pending::<()>().await;
        drop(kept);
    });
    drop(runtime);
    assert_eq!(Arc::strong_count(&dropped), 1);

    let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let (sender, receiver) = std::sync::mpsc::channel::<()>();
    runtime.spawn_blocking(move || receiver.recv());
    let began = Instant::now();
    // It does not wait for the closure, which waits for this thread.
    runtime.shutdown_timeout(Duration::from_millis(1));
    sender.send(()).unwrap();
    assert!(began.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_panic_of_a_task_is_its_own() {
    let runtime = Builder::new_current_thread().build().unwrap();
    let error = runtime.block_on(runtime.spawn(async { panic!("mine") })).unwrap_err();
    assert!(error.is_panic());
    let payload = panic::catch_unwind(panic::AssertUnwindSafe(|| runtime.block_on(async { panic!("of main") })));
    assert_eq!(payload.unwrap_err().downcast_ref(), Some(&"of main"));
    assert_eq!(runtime.block_on(async { 1 }), 1);
}

/// Not a test of its own: `async` functions with arguments may have the attribute.
#[dyntrace::main(flavor = "current_thread")]
async fn with_arguments(name: &str, number: u32) -> Result<String, std::num::ParseIntError> {
    let more: u32 = "5".parse()?;
    dyntrace::put_tag(name).unwrap();
    yield_now().await;
    Ok(format!("{} {}", dyntrace::get_tag().unwrap(), number + more))
}

#[dyntrace::main(worker_threads = 2, crate = "dyntrace")]
async fn pid_of_main() -> process::Pid {
    assert_eq!(Handle::current().metrics().num_workers(), 2);
    process::current()
}

#[dyntrace::main(flavor = "current_thread")]
async fn never(code: u32) -> ! {
    panic!("code {code}")
}

#[test]
fn a_function_with_main_is_a_process() {
    let thread = process::current();
    dyntrace::put_tag("of the thread").unwrap();
    assert_eq!(with_arguments("request", 2), Ok("request 7".to_owned()));
    assert_ne!(pid_of_main(), thread);
    assert_eq!((process::current(), dyntrace::get_tag().as_deref()), (thread, Some("of the thread")));
    let payload = panic::catch_unwind(|| never(7)).unwrap_err();
    assert_eq!(payload.downcast_ref::<String>().map(String::as_str), Some("code 7"));
}

#[dyntrace::test]
async fn a_test_has_a_runtime_of_the_thread() {
    assert_eq!(Handle::current().runtime_flavor(), RuntimeFlavor::CurrentThread);
    dyntrace::spawn(yield_now()).await.unwrap();
}

#[dyntrace::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_test_may_have_workers() -> Result<(), tokio::task::JoinError> {
    let worker = tokio::spawn(async { thread::current().id() }).await?;
    assert_ne!(worker, thread::current().id());
    Ok(())
}

#[dyntrace::test(start_paused = true)]
async fn a_test_may_stop_the_clock() {
    let began = tokio::time::Instant::now();
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert!(began.elapsed() >= Duration::from_secs(3600));
}

#[dyntrace::test]
#[should_panic = "as expected"]
async fn attributes_stay() {
    panic!("as expected");
}
