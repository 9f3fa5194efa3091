//! The layer around a service, without a server: what the service and its body see, and what callers see of them.

use std::convert::Infallible;
use std::future::{Ready, pending, ready};
use std::pin::{Pin, pin};
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};

use dyntrace_tower::{TagLayer, TagService, TaggedBody};
use http::{HeaderMap, Request, Response};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use tower_layer::Layer;
use tower_service::Service;

fn tag() -> Option<String> {
    dyntrace::get_tag().map(|tag| tag.to_string())
}

fn mine() -> TagLayer {
    TagLayer::new().function(|_| Some("mine".into()))
}

/// Reports the tag that it sees when it is dropped.
struct Witness(mpsc::Sender<Option<String>>);

impl Drop for Witness {
    fn drop(&mut self) {
        self.0.send(tag()).unwrap();
    }
}

/// Yields its tag as data, then as a trailer, then an error.
struct Shows(u8, #[expect(dead_code, reason = "it reports its drop")] Witness);

impl Body for Shows {
    type Data = &'static [u8];
    type Error = &'static str;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<&'static [u8]>, &'static str>>> {
        assert_eq!(tag().as_deref(), Some("mine"));
        self.0 += 1;
        Poll::Ready(match self.0 {
            1 => Some(Ok(Frame::data(b"data"))),
            2 => Some(Ok(Frame::trailers(HeaderMap::from_iter([("x".parse().unwrap(), "y".parse().unwrap())])))),
            3 => Some(Err("an error")),
            _ => None,
        })
    }

    fn is_end_stream(&self) -> bool {
        self.0 == 4
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(4 - u64::from(self.0))
    }
}

/// Notes the tags of its methods.
#[derive(Default)]
struct Notes {
    of_ready: Vec<Option<String>>,
    of_call: Vec<Option<String>>,
}

impl Service<Request<()>> for Notes {
    type Response = Response<()>;
    type Error = &'static str;
    type Future = Ready<Result<Response<()>, &'static str>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), &'static str>> {
        self.of_ready.push(tag());
        Poll::Ready(Err("not ready"))
    }

    fn call(&mut self, _: Request<()>) -> Self::Future {
        self.of_call.push(tag());
        ready(Err("refused"))
    }
}

#[tokio::test]
async fn a_service_sees_the_tag_in_calls_only_and_its_errors_pass() {
    let mut notes = Notes::default();
    let mut service: TagService<_> = mine().response_header("x-tag").layer(&mut notes);
    let mut context = Context::from_waker(Waker::noop());
    assert_eq!(service.poll_ready(&mut context), Poll::Ready(Err("not ready")));
    assert_eq!(service.call(Request::new(())).await.err(), Some("refused"));
    assert_eq!(tag(), None);
    assert_eq!((notes.of_ready, notes.of_call), (vec![None], vec![Some("mine".to_owned())]));
}

/// A service made of a function.
struct From<F>(F);

impl<F, Fut, B> Service<Request<()>> for From<F>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<Response<B>, Infallible>>,
{
    type Response = Response<B>;
    type Error = Infallible;
    type Future = Fut;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<()>) -> Fut {
        (self.0)()
    }
}

#[tokio::test]
async fn a_body_sees_the_tag_until_it_is_dropped_and_stays_what_it_is() {
    let (send, dropped) = mpsc::channel();
    let mut service = mine().layer(From(|| ready(Ok(Response::new(Shows(0, Witness(send.clone())))))));
    let mut body: TaggedBody<Shows> = service.call(Request::new(())).await.unwrap().into_body();
    assert_eq!((body.size_hint().exact(), body.is_end_stream()), (Some(4), false));
    assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), b"data");
    assert_eq!(body.frame().await.unwrap().unwrap().into_trailers().unwrap()["x"], "y");
    assert_eq!(body.frame().await.unwrap().err(), Some("an error"));
    assert_eq!((body.size_hint().exact(), body.is_end_stream()), (Some(1), false));
    assert!(body.frame().await.is_none() && body.is_end_stream());
    assert!(dropped.try_recv().is_err());
    std::thread::spawn(move || drop(body)).join().unwrap();
    assert_eq!(dropped.recv().unwrap().as_deref(), Some("mine"));
}

#[tokio::test]
async fn a_body_has_the_tag_that_the_handler_sets_last() {
    let (send, dropped) = mpsc::channel();
    let handler = move || {
        let witness = Witness(send.clone());
        async {
            dyntrace::put_tag("of the user").unwrap();
            Ok(Response::new(witness))
        }
    };
    let response = mine().response_header("x-tag").layer(From(handler)).call(Request::new(())).await.unwrap();
    assert_eq!(response.headers()["x-tag"], "mine");
    drop(response);
    assert_eq!(dropped.recv().unwrap().as_deref(), Some("of the user"));
}

#[tokio::test]
async fn a_response_that_is_dropped_early_sees_the_tag() {
    let (send, dropped) = mpsc::channel();
    let handler = move || {
        let witness = Witness(send.clone());
        async move {
            let _witness = witness;
            pending::<Result<Response<()>, Infallible>>().await
        }
    };
    let mut service = mine().layer(From(handler));
    {
        let mut polled = pin!(service.call(Request::new(())));
        assert!(polled.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    assert_eq!(dropped.recv().unwrap().as_deref(), Some("mine"));
    drop(service.call(Request::new(())));
    assert_eq!(dropped.recv().unwrap().as_deref(), Some("mine"));
}
