//! The future of a traced asynchronous function owns its arguments, also those, and the parts, that its body does not name.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use dyntrace::trace::{Limits, Session};
use dyntrace::traced;
use tokio::task::yield_now;

/// Shows by its count whether it lives.
struct CountedArgument {
    _count: Arc<()>,
}

struct Job {
    _kept: CountedArgument,
    name: String,
}

#[traced(skip(_kept))]
async fn hidden(_kept: CountedArgument) {
    yield_now().await;
}

#[traced]
impl Job {
    async fn names_a_part(self) -> usize {
        yield_now().await;
        self.name.len()
    }

    async fn names_nothing(self) {
        yield_now().await;
    }
}

#[traced]
async fn unnamed(_: CountedArgument) {
    yield_now().await;
}

#[traced]
async fn part((number, _): (u32, CountedArgument)) -> u32 {
    yield_now().await;
    number
}

#[traced(caller)]
async fn of_a_caller(_: CountedArgument) {
    yield_now().await;
}

/// Checks that what the future got lives until it ends.
fn check<F: Future>(name: &str, future: impl FnOnce(CountedArgument) -> F) {
    let count = Arc::new(());
    let mut future = pin!(future(CountedArgument { _count: Arc::clone(&count) }));
    let context = &mut Context::from_waker(Waker::noop());
    assert!(future.as_mut().poll(context).is_pending());
    assert_eq!(Arc::strong_count(&count), 2, "{name}: dropped before the body has ended");
    assert!(matches!(future.as_mut().poll(context), Poll::Ready(_)));
    assert_eq!(Arc::strong_count(&count), 1, "{name}: kept after the end");
}

fn check_all() {
    let job = |kept| Job { _kept: kept, name: "a name".to_owned() };
    check("names_a_part", |kept| job(kept).names_a_part());
    check("names_nothing", |kept| job(kept).names_nothing());
    check("hidden", hidden);
    check("unnamed", unnamed);
    check("part", |kept| part((1, kept)));
    check("of_a_caller", of_a_caller);
}

#[tokio::test]
async fn a_future_owns_its_arguments_to_its_end() {
    check_all();
    let session = Session::start(Limits::default(), |_| ()).unwrap();
    assert!(session.set("**::owned::**").await.unwrap().functions >= 6);
    check_all();
}

/// Notes its letter when it is dropped.
struct Letter<'l>(char, &'l Mutex<String>);

impl Drop for Letter<'_> {
    fn drop(&mut self) {
        self.1.lock().unwrap().push(self.0);
    }
}

type Pair<'l> = (Letter<'l>, Letter<'l>);

fn untraced<'l>(_a: Letter<'l>, _: Letter<'l>, (_c, _): Pair<'l>, _: Letter<'l>, _f: Letter<'l>) {}

#[traced(skip(_a, _f))]
fn traced_alike<'l>(_a: Letter<'l>, _: Letter<'l>, (_c, _): Pair<'l>, _: Letter<'l>, _f: Letter<'l>) {}

#[traced(skip(_a, _f))]
async fn traced_later<'l>(_a: Letter<'l>, _: Letter<'l>, (_c, _): Pair<'l>, _: Letter<'l>, _f: Letter<'l>) {}

#[test]
fn arguments_are_dropped_in_the_order_of_an_untraced_function() {
    let dropped = |call: fn(Letter<'_>, Letter<'_>, Pair<'_>, Letter<'_>, Letter<'_>)| {
        let letters = Mutex::new(String::new());
        let [a, b, c, d, e, f] = ['a', 'b', 'c', 'd', 'e', 'f'].map(|letter| Letter(letter, &letters));
        call(a, b, (c, d), e, f);
        letters.into_inner().unwrap()
    };
    let order = dropped(untraced);
    assert_eq!(dropped(traced_alike), order);
    let later = dropped(|a, b, pair, e, f| {
        let future = pin!(traced_later(a, b, pair, e, f));
        assert!(future.poll(&mut Context::from_waker(Waker::noop())).is_ready());
    });
    assert_eq!(later, order);
}
