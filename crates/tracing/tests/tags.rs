//! Spans are tags, from their entry to their exit.

use std::thread;

use dyntrace::get_tag_data;
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
        handle.reload(layer().tag_fields(["order"])).expect("the subscriber is there");
        assert_eq!(in_force(), some("r"));
        let new = info_span!("serve", request_id = "r", order = "o");
        assert_eq!(new.in_scope(in_force), some("o"));
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
