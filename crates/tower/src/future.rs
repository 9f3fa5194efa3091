//! The future of a response.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use dyntrace::tag::WithTag;
use http::{HeaderName, HeaderValue, Response};

use crate::TaggedBody;

/// The header that the response gets.
pub(crate) type Header = Option<(HeaderName, HeaderValue)>;

pin_project_lite::pin_project! {
    /// The future of [`TagService`](crate::TagService).
    ///
    /// # Cancellation
    ///
    /// If it is dropped early, the future of the service below sees the tag meanwhile.
    #[must_use = "futures do nothing unless polled"]
    pub struct ResponseFuture<F> {
        #[pin]
        answer: WithTag<Answer<F>>,
        header: Header,
    }
}

impl<F> ResponseFuture<F> {
    pub(crate) fn new(answer: WithTag<Answer<F>>, header: Header) -> ResponseFuture<F> {
        ResponseFuture { answer, header }
    }
}

impl<F, B, E> Future for ResponseFuture<F>
where
    F: Future<Output = Result<Response<B>, E>>,
{
    type Output = Result<Response<TaggedBody<B>>, E>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let mut response = ready!(this.answer.poll(context))?;
        if let Some((name, value)) = this.header.take() {
            response.headers_mut().entry(name).or_insert(value);
        }
        Poll::Ready(Ok(response))
    }
}

pin_project_lite::pin_project! {
    /// The future of the service below. Polled in the scope of the tag, so the body takes along the tag that the handler has set last.
    pub(crate) struct Answer<F> {
        #[pin]
        future: F,
    }
}

impl<F> Answer<F> {
    pub(crate) fn new(future: F) -> Answer<F> {
        Answer { future }
    }
}

impl<F, B, E> Future for Answer<F>
where
    F: Future<Output = Result<Response<B>, E>>,
{
    type Output = Result<Response<TaggedBody<B>>, E>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let response = ready!(self.project().future.poll(context))?;
        Poll::Ready(Ok(response.map(TaggedBody::new)))
    }
}
