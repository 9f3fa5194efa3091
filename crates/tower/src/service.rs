//! The service of the layer.

use std::sync::Arc;
use std::task::{Context, Poll};

use dyntrace::with_tag;
use http::{HeaderValue, Request, Response};
use tower_service::Service;

use crate::TaggedBody;
use crate::future::{Answer, ResponseFuture};
use crate::layer::Rules;

/// The service that [`TagLayer`](crate::TagLayer) makes.
///
/// The service below sees the tag in `call`, while its future and the response body are polled, and while they are dropped. It does not see
/// the tag in `poll_ready`, which is not about one request.
#[derive(Clone, Debug)]
pub struct TagService<S> {
    pub(crate) inner: S,
    pub(crate) rules: Arc<Rules>,
}

impl<S, A, B> Service<Request<A>> for TagService<S>
where
    S: Service<Request<A>, Response = Response<B>>,
{
    type Response = Response<TaggedBody<B>>;
    type Error = S::Error;
    type Future = ResponseFuture<S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<A>) -> ResponseFuture<S::Future> {
        let (head, body) = request.into_parts();
        let tag = self.rules.tag(&head);
        let header = self.rules.response_header.clone();
        let header = header.and_then(|name| Some((name, HeaderValue::from_str(&tag).ok()?)));
        let request = Request::from_parts(head, body);
        let call = with_tag(tag, request).map(|request| Answer::new(self.inner.call(request)));
        ResponseFuture::new(call, header)
    }
}
