//! A body with a tag.

use std::pin::Pin;
use std::task::{Context, Poll};

use dyntrace::Tagged;
use dyntrace::tag::WithTag;
use http_body::{Body, Frame, SizeHint};

pin_project_lite::pin_project! {
    /// A body that sees a tag while it is polled and while it is dropped. Data, errors, size and end are those of `B`.
    ///
    /// [`TagLayer`](crate::TagLayer) makes it of each response's body. Use it by itself for other bodies:
    ///
    /// ```
    /// use axum::body::Body;
    /// use dyntrace_tower::TaggedBody;
    /// use http_body_util::BodyExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), axum::Error> {
    /// let body = dyntrace::with_tag("upload 3", async { TaggedBody::new(Body::from("text")) }).await;
    /// assert_eq!(body.collect().await?.to_bytes(), "text");
    /// # Ok(())
    /// # }
    /// ```
    pub struct TaggedBody<B> {
        #[pin]
        body: WithTag<B>,
    }
}

impl<B> TaggedBody<B> {
    /// Gives `body` the tag that operations of the current process carry now.
    pub fn new(body: B) -> TaggedBody<B> {
        TaggedBody { body: body.with_current_tag() }
    }
}

/// The default body of `B`, with the current tag.
impl<B: Default> Default for TaggedBody<B> {
    fn default() -> TaggedBody<B> {
        TaggedBody::new(B::default())
    }
}

impl<B: Body> Body for TaggedBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        self.project().body.in_scope(|body| body.poll_frame(context))
    }

    fn is_end_stream(&self) -> bool {
        self.body.get_ref().is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.get_ref().size_hint()
    }
}
