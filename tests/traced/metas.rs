//! Meta patterns: each has a tracer of its own, and matches the calls of all processes.

use std::sync::mpsc::{Receiver, channel};

use dyntrace::process;
use dyntrace::trace::{Error, Event, Kind, Limits, PatternInfo, Session};
use dyntrace::traced;

use crate::support::Watch;

#[traced]
fn paid(_number: u32) {}

#[traced]
fn counted(_number: u32) {}

#[traced]
fn dropped(_number: u32) {}

async fn meta(session: &Session, pattern: &str) -> (PatternInfo, Receiver<Event>) {
    let (send, events) = channel();
    let tracer = move |event: &Event| {
        let _ = send.send(event.clone());
    };
    (session.set_meta(pattern, tracer).await.unwrap(), events)
}

fn calls(events: &[Event]) -> Vec<&str> {
    events.iter().filter(|event| event.kind == Kind::Call).map(|event| &*event.text).collect()
}

#[tokio::test]
async fn its_tracer_hears_of_every_process_whatever_is_set_for_the_others() {
    let watch = Watch::on("**::metas::paid(n) do set(silent)").await;
    let (meta, events) = meta(&watch.session, "**::metas::paid(n) if n > 2 do return").await;
    assert!(meta.is_meta && !meta.is_default && meta.functions == 1);
    // The first call silences the process for the session's own patterns.
    (1..=3).for_each(paid);
    watch.session.exclude(process::current()).await;
    paid(4);
    let updated = watch.session.update(meta.id, "**::metas::paid(n) if n > 5").await.unwrap();
    assert!(updated.is_meta && updated.id == meta.id);
    (5..=6).for_each(paid);
    let patterns = watch.session.info().patterns;
    assert_eq!(patterns.iter().map(|pattern| pattern.is_meta).collect::<Vec<_>>(), [false, true]);
    assert_eq!(watch.session.remove(meta.id).await.unwrap(), []);
    paid(7);
    assert!(matches!(watch.session.remove(meta.id).await, Err(Error::NoPattern { .. })));
    assert_eq!(watch.session.info().patterns.len(), 1);
    let told: Vec<_> = events.try_iter().collect();
    assert_eq!(calls(&told), ["3", "4", "6"]);
    assert_eq!(told.len(), 5, "two calls and their returns, and a call");
    let (events, info) = watch.end().await;
    assert_eq!((calls(&events), info.delivered), (vec!["1"], 1));
}

#[tokio::test]
async fn it_counts_and_ends_with_its_session() {
    let watch = Watch::with(Limits::default());
    let (counting, told) = meta(&watch.session, "**::metas::counted(n) if n > 1 do count").await;
    (1..=3).for_each(counted);
    assert_eq!(watch.session.counts()[0].calls, 2);
    assert_eq!(watch.session.reset_pattern(counting.id)[0].calls, 2);
    counted(4);
    assert_eq!(watch.session.reset()[0].calls, 1);
    let (events, info) = watch.end().await;
    assert_eq!((events.len(), info.delivered), (0, 0));
    counted(5);
    assert_eq!(calls(&told.iter().collect::<Vec<_>>()), ["2", "3", "4"], "its tracer is gone, and was told all");
}

#[tokio::test]
async fn one_that_cannot_be_set_leaves_nothing() {
    let session = Session::start(Limits::default(), |_| ()).unwrap();
    assert!(matches!(session.set_meta("**::metas::nothing", |_| ()).await, Err(Error::NoFunction { .. })));
    let (_, told) = meta(&session, "**::metas::dropped").await;
    dropped(1);
    drop(session);
    // Its tracer ends when the breakpoints are removed, in the background.
    assert!(told.iter().count() <= 1);
}
