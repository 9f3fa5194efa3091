//! Events of calls: their contents, which sessions get them, and until when.

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::panic::catch_unwind;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use dyntrace::trace::{Caller, Error, Kind, Limits, Session};
use dyntrace::traced;
use tokio::sync::oneshot;

use crate::support::Watch;

/// Each test has functions of its own: trace settings belong to the process, and tests run concurrently.
macro_rules! doubles {
    ($($name:ident)*) => { $(
        #[traced]
        fn $name(number: u32) -> u32 {
            number * 2
        }
    )* };
}

doubles!(guarded counted counted_if alone both first second third limited_in_second at_most for_a_time dropped forgotten told process_of);
doubles!(many_threads set_and_cleared asleep near_it reset reset_in_part reset_meanwhile crowded);

#[tokio::test]
async fn guards_choose_calls() {
    let watch = Watch::on("**::calls::guarded(n) if n > 3 do return").await;
    assert_eq!([2, 5].map(guarded), [4, 10]);
    assert_eq!(watch.lines().await, ["call   calls::guarded(5)", "return calls::guarded -> 10"]);
    // Nothing is left.
    guarded(7);
}

#[derive(Debug)]
struct Order {
    id: u64,
    lines: Vec<(&'static str, u32)>,
}

#[traced]
fn total(order: &Order, discount: Option<&Order>) -> u32 {
    order.lines.iter().map(|(_, quantity)| quantity).sum::<u32>() - discount.map_or(0, |other| other.id as u32)
}

#[tokio::test]
async fn patterns_look_into_arguments() {
    let watch = Watch::on("**::calls::total(Order { id, .. }, _) if id == 7 do silent, count, return").await;
    let last = watch.session.set(r#"**::calls::total(Order { lines: [.., ("rye", n)], .. }, None) if n > 1"#).await;
    let inside = watch.session.set("**::calls::total(_, Some(Order { id: 2, .. })) do silent, count").await.unwrap();
    assert_eq!(last.unwrap().functions, 1);
    let orders = [7, 8, 2].map(|id| Order { id, lines: vec![("spelt", id as u32), ("rye", 2)] });
    let totals = [total(&orders[0], None), total(&orders[1], None), total(&orders[0], Some(&orders[2]))];
    assert_eq!(totals, [9, 10, 7]);
    assert_eq!(watch.session.counts().iter().map(|count| count.calls).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(watch.session.remove(inside.id).await.unwrap()[0].calls, 1);
    let lines: Vec<_> = watch.lines().await.iter().map(|line| line.chars().take(6).collect::<String>()).collect();
    assert_eq!(lines, ["call  ", "return", "call  ", "return"]);
}

#[traced]
fn fails(text: &str) -> u32 {
    text.parse().unwrap_or_else(|_| panic!("no number: {text}"))
}

#[tokio::test]
async fn panics_are_told_and_go_on() {
    let watch = Watch::on("**::calls::fails do silent, return, exception").await;
    assert_eq!(fails("7"), 7);
    let payload = catch_unwind(|| fails("x")).unwrap_err();
    assert_eq!(payload.downcast_ref::<String>().unwrap(), "no number: x");
    assert_eq!(watch.lines().await, ["return calls::fails -> 7", "panic  calls::fails: no number: x"]);
}

#[traced]
fn parses(text: &str) -> Result<u32, String> {
    assert!(!text.is_empty(), "no text");
    text.parse().map_err(|_| text.to_owned())
}

#[traced]
async fn parses_later(text: &str) -> Result<u32, String> {
    tokio::task::yield_now().await;
    text.parse().map_err(|_| text.to_owned())
}

/// Each end of a call gives one event, of the kind that the pattern asks for.
#[tokio::test]
async fn errors_are_told_where_they_are_asked_for() {
    let errors = Watch::on("**::calls::parses do silent, error, exception").await;
    let returns = Watch::on("**::calls::parses(_) do silent, return").await;
    let both = Watch::on("**::calls::parses do silent, return, error, time").await;
    assert_eq!((parses("7"), parses("x")), (Ok(7), Err("x".to_owned())));
    catch_unwind(|| parses("")).unwrap_err();
    assert_eq!(both.session.counts()[0].calls, 3);
    assert_eq!(errors.lines().await, [r#"error  calls::parses -> Err("x")"#, "panic  calls::parses: no text"]);
    assert_eq!(returns.lines().await, ["return calls::parses -> Ok(7)", r#"return calls::parses -> Err("x")"#]);
    let (events, _) = both.end().await;
    assert_eq!(events.iter().map(|event| event.kind).collect::<Vec<_>>(), [Kind::Return, Kind::Error]);
    assert!(events.iter().all(|event| event.took.is_some()));

    let watch = Watch::on("**::calls::parses_later do silent, error").await;
    assert_eq!((parses_later("7").await, parses_later("x").await), (Ok(7), Err("x".to_owned())));
    assert_eq!(watch.lines().await, [r#"error  calls::parses_later -> Err("x")"#]);
}

/// Panics, and calls a traced function.
struct Bomb;

impl fmt::Debug for Bomb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bomb {}", printed(1))?;
        panic!("while it is printed")
    }
}

#[traced]
fn printed(number: u32) -> u32 {
    number
}

#[traced]
fn takes_bomb(_bomb: &Bomb, number: u32) -> u32 {
    number
}

#[tokio::test]
async fn panics_in_debug_are_contained() {
    let inner = Watch::on("**::calls::printed").await;
    let watch = Watch::on("**::calls::takes_bomb do return").await;
    assert_eq!(takes_bomb(&Bomb, 3), 3);
    assert_eq!(watch.lines().await, ["call   calls::takes_bomb(Bomb 1<panicked>)", "return calls::takes_bomb -> 3"]);
    assert_eq!(inner.lines().await, [""; 0]);
}

#[traced]
fn shows(text: String) -> usize {
    text.len()
}

#[tokio::test]
async fn long_arguments_are_cut() {
    let watch = Watch::on("**::calls::shows").await;
    shows("long".repeat(100_000));
    let (events, _) = watch.end().await;
    assert!(events[0].text.is_cut() && events[0].text.starts_with("\"longlong"));
    assert!(events[0].to_string().len() < 1000);
}

#[traced(caller)]
fn called_here(number: u32) -> &'static std::panic::Location<'static> {
    assert!(number > 0);
    std::panic::Location::caller()
}

#[tokio::test]
async fn callers_are_told_where_they_are_known() {
    let watch = Watch::on("**::calls::called_here do caller, return, exception").await;
    let line = line!() + 1;
    let seen = called_here(1);
    assert_eq!((seen.file(), seen.line()), (file!(), line));
    catch_unwind(|| called_here(0)).unwrap_err();
    let (events, _) = watch.end().await;
    let kinds: Vec<_> = events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [Kind::Call, Kind::Return, Kind::Call, Kind::Panic]);
    assert!(matches!(events[0].caller, Some(Caller::Location(caller)) if caller.line() == line));
    assert!(events[0].to_string().contains(&format!("from {}:{line}", file!())));
}

#[traced]
async fn waits(number: u32, gate: oneshot::Receiver<u32>) -> Result<u32, oneshot::error::RecvError> {
    let more = gate.await?;
    Ok(number + more)
}

#[tokio::test]
async fn futures_are_called_when_polled_and_end_when_they_complete() {
    let watch = Watch::on("**::calls::waits(_, _) do return, exception").await;
    let (open, gate) = oneshot::channel();
    let task = tokio::spawn(waits(1, gate));
    tokio::task::yield_now().await;
    open.send(2).unwrap();
    assert_eq!(task.await.unwrap().unwrap(), 3);

    // Dropped half-way, and before it was polled.
    let (_open, gate) = oneshot::channel();
    assert!(pin!(waits(5, gate)).poll(&mut Context::from_waker(Waker::noop())).is_pending());
    let (_open, gate) = oneshot::channel();
    drop(waits(6, gate));

    let (events, _) = watch.end().await;
    let kinds: Vec<_> = events.iter().map(|event| event.kind).collect();
    assert_eq!(kinds, [Kind::Call, Kind::Return, Kind::Call, Kind::Cancelled]);
    assert_eq!(&*events[1].text, "Ok(3)");
    assert!(events[1].polled.unwrap() <= events[1].took.unwrap());
    assert!(events[2].text.starts_with("5, "));
}

#[traced(caller)]
async fn made_here<'a>(text: &'a str, _: &u8, (more, _): (u32, String)) -> Result<&'a str, std::num::ParseIntError> {
    tokio::task::yield_now().await;
    let number: u32 = text.parse()?;
    Ok(if number == more { "same" } else { text })
}

trait Sails {
    async fn sail(&self, knots: u32) -> &str;
}

struct Boat(String);

#[traced]
impl Sails for Boat {
    #[traced(caller)]
    async fn sail(&self, _knots: u32) -> &str {
        tokio::task::yield_now().await;
        &self.0
    }
}

/// The caller is the place where the future was made, not where it is polled.
#[tokio::test]
async fn futures_know_where_they_were_made() {
    let watch = Watch::on("**::calls::made_here do caller, return").await;
    let line = line!() + 1;
    let future = made_here("3", &0, (3, String::new()));
    assert_eq!(tokio::spawn(future).await.unwrap().unwrap(), "same");
    let (events, _) = watch.end().await;
    assert_eq!(
        events[0].to_string(),
        format!("call   traced::calls::made_here(\"3\", 0, (3, \"\"))  from {}:{line}", file!())
    );
    assert_eq!((&*events[1].text, events[1].polled.is_some()), (r#"Ok("same")"#, true));

    let watch = Watch::on("**::Boat::sail do caller, return").await;
    assert_eq!(Boat("Argo".to_owned()).sail(5).await, "Argo");
    let line = line!() - 1;
    let lines = watch.lines().await;
    assert!(lines[0].ends_with(&format!("calls.rs:{line}")) && lines[1].ends_with("-> \"Argo\""), "{lines:?}");
}

#[traced]
async fn fails_later(number: u32) -> u32 {
    tokio::task::yield_now().await;
    assert_ne!(number, 0, "none");
    number
}

#[tokio::test]
async fn futures_that_panic() {
    let watch = Watch::on("**::calls::fails_later do silent, exception").await;
    assert!(tokio::spawn(fails_later(0)).await.unwrap_err().is_panic());
    let (events, _) = watch.end().await;
    assert_eq!(events.len(), 1);
    assert!(events[0].text.contains("none"));
}

#[traced]
fn never_returns(wait: &std::sync::Barrier) {
    wait.wait();
    loop {
        thread::park();
    }
}

/// A call that has not ended delays neither the end of a session nor the start of another.
#[tokio::test]
async fn functions_that_never_return_cost_nothing_more() {
    let barrier: &'static std::sync::Barrier = Box::leak(Box::new(std::sync::Barrier::new(2)));
    let watch = Watch::on("**::calls::never_returns do return").await;
    thread::spawn(|| never_returns(barrier));
    barrier.wait();
    assert_eq!(watch.end().await.0.len(), 1);
    Watch::on("**::calls::never_returns").await.end().await;
}

#[tokio::test]
async fn counts_are_exact() {
    const CALLS: u64 = 10_000;
    let session = Session::start(Limits::default(), |_| unreachable!("nothing is to be told")).unwrap();
    session.set("**::calls::counted do silent, count").await.unwrap();
    session.set("**::calls::counted_if(n) if n % 10 == 0 do silent, time").await.unwrap();
    let threads = [(); 3].map(|()| {
        thread::spawn(|| {
            for number in 0..CALLS as u32 {
                counted(number);
                counted_if(number);
            }
        })
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let counts = session.counts();
    assert_eq!(counts.iter().map(|count| count.calls).collect::<Vec<_>>(), [3 * CALLS, 3 * CALLS / 10]);
    assert!(counts[0].time.is_zero() && !counts[1].time.is_zero());
    assert!(counts[0].function.name.ends_with("::calls::counted/1"));
    // A new pattern begins at 0, though it may get the same counter.
    drop(session.close().await);
    let session = Session::start(Limits::default(), |_| ()).unwrap();
    session.set("**::calls::counted do silent, count").await.unwrap();
    counted(1);
    assert_eq!(session.counts()[0].calls, 1);
}

#[tokio::test]
async fn counts_begin_anew_for_one_pattern_of_one_session() {
    let start = || Session::start(Limits::default(), |_| ()).unwrap();
    let calls = |counts: Vec<dyntrace::trace::Count>| counts.iter().map(|count| count.calls).collect::<Vec<_>>();
    let (session, other) = (start(), start());
    session.set("**::calls::reset do silent, time").await.unwrap();
    session.set("**::calls::reset_in_part do silent, count").await.unwrap();
    let some = session.set(" **::calls::reset(n) if n > 1 do silent, count").await.unwrap();
    let others = other.set("**::calls::reset do silent, count").await.unwrap();
    (0..5).for_each(|number| _ = reset(number) + reset_in_part(number));
    assert_eq!(calls(session.reset_pattern(some.id)), [3]);
    assert_eq!(calls(session.counts()), [5, 5, 0]);
    let counts = session.reset();
    assert!(!counts[0].time.is_zero());
    assert_eq!(calls(counts), [5, 5, 0]);
    assert!(session.counts()[0].time.is_zero());
    reset(7);
    assert_eq!(calls(session.counts()), [1, 0, 1]);
    assert_eq!(calls(other.counts()), [6]);
    assert_eq!(session.reset_pattern(others.id), []);
}

/// Each call is counted in exactly one interval.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_between_intervals() {
    const CALLS: u32 = 200_000;
    let session = Session::start(Limits::default(), |_| ()).unwrap();
    session.set("**::calls::reset_meanwhile do silent, count").await.unwrap();
    let mut threads =
        [(); 2].map(|()| thread::spawn(|| (0..CALLS).for_each(|number| _ = reset_meanwhile(number)))).into_iter();
    let mut calls = 0;
    let mut count = || calls += session.reset()[0].calls;
    threads.all(|thread| {
        while !thread.is_finished() {
            count();
        }
        thread.join().is_ok()
    });
    count();
    assert_eq!(calls, 2 * u64::from(CALLS));
}

#[tokio::test]
async fn sessions_do_not_know_of_each_other() {
    let one = Watch::on("**::calls::both do return").await;
    let other = Watch::on("**::calls::both(7)").await;
    assert_eq!([1, 7].map(both), [2, 14]);
    assert_eq!(other.lines().await, ["call   calls::both(7)"]);
    both(8);
    assert_eq!(one.end().await.0.len(), 6);
}

#[tokio::test]
async fn one_session_has_many_patterns() {
    let watch = Watch::with(Limits::default());
    assert_eq!(watch.session.set("**::calls::first").await.unwrap().functions, 1);
    assert_eq!(watch.session.set("**::calls::s?cond(_) do silent, count").await.unwrap().functions, 1);
    first(1);
    second(2);
    let info = watch.session.info();
    assert_eq!(watch.session.counts()[0].calls, 1);
    assert_eq!(info.patterns.len(), 2);
    assert_eq!(info.patterns[0].pattern, "**::calls::first");
    assert_eq!(watch.lines().await, ["call   calls::first(1)"]);
}

#[tokio::test]
async fn only_the_processes_named() {
    let watch = Watch::on("**::calls::process_of").await;
    let (tell, told) = oneshot::channel();
    let (go, gate) = oneshot::channel::<()>();
    let task = dyntrace::spawn(async move {
        tell.send(dyntrace::process::current()).unwrap();
        gate.await.unwrap();
        dyntrace::put_tag("req-81").unwrap();
        process_of(1);
    });
    let process = told.await.unwrap();
    watch.session.include(process).await;
    process_of(2);
    go.send(()).unwrap();
    task.await.unwrap();
    let (events, info) = watch.end().await;
    assert_eq!(info.processes, process.into());
    assert_eq!(events.iter().map(|event| &*event.text).collect::<Vec<_>>(), ["1"]);
    assert_eq!(events[0].process, process);
    assert_eq!(events[0].tag.as_deref(), Some("req-81"));
}

#[tokio::test]
async fn limits_bound_what_is_told() {
    let mut limits = Limits::default();
    limits.per_second = Some(5);
    let watch = Watch::with(limits);
    watch.session.set("**::calls::limited_in_second").await.unwrap();
    assert_eq!((0..1000).map(limited_in_second).sum::<u32>(), 999_000);
    let (events, info) = watch.end().await;
    assert_eq!(events.len() as u64 + info.limited, 1000);
    assert!(info.limited > 900, "{info:?}");

    let mut limits = Limits::default();
    limits.events = Some(3);
    let watch = Watch::with(limits);
    watch.session.set("**::calls::at_most").await.unwrap();
    assert_eq!((0..1000).map(at_most).sum::<u32>(), 999_000);
    assert!(watch.session.info().is_over);
    assert!(matches!(watch.session.set("**::calls::at_most").await, Err(Error::Over)));
    assert_eq!(watch.end().await.0.len(), 3);

    let mut limits = Limits::default();
    limits.time = Some(Duration::from_millis(1));
    let watch = Watch::with(limits);
    let _ = watch.session.set("**::calls::for_a_time").await;
    while !watch.session.info().is_over {
        tokio::task::yield_now().await;
    }
    for_a_time(1);
    watch.end().await;
}

/// A slow tracer loses events, which are counted, and delays no traced thread.
#[tokio::test]
async fn slow_tracers_lose_events() {
    let mut limits = Limits::default();
    limits.waiting = 10;
    let (go, gate) = std::sync::mpsc::channel::<()>();
    let session = Session::start(limits, move |_| assert!(gate.recv().is_err())).unwrap();
    session.set("**::calls::dropped").await.unwrap();
    assert_eq!((0..100).map(dropped).sum::<u32>(), 9900);
    drop(go);
    let info = session.close().await;
    assert_eq!(info.delivered + info.dropped, 100);
    assert!(info.dropped >= 89, "{info:?}");
}

#[tokio::test]
async fn tracers_that_panic_end_their_session() {
    let session = Session::start(Limits::default(), |_| panic!("no")).unwrap();
    session.set("**::calls::told").await.unwrap();
    told(1);
    while !session.info().is_over {
        tokio::task::yield_now().await;
    }
    assert_eq!(told(2), 4);
    session.close().await;
}

/// The event is delivered all the same: the session's end waits for it.
#[tokio::test]
async fn tracers_may_panic_with_values_that_panic_when_they_are_dropped() {
    struct Grenade;
    impl Drop for Grenade {
        fn drop(&mut self) {
            panic!("again");
        }
    }
    let session = Session::start(Limits::default(), |_| std::panic::panic_any(Grenade)).unwrap();
    session.set("**::calls::told").await.unwrap();
    told(1);
    let info = tokio::time::timeout(Duration::from_secs(10), session.close()).await.unwrap();
    assert_eq!(info.delivered, 1);
}

/// Calls made by a tracer are not traced.
#[tokio::test]
async fn tracers_may_call_what_they_trace() {
    let session = Session::start(Limits::default(), |event| assert_eq!(third(event.text.len() as u32), 2)).unwrap();
    session.set("**::calls::third").await.unwrap();
    third(1);
    assert_eq!(session.close().await.delivered, 1);
}

#[tokio::test]
async fn errors_of_patterns_are_reported() {
    let session = Session::start(Limits::default(), |_| ()).unwrap();
    let error = session.set("**::price(").await.unwrap_err();
    assert!(error.to_string().starts_with("cannot parse the pattern: expected"), "{error}");
    let error = session.set("traced::calls::near_itt").await.unwrap_err();
    assert!(error.to_string().contains("near it: traced::calls::near_it/1"), "{error}");
    near_it(1);
}

/// A function has room for a limited number of sessions. Setting one more is an error.
#[tokio::test]
async fn as_many_sessions_as_can_be_on_one_function() {
    const MOST: usize = 64;
    let watch = || Watch::on("**::calls::crowded do return");
    let mut all = Vec::new();
    for _ in 0..MOST {
        all.push(watch().await);
    }
    let late = Session::start(Limits::default(), |_| ()).unwrap();
    let error = late.set("**::calls::crowded").await.unwrap_err();
    assert!(matches!(error, Error::TooManyPatterns { most: MOST, left: 1 }), "{error}");
    assert!(error.to_string().contains("close sessions that you no longer need"), "{error}");
    crowded(3);
    for one in all.drain(1..) {
        assert_eq!(one.lines().await, ["call   calls::crowded(3)", "return calls::crowded -> 6"]);
    }
    assert_eq!(late.set("**::calls::crowded").await.unwrap().functions, 1);
    crowded(4);
    assert_eq!(all.pop().unwrap().lines().await.len(), 4);
    assert_eq!(late.close().await.delivered, 1);
}

/// A setting that is dropped at any await point is made as a whole or not at all, and does not block the next one.
#[tokio::test]
async fn settings_that_are_dropped() {
    for polls in 0..6 {
        let watch = Watch::with(Limits::default());
        {
            let mut setting = pin!(watch.session.set("**::calls::forgotten"));
            for _ in 0..polls {
                if let Poll::Ready(set) = setting.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                    set.unwrap();
                    break;
                }
            }
        }
        let other = Watch::on("**::calls::forgotten").await;
        forgotten(polls);
        assert_eq!(other.lines().await.len(), 1);
        assert!(watch.end().await.0.len() <= 1);
    }
}

#[tokio::test]
async fn sessions_come_and_go() {
    let told = Arc::new(AtomicU32::new(0));
    for number in 0..1000 {
        let told = Arc::clone(&told);
        let session = Session::start(Limits::default(), move |_| _ = told.fetch_add(1, Ordering::Relaxed)).unwrap();
        session.set("**::calls::asleep do return").await.unwrap();
        assert_eq!(asleep(number), number * 2);
        if number % 10 == 0 {
            assert_eq!(session.close().await.delivered, 2);
        }
    }
    assert!(told.load(Ordering::Relaxed) >= 200);
    // All sessions have ended: the function has room for the maximum again.
    let mut sessions = Vec::new();
    for _ in 0..64 {
        sessions.push(Watch::on("**::calls::asleep").await);
    }
}

/// Each event is whole, and each return has its call, while a pattern is set and removed at any time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn set_and_cleared_while_threads_call() {
    thread_local! { static CALLS: Cell<u32> = const { Cell::new(0) }; }
    let stop = Arc::new(AtomicBool::new(false));
    let threads = [(); 3].map(|()| {
        let stop = Arc::clone(&stop);
        thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                let number = CALLS.replace(CALLS.get() + 1);
                assert_eq!(set_and_cleared(number), number * 2);
            }
        })
    });
    for _ in 0..100 {
        let watch = Watch::on("**::calls::set_and_cleared do return").await;
        let (events, info) = watch.end().await;
        for event in &events {
            let number: u32 = event.text.parse().unwrap();
            assert!(event.kind == Kind::Call || number.is_multiple_of(2));
        }
        let calls = events.iter().filter(|event| event.kind == Kind::Call).count();
        assert!(2 * calls as u64 + info.dropped + 3 >= events.len() as u64);
    }
    stop.store(true, Ordering::Relaxed);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[tokio::test]
async fn a_thread_that_ends_has_counted() {
    let session = Session::start(Limits::default(), |_| ()).unwrap();
    session.set("**::calls::many_threads do silent, count").await.unwrap();
    for number in 0..50 {
        thread::spawn(move || many_threads(number)).join().unwrap();
    }
    assert_eq!(session.counts()[0].calls, 50);
    alone(1);
}
