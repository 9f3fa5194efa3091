//! Asynchronous functions: the call is the first poll; the end is the completion, a panic or the drop.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use super::call::Hit;
use crate::breakpoint::event::caller::Origin;
use crate::breakpoint::site::Site;
use crate::breakpoint::value::Value;

/// Runs the body, and makes the events that sessions want.
#[doc(hidden)]
pub async fn hit_future<F: Future>(
    body: impl FnOnce(Option<&mut Hit>) -> F,
    value: impl Fn(&F::Output) -> Value<'_>,
    site: &'static Site,
    caller: Option<&'static Location<'static>>,
) -> F::Output {
    // Taken during the first poll: the stack has the futures and the executor that poll.
    match Hit::begin(site, caller.map_or(Origin::Unknown, Origin::Location), crate::__traced_mark!()) {
        None => body(None).await,
        Some(hit) => {
            let mut hit = hit.by_polls();
            let future = body(Some(&mut hit));
            let (result, ended) = Traced { future, hit: Some(hit), polled: Duration::ZERO }.await;
            ended.hit.returned(Some(ended.polled), &|| value(&result));
            result
        }
    }
}

pin_project_lite::pin_project! {
    struct Traced<F> {
        #[pin]
        future: F,
        // `None` after the end.
        hit: Option<Hit>,
        polled: Duration,
    }

    impl<F> PinnedDrop for Traced<F> {
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            if let Some(hit) = this.hit.take() {
                hit.cancelled(*this.polled);
            }
        }
    }
}

const NOT_AGAIN: &str = "a future is not polled after it has ended";

struct Ended {
    hit: Hit,
    polled: Duration,
}

impl<F: Future> Future for Traced<F> {
    type Output = (F::Output, Ended);

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let begun = Instant::now();
        // A future that panicked is not polled again, and the panic goes on.
        let hit = this.hit.as_mut().expect(NOT_AGAIN);
        let answer = hit.poll(|| catch_unwind(AssertUnwindSafe(|| this.future.poll(cx))));
        *this.polled += begun.elapsed();
        let result = match answer {
            Ok(answer) => ready!(answer),
            Err(payload) => {
                panicked(this.hit, *this.polled, &*payload);
                resume_unwind(payload)
            }
        };
        let hit = this.hit.take().expect(NOT_AGAIN);
        Poll::Ready((result, Ended { hit, polled: *this.polled }))
    }
}

fn panicked(hit: &mut Option<Hit>, polled: Duration, payload: &(dyn Any + Send)) {
    if let Some(hit) = hit.take() {
        hit.panicked(Some(polled), payload);
    }
}
