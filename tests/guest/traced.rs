//! A module's functions are traced by the program's sessions.

use dyntrace::code::{self, CallError, Purged};
use dyntrace::recorder::control::Connection;
use dyntrace::recorder::control::protocol::Request;
use dyntrace::trace::remote::TraceRequest;

use crate::support::{Turn, end, export, file, load, session};

#[tokio::test]
async fn calls_returns_and_panics() {
    let _turn = Turn::take().await;
    load("v1").await;
    let watch = session();
    assert_eq!(watch.0.set("shelf::* do return, exception, error").await.unwrap().functions, 6);
    assert_eq!(export::<fn(u32) -> u32>("weighed").call(250).unwrap(), 250);
    assert_eq!(export::<fn(u32) -> u32>("looked_up").call(17).unwrap(), 0);
    let panicked = export::<fn(u32) -> u32>("shattered").call(3);
    assert!(matches!(panicked, Err(CallError::Panicked(message)) if message.contains("shattered 3")));
    // Its `Debug` panics.
    export::<fn()>("touched").call().unwrap();
    let waited = export::<fn(u32) -> code::Pending<u32>>("waited");
    assert_eq!(waited.call(8).unwrap().await.unwrap(), 8);
    let mut dropped = Box::pin(waited.call(9).unwrap());
    let polled = std::future::poll_fn(|cx| std::task::Poll::Ready(dropped.as_mut().poll(cx).is_ready())).await;
    assert!(!polled);
    drop(dropped);
    assert_eq!(
        end(watch).await,
        [
            r#"call   shelf::weigh("rye", 250)"#,
            "return shelf::weigh -> 250",
            "call   shelf::look_up(17)",
            r#"error  shelf::look_up -> Err("no 17")"#,
            "call   shelf::shatter(3)",
            "panic  shelf::shatter: shattered 3",
            "call   shelf::touch(half<panicked>)",
            "return shelf::touch -> ()",
            "call   shelf::wait(8)",
            "return shelf::wait -> 8",
            "call   shelf::wait(9)",
            "cancelled shelf::wait",
        ]
    );
}

/// Events outlive the module.
#[tokio::test]
async fn callers() {
    let _turn = Turn::take().await;
    load("v1").await;
    let watch = session();
    watch.0.set("shelf::told do caller, return").await.unwrap();
    watch.0.set("shelf::weigh do caller").await.unwrap();
    let (telling, weighed) = (export::<fn(u32)>("telling"), export::<fn(u32) -> u32>("weighed"));
    telling.call(1).unwrap();
    weighed.call(2).unwrap();
    code::delete("shelf").await.unwrap();
    assert_eq!(code::purge("shelf").await.unwrap(), Purged::Unloaded);
    let told = end(watch).await;
    assert!(told[0].starts_with("call   shelf::told(1)  from ") && told[0].contains("shelf.rs:"), "{told:?}");
    assert_eq!(told[1], "return shelf::told -> <hidden>");
    assert!(told[2].starts_with(r#"call   shelf::weigh("rye", 2)  from 0x"#), "{told:?}");
}

/// Futures that start in the module and continue in the program.
#[tokio::test]
async fn stacks() {
    let _turn = Turn::take().await;
    load("v1").await;
    let (watch, events) = session();
    watch.set("shelf::weigh do current_stacktrace(32)").await.unwrap();
    watch.set("shelf::wait do current_stacktrace(32)").await.unwrap();
    export::<fn(u32) -> u32>("weighed").call(2).unwrap();
    export::<fn(u32) -> code::Pending<u32>>("waited").call(8).unwrap().await.unwrap();
    watch.close().await;
    let stacks: Vec<String> = events.try_iter().map(|event| event.stack.unwrap().to_string()).collect();
    let program = format!("{}+0x", std::env::current_exe().unwrap().display());
    assert_eq!(stacks.len(), 2);
    for stack in stacks {
        let is_of_program: Vec<bool> = stack.lines().map(|line| line.starts_with(&program)).collect();
        assert!(!is_of_program[0] && !is_of_program[1] && is_of_program.contains(&true), "{stack}");
    }
}

#[tokio::test]
async fn calls_are_counted_and_timed() {
    let _turn = Turn::take().await;
    load("v1").await;
    let (watch, _events) = session();
    watch.set("shelf::weigh do silent, count").await.unwrap();
    watch.set("shelf::look_up do silent, time").await.unwrap();
    let (weighed, looked_up) = (export::<fn(u32) -> u32>("weighed"), export::<fn(u32) -> u32>("looked_up"));
    let work = move || {
        for number in 0..100 {
            weighed.call(number).unwrap();
            looked_up.call(number).unwrap();
        }
    };
    let threads = [(); 3].map(|()| std::thread::spawn(work));
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let counts = watch.counts();
    assert_eq!(counts.iter().map(|count| count.calls).collect::<Vec<_>>(), [300, 300]);
    assert!(counts[0].time.is_zero() && !counts[1].time.is_zero());
    watch.close().await;
}

/// The program's allocator counts for its modules; nested measured functions of both are distinguished.
#[tokio::test]
async fn memory_of_calls() {
    let _turn = Turn::take().await;
    load("v1").await;
    let (watch, _events) = session();
    for function in ["export shelf::looked_up", "shelf::look_up", "shelf::weigh"] {
        watch.set(&format!("{function} do silent, memory")).await.unwrap();
    }
    watch.set("shelf::wait do silent, memory").await.unwrap();
    let (weighed, looked_up) = (export::<fn(u32) -> u32>("weighed"), export::<fn(u32) -> u32>("looked_up"));
    for _ in 0..10 {
        weighed.call(7).unwrap();
        // "no 17", in a string.
        looked_up.call(17).unwrap();
    }
    export::<fn(u32) -> code::Pending<u32>>("waited").call(8).unwrap().await.unwrap();
    let of = |name: &str| {
        let counts = watch.counts();
        let count = counts.iter().find(|count| count.function.name == name).unwrap_or_else(|| panic!("{counts:?}"));
        let memory = count.memory.unwrap();
        (count.calls, memory.bytes, memory.own_bytes)
    };
    let (calls, bytes, own) = of("shelf::look_up/1");
    assert!(calls == 10 && bytes == own && bytes >= 50, "{bytes} {own}");
    assert_eq!(of("export shelf::looked_up/1"), (10, bytes, 0));
    assert_eq!((of("shelf::weigh/2"), of("shelf::wait/1")), ((10, 0, 0), (1, 0, 0)));
    watch.close().await;
}

#[tokio::test]
async fn default_patterns_are_in_force_at_the_first_call() {
    let _turn = Turn::take().await;
    let watch = session();
    assert_eq!(watch.0.set_default("shelf::weigh").await.unwrap().functions, 0);
    load("v1").await;
    assert_eq!(export::<fn(u32) -> u32>("weighed").call(1).unwrap(), 1);
    assert_eq!(end(watch).await, [r#"call   shelf::weigh("rye", 1)"#]);
}

/// Like `dyntrace trace --later`.
#[tokio::test]
async fn default_patterns_from_outside() {
    let _turn = Turn::take().await;
    dyntrace::recorder::control().unwrap();
    let mut connection = Connection::open(std::process::id()).unwrap();
    let ender = connection.ender().unwrap();
    let wish = TraceRequest { patterns: vec!["shelf::weigh".into()], later: true, ..TraceRequest::default() };
    let set = connection.request(&Request::Trace(wish.record())).unwrap();
    assert_eq!(set[0].number("functions"), Some(0));
    load("v1").await;
    assert_eq!(export::<fn(u32) -> u32>("weighed").call(1).unwrap(), 1);
    let mut hear = |what| loop {
        let told = connection.hear().unwrap().swap_remove(0);
        if told.get("told") == Some(what) {
            return told;
        }
    };
    assert_eq!(hear("call").get("text"), Some(r#""rye", 1"#));
    ender.end();
    assert_eq!(hear("end").number("functions"), Some(1));
}

#[tokio::test]
async fn trace_settings_pass_to_the_next_version() {
    let _turn = Turn::take().await;
    load("v1").await;
    let watch = session();
    assert_eq!(watch.0.set("shelf::weigh(_, grams) if grams > 1 do return, count").await.unwrap().functions, 1);
    // It matches a function of the next version.
    assert_eq!(watch.0.set("shelf::l* do count").await.unwrap().functions, 1);
    let weighed = export::<fn(u32) -> u32>("weighed");
    assert_eq!([1, 2].map(|number| weighed.call(number).unwrap()), [1, 2]);
    load("v2").await;
    assert_eq!([1, 2].map(|number| weighed.call(number).unwrap()), [4, 5]);
    // The same function in both versions.
    let weigh = watch.0.counts().into_iter().filter(|count| count.function.name == "shelf::weigh/2");
    assert_eq!(weigh.map(|count| count.calls).collect::<Vec<_>>(), [2]);
    code::purge("shelf").await.unwrap();
    assert_eq!(weighed.call(3).unwrap(), 6);
    let told = end(watch).await;
    assert_eq!(
        told,
        [
            r#"call   shelf::weigh("rye", 2)"#,
            "return shelf::weigh -> 2",
            "call   shelf::label(1)",
            "call   shelf::label(2)",
            r#"call   shelf::weigh("rye", 2)"#,
            "return shelf::weigh -> 5",
            "call   shelf::label(3)",
            r#"call   shelf::weigh("rye", 3)"#,
            "return shelf::weigh -> 6",
        ]
    );
    // The closed session left nothing behind.
    assert_eq!(weighed.call(3).unwrap(), 6);
}

/// In either order, a pattern applies exactly once to the current version.
#[tokio::test]
async fn patterns_are_set_while_versions_come() {
    let _turn = Turn::take().await;
    load("v1").await;
    let weighed = export::<fn(u32) -> u32>("weighed");
    for round in 0..6 {
        let prepared = code::prepare(file(if round % 2 == 0 { "v2" } else { "v1" })).await.unwrap();
        let watch = session();
        let finish = async {
            if round % 3 == 1 {
                tokio::task::yield_now().await;
            }
            code::finish([prepared]).await.unwrap();
        };
        let patterns = async {
            watch.0.set("shelf::weigh").await.unwrap();
            watch.0.set_default("shelf::look_up").await.unwrap();
        };
        if round < 3 {
            tokio::join!(patterns, finish)
        } else {
            tokio::join!(finish, patterns)
        };
        weighed.call(round).unwrap();
        export::<fn(u32) -> u32>("looked_up").call(round).unwrap();
        let told = [format!(r#"call   shelf::weigh("rye", {round})"#), format!("call   shelf::look_up({round})")];
        assert_eq!(end(watch).await, told);
        code::purge("shelf").await.unwrap();
    }
}

#[tokio::test]
async fn a_version_that_is_not_put_in_force_leaves_nothing() {
    let _turn = Turn::take().await;
    load("v1").await;
    let (watch, _events) = session();
    watch.set_default("shelf::** do count").await.unwrap();
    let named = watch.info().patterns[0].functions;
    let [one, other] = [code::prepare(file("v2")).await.unwrap(), code::prepare(file("v2")).await.unwrap()];
    assert!(code::finish([one, other]).await.is_err());
    assert_eq!(watch.info().patterns[0].functions, named);
    assert_eq!(export::<fn(u32) -> u32>("weighed").call(7).unwrap(), 7);
    watch.close().await;
}

#[tokio::test]
async fn exports_are_traced_at_the_entry_and_by_patterns_of_their_own() {
    let _turn = Turn::take().await;
    load("v1").await;
    let watch = session();
    assert_eq!(watch.0.set("export shelf::weighed(_) do return").await.unwrap().functions, 1);
    assert_eq!(watch.0.set("export shelf::waited do return").await.unwrap().functions, 1);
    assert!(watch.0.set("shelf::weighed").await.is_err());
    let weighed = export::<fn(u32) -> u32>("weighed");
    weighed.call(5).unwrap();
    let waited = export::<fn(u32) -> code::Pending<u32>>("waited");
    waited.call(6).unwrap().await.unwrap();
    load("v2").await;
    weighed.call(5).unwrap();
    assert_eq!(
        end(watch).await,
        [
            "call   export shelf::weighed(5)",
            "return export shelf::weighed -> 5",
            "call   export shelf::waited(6)",
            "return export shelf::waited -> 6",
            "call   export shelf::weighed(5)",
            "return export shelf::weighed -> 8",
        ]
    );
}
