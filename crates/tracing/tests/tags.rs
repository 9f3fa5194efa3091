//! Spans are tags, from their entry to their exit.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use dyntrace::{enter_tag, get_tag_data, with_tag};
use dyntrace_tracing::{ProbeLayer, layer};
use tracing::field::Empty;
use tracing::subscriber::{DefaultGuard, set_default, with_default};
use tracing::{Subscriber, info_span};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::prelude::*;
use tracing_subscriber::reload;

fn subscriber(layer: ProbeLayer) -> impl Subscriber + Send + Sync {
    tracing_subscriber::registry().with(layer)
}

fn under(layer: ProbeLayer) -> DefaultGuard {
    set_default(subscriber(layer))
}

fn in_force() -> Option<String> {
    get_tag_data().map(|tag| tag.to_string())
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

const HEADER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

#[test]
fn fields_that_are_tags() {
    let _subscriber = under(layer());
    let tag = |span: tracing::Span| span.in_scope(in_force);
    assert_eq!(tag(info_span!("serve", request_id = "req-1")), some("req-1"));
    assert_eq!(tag(info_span!("serve", request_id = 17)), some("17"));
    assert_eq!(tag(info_span!("serve", request_id = %"shown")), some("shown"));
    assert_eq!(tag(info_span!("serve", request_id = ?Some(7))), some("Some(7)"));
    assert_eq!(tag(info_span!("serve", other = 7)), None);
    assert_eq!(tag(info_span!("serve", request_id = "")), None);
    assert_eq!(tag(info_span!("serve", traceparent = HEADER)), some(TRACE));
    assert_eq!(tag(info_span!("serve", traceparent = "00-of-no-use")), None);
    // The first of the list counts, not the first of the span.
    assert_eq!(tag(info_span!("serve", traceparent = HEADER, trace_id = "t", request_id = "r")), some("r"));
    assert_eq!(tag(info_span!("serve", request_id = "", trace_id = "t")), some("t"));
    assert_eq!(in_force(), None);
}

#[test]
fn fields_and_names_by_choice() {
    let _subscriber = under(layer().tag_fields(["order"]).tag_spans(["compaction"]));
    let tag = |span: tracing::Span| span.in_scope(in_force);
    assert_eq!(tag(info_span!("serve", request_id = "req-1")), None);
    assert_eq!(tag(info_span!("serve", order = true)), some("true"));
    assert_eq!(tag(info_span!("compaction")), some("compaction"));
    assert_eq!(tag(info_span!("compaction", order = "small")), some("small"));
}

#[test]
fn children_inherit() {
    for (inherits, expected) in [(true, some("r")), (false, None)] {
        let _subscriber = under(layer().inherit(inherits));
        let parent = info_span!("serve", request_id = "r");
        let child = info_span!(parent: &parent, "child");
        let grandchild = child.in_scope(|| info_span!("grandchild"));
        let own = info_span!(parent: &child, "own", trace_id = "t");
        let root = parent.in_scope(|| info_span!(parent: None, "root"));
        assert_eq!(child.in_scope(in_force), expected);
        assert_eq!(grandchild.in_scope(in_force), expected);
        assert_eq!(own.in_scope(in_force), some("t"));
        assert_eq!(root.in_scope(in_force), None);
        assert_eq!(parent.in_scope(|| root.in_scope(in_force)), some("r"), "inside of the other's stay");
    }
}

#[test]
fn values_recorded_later() {
    let _subscriber = under(layer());
    let outer = info_span!("serve", trace_id = "t", request_id = Empty);
    let _outer = outer.enter();
    let unknown = info_span!("unknown", request_id = Empty, traceparent = Empty);
    assert_eq!(unknown.in_scope(in_force), some("t"), "inherited");
    outer.record("request_id", "r");
    assert_eq!(in_force(), some("r"), "at once");
    outer.record("trace_id", "of less precedence");
    assert_eq!(in_force(), some("r"));
    unknown.record("traceparent", "invalid");
    assert_eq!(unknown.in_scope(in_force), some("t"), "as it was made");
    let entered = unknown.enter();
    outer.record("request_id", "r 2");
    assert_eq!(in_force(), some("t"), "the innermost counts");
    unknown.record("request_id", "u");
    assert_eq!(in_force(), some("u"));
    drop(entered);
    assert_eq!(in_force(), some("r 2"));
}

#[test]
fn a_first_value_recorded_inside() {
    let _subscriber = under(layer());
    let span = info_span!("serve", request_id = Empty);
    span.in_scope(|| {
        assert_eq!(in_force(), None);
        tracing::Span::current().record("request_id", 7);
        assert_eq!(in_force(), some("7"));
    });
    assert_eq!(in_force(), None);
    assert_eq!(span.in_scope(in_force), some("7"));
    span.in_scope(|| {
        info_span!("without").in_scope(|| {
            span.record("request_id", 8);
            assert_eq!(in_force(), some("7"), "inherited when it was made");
        });
        let outside = info_span!(parent: None, "without");
        outside.in_scope(|| assert_eq!(in_force(), some("8"), "of the span around it"));
    });
}

#[test]
fn tags_of_many_spans_at_once() {
    let _subscriber = under(layer());
    let spans: Vec<_> = (0..5000).map(|number| info_span!("serve", request_id = number)).collect();
    for (number, span) in spans.iter().enumerate().rev() {
        assert_eq!(span.in_scope(in_force), Some(number.to_string()));
    }
    drop(spans);
    assert_eq!(info_span!("serve").in_scope(in_force), None, "the number of a closed span");
}

#[test]
fn exits_out_of_order() {
    let _subscriber = under(layer());
    let (first, second) = (info_span!("serve", request_id = "1"), info_span!("serve", request_id = "2"));
    let (in_first, in_second, again) = (first.enter(), second.enter(), first.enter());
    assert_eq!(in_force(), some("1"));
    drop(in_first);
    drop(again);
    assert_eq!(in_force(), some("2"));
    drop(in_second);
    assert_eq!(in_force(), None);
}

#[test]
fn the_innermost_of_spans_tags_and_futures_counts() {
    let _subscriber = under(layer());
    let (span, bare) = (info_span!("serve", request_id = "span"), info_span!("bare"));
    let in_span = span.enter();
    let entered = enter_tag("entered");
    let in_bare = bare.enter();
    assert_eq!(in_force(), some("entered"));
    let inner = info_span!(parent: None, "inner", request_id = "inner").entered();
    assert_eq!(in_force(), some("inner"));
    drop(entered);
    assert_eq!(in_force(), some("inner"));
    drop(inner);
    assert_eq!(in_force(), some("span"), "around the span without a tag");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let own = runtime.block_on(with_tag("own", async { (in_force(), span.in_scope(in_force)) }));
    assert_eq!(own, (some("own"), some("span")));
    assert_eq!(in_force(), some("span"));
    drop(in_span);
    drop(in_bare);
    assert_eq!(in_force(), None);
}

#[test]
fn many_threads_make_and_leave_spans() {
    let subscriber = tracing::Dispatch::new(subscriber(layer()));
    thread::scope(|scope| {
        for number in 0..4 {
            let subscriber = &subscriber;
            scope.spawn(move || {
                let _subscriber = tracing::dispatcher::set_default(subscriber);
                for turn in 0..2000 {
                    let expected = format!("{number}-{turn}");
                    let span = info_span!("serve", request_id = %expected);
                    let child = info_span!(parent: &span, "child");
                    assert_eq!(span.in_scope(in_force).as_ref(), Some(&expected));
                    drop(span);
                    assert_eq!(child.in_scope(in_force), Some(expected));
                }
            });
        }
    });
}

/// A child has one thread: no other one would give back a lock that it found taken.
#[test]
fn forked_children_make_spans() {
    let subscriber = tracing::Dispatch::new(subscriber(layer()));
    let make = || {
        let span = info_span!("serve", request_id = "r");
        span.in_scope(in_force) == some("r")
    };
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let _subscriber = tracing::dispatcher::set_default(&subscriber);
                while !is_over.load(Ordering::Relaxed) {
                    assert!(make());
                }
            });
        }
        let _subscriber = tracing::dispatcher::set_default(&subscriber);
        assert!(make());
        let statuses = (0..32).map(|_| {
            // SAFETY: the child makes spans, as its parent did on this thread, and ends. A signal ends it if it waits for ever.
            unsafe {
                let child = libc::fork();
                if child == 0 {
                    libc::alarm(10);
                    libc::_exit((!(0..100).all(|_| make())).into());
                }
                let mut status = -1;
                libc::waitpid(child, &raw mut status, 0);
                status
            }
        });
        let failed = statuses.filter(|status| *status != 0).count();
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(failed, 0, "of 32 children");
    });
}

#[test]
fn one_span_on_two_threads() {
    let _subscriber = under(layer());
    let span = info_span!("serve", request_id = "shared");
    let here = span.enter();
    thread::scope(|scope| {
        scope.spawn(|| {
            assert_eq!(in_force(), None);
            let there = span.enter();
            assert_eq!(in_force(), some("shared"));
            drop(there);
            assert_eq!(in_force(), None);
        });
    });
    assert_eq!(in_force(), some("shared"));
    drop(here);
    assert_eq!(in_force(), None);
}

#[test]
fn a_thread_that_ends_inside_of_a_span() {
    let subscriber = tracing::Dispatch::new(subscriber(layer()));
    thread::spawn(move || {
        tracing::dispatcher::with_default(&subscriber, || {
            std::mem::forget(info_span!("serve", request_id = "kept").entered());
        });
        assert_eq!(in_force(), some("kept"));
    })
    .join()
    .expect("nothing panics at the end of the thread");
}

#[test]
fn a_subscriber_that_is_dropped_before_the_exit() {
    let subscriber = under(layer());
    let entered = info_span!("serve", request_id = "r").entered();
    drop(subscriber);
    assert_eq!(in_force(), some("r"));
    let _another = under(layer());
    let inner = info_span!("serve", request_id = "of another").entered();
    assert_eq!(in_force(), some("of another"));
    drop(entered);
    assert_eq!(in_force(), some("of another"));
    drop(inner);
    assert_eq!(in_force(), None);
}

#[test]
fn spans_of_two_subscribers_with_the_same_number() {
    let outer = under(layer());
    let entered = info_span!("serve", request_id = "r").entered();
    let _inner = under(layer());
    info_span!("serve").in_scope(|| assert_eq!(in_force(), some("r")));
    assert_eq!(in_force(), some("r"));
    info_span!("serve", request_id = "inner").in_scope(|| assert_eq!(in_force(), some("inner")));
    info_span!("serve").in_scope(|| assert_eq!(in_force(), some("r")));
    drop(entered);
    assert_eq!(in_force(), None);
    drop(outer);
}

#[test]
fn a_layer_that_is_reloaded_before_the_exit() {
    let (reloaded, handle) = reload::Layer::new(layer());
    with_default(tracing_subscriber::registry().with(reloaded), || {
        let span = info_span!("serve", request_id = "r", order = "o");
        let entered = span.enter();
        assert_eq!(in_force(), some("r"));
        handle.reload(layer().tag_fields(["order"])).expect("the subscriber is there");
        assert_eq!(in_force(), None, "the tags of a layer end with it");
        let new = info_span!("serve", request_id = "r", order = "o");
        assert_eq!(new.in_scope(in_force), some("o"));
        drop(entered);
        assert_eq!(in_force(), None);
    });
}

#[test]
fn a_layer_that_is_taken_away_inside_of_a_span() {
    let (reloaded, handle) = reload::Layer::new(Some(layer()));
    with_default(tracing_subscriber::registry().with(reloaded), || {
        let span = info_span!("serve", request_id = "r");
        let entered = span.enter();
        handle.reload(None).expect("the subscriber is there");
        drop(entered);
        assert_eq!(in_force(), None);
    });
}

#[test]
fn two_layers() {
    let both = tracing_subscriber::registry().with(layer()).with(layer().tag_fields(["order"]));
    with_default(both, || {
        let (first, second) = (info_span!("serve", request_id = "r"), info_span!("serve", order = "o"));
        let (in_first, in_second) = (first.enter(), second.enter());
        assert_eq!(in_force(), some("o"));
        drop(in_first);
        drop(in_second);
        assert_eq!(in_force(), None);
    });
}

#[test]
fn spans_that_a_filter_hides_have_no_tag() {
    let filtered = tracing_subscriber::registry().with(layer().with_filter(LevelFilter::WARN));
    with_default(filtered, || {
        let hidden = info_span!("serve", request_id = "hidden");
        let shown = tracing::warn_span!(parent: &hidden, "serve", request_id = "shown");
        assert_eq!(hidden.in_scope(|| (in_force(), shown.in_scope(in_force))), (None, some("shown")));
    });
}
