//! Patterns whose actions select the processes for the other patterns of their session.

use dyntrace::process::Processes;
use dyntrace::trace::{Error, Limits, Session};
use dyntrace::traced;
use tokio::sync::Mutex;

use crate::support::Watch;

/// Each test has functions of its own: trace settings belong to the process, and tests run concurrently.
macro_rules! shop {
    ($($name:ident)*) => { $(
        mod $name {
            use super::*;

            #[traced]
            pub fn login(_name: &str) {}

            #[traced]
            pub fn buy(number: u32) -> u32 {
                number
            }

            #[traced]
            pub fn logout() {}
        }
    )* };
}

shop!(from_login_to_logout all_but silenced counted at_first with_children named_with_children);

/// Only a few sessions at a time may have such patterns. A dropped session keeps its place until its patterns are removed in the
/// background, so each test closes its sessions.
static ALONE: Mutex<()> = Mutex::const_new(());

async fn watch(patterns: &[&str]) -> Watch {
    let watch = Watch::with(Limits::default());
    for pattern in patterns {
        watch.session.set(pattern).await.unwrap();
    }
    watch
}

/// A task that is a process and runs `what` to its end.
async fn process(what: impl Future<Output = ()> + Send + 'static) {
    dyntrace::spawn(what).await.unwrap();
}

#[tokio::test]
async fn flags_between_one_call_and_another() {
    let _alone = ALONE.lock().await;
    use from_login_to_logout::*;
    let other = watch(&["**::from_login_to_logout::buy"]).await;
    let watch = watch(&[
        "**::from_login_to_logout::*",
        "**::from_login_to_logout::login(name) if name == \"eve\" do silent, set(call)",
        "**::from_login_to_logout::logout do silent, clear(call)",
    ])
    .await;
    let session = |name: &'static str, number| {
        process(async move {
            buy(number);
            login(name);
            tokio::task::yield_now().await;
            buy(number + 1);
            logout();
            buy(number + 2);
        })
    };
    tokio::join!(session("eve", 10), session("bob", 20));
    // This thread is a process, too, with flags of its own.
    buy(1);
    login("eve");
    process(async { _ = buy(2) }).await;
    buy(3);
    assert_eq!(watch.session.info().processes, Processes::default());
    let buys = ["buy(11)", "logout()", "buy(3)"].map(|call| format!("call   flagged::from_login_to_logout::{call}"));
    assert_eq!(watch.lines().await, buys);
    assert_eq!(other.lines().await.len(), 9, "other sessions know nothing of it");
}

#[tokio::test]
async fn processes_leave() {
    let _alone = ALONE.lock().await;
    let watch = watch(&["**::all_but::buy", "**::all_but::logout do silent, clear(call)"]).await;
    process(async {
        all_but::login("eve");
        all_but::buy(1);
        all_but::logout();
        all_but::buy(2);
    })
    .await;
    all_but::buy(3);
    let (events, info) = watch.end().await;
    assert_eq!(events.iter().map(|event| &*event.text).collect::<Vec<_>>(), ["1", "3"]);
    assert_eq!(info.processes, Processes::all());
}

#[tokio::test]
async fn processes_that_are_silent_are_counted() {
    let _alone = ALONE.lock().await;
    let watch = watch(&["**::silenced::buy do return, count", "**::silenced::login do set(silent)"]).await;
    watch.session.set("**::silenced::logout do clear(silent)").await.unwrap();
    process(async {
        silenced::login("eve");
        silenced::buy(1);
        silenced::logout();
        silenced::buy(2);
    })
    .await;
    assert_eq!(watch.session.counts()[0].calls, 2);
    let calls = ["call   login(\"eve\")", "call   buy(2)", "return buy -> 2"];
    assert_eq!(
        watch.lines().await.iter().map(|line| line.replace("flagged::silenced::", "")).collect::<Vec<_>>(),
        calls
    );
}

#[tokio::test]
async fn counts_of_flagged_processes() {
    let _alone = ALONE.lock().await;
    let watch = watch(&["**::counted::login do silent, set(call)", "**::counted::buy do silent, count"]).await;
    process(async {
        counted::buy(1);
        counted::login("eve");
        (0..7).for_each(|number| _ = counted::buy(number));
        counted::logout();
    })
    .await;
    assert_eq!(watch.session.counts()[0].calls, 7);
    watch.end().await;
}

#[tokio::test]
async fn few_sessions_at_a_time() {
    let _alone = ALONE.lock().await;
    let mut sessions = Vec::new();
    let error = loop {
        let session = Session::start(Limits::default(), |_| ()).unwrap();
        match session.set("**::at_first::login do set(call)").await {
            Ok(_) => sessions.push(session),
            Err(error) => break error,
        }
    };
    assert_eq!(sessions.len(), 4);
    assert!(matches!(error, Error::TooManyFlagging { most: 4 }), "{error}");
    sessions.pop().unwrap().close().await;
    let session = Session::start(Limits::default(), |_| ()).unwrap();
    assert_eq!(session.set("**::at_first::login do set(call)").await.unwrap().functions, 1);
    sessions.push(session);
    at_first::login("eve");
    at_first::buy(1);
    at_first::logout();
    for session in sessions {
        session.close().await;
    }
}

/// A process logs in, and spawns one that buys, which spawns another one that buys.
async fn family(login: fn(&str), buy: fn(u32) -> u32, logout: fn(), number: u32) {
    process(async move {
        process(async move {
            let _ = buy(number);
        })
        .await;
        login("eve");
        process(async move {
            buy(number + 1);
            process(async move {
                let _ = buy(number + 2);
            })
            .await;
        })
        .await;
        logout();
        process(async move {
            let _ = buy(number + 3);
        })
        .await;
    })
    .await;
}

#[tokio::test]
async fn flags_go_to_processes_that_are_spawned() {
    let _alone = ALONE.lock().await;
    use with_children::*;
    let only_itself = watch(&["**::with_children::buy", "**::with_children::login do silent, set(call)"]).await;
    let watch = watch(&[
        "**::with_children::buy",
        "**::with_children::login do silent, set(call), set(set_on_spawn)",
        "**::with_children::logout do silent, clear(set_on_spawn)",
    ])
    .await;
    family(login, buy, logout, 10).await;
    let lines = watch.lines().await;
    assert_eq!(lines, ["call   flagged::with_children::buy(11)", "call   flagged::with_children::buy(12)"]);
    assert_eq!(only_itself.lines().await, [""; 0]);
}

/// The session selects the named process by its filter, and the processes that it spawns by the flag.
#[tokio::test]
async fn a_named_process_takes_its_children_with_it() {
    let _alone = ALONE.lock().await;
    use named_with_children::*;
    let watch = watch(&[
        "**::named_with_children::buy",
        "**::named_with_children::login do silent, set(set_on_spawn)",
        "**::named_with_children::logout do silent, clear(set_on_spawn)",
    ])
    .await;
    let (tell, told) = tokio::sync::oneshot::channel();
    let (go, gate) = tokio::sync::oneshot::channel::<()>();
    let named = dyntrace::spawn(async move {
        tell.send(dyntrace::process::current()).unwrap();
        gate.await.unwrap();
        login("eve");
        process(async move {
            let _ = buy(21);
        })
        .await;
        logout();
        process(async move {
            let _ = buy(22);
        })
        .await;
        buy(23);
    });
    watch.session.include(told.await.unwrap()).await;
    family(login, buy, logout, 10).await;
    go.send(()).unwrap();
    named.await.unwrap();
    let lines = watch.lines().await;
    assert_eq!(lines, ["call   flagged::named_with_children::buy(21)", "call   flagged::named_with_children::buy(23)"]);
}
