//! Futures, streams, readers, writers and other things with a tag of their own.

mod io;

use std::pin::Pin;
use std::task::{Context, Poll};

use crate::scope::{self, Scoped};

use super::{OwnTags, TAGS, Tag, TagState, of_current};

/// Runs `future` with a tag of its own, in any runtime. `future` may also be a stream, a reader, a writer or another thing: see
/// [`WithTag`].
///
/// Inside, [`put_tag`](crate::put_tag) and the other functions change the state of this future only. Calls nest: the innermost counts.
/// The process stays the same.
///
/// Tasks that the future starts with [`dyntrace::spawn`](crate::spawn) or [`dyntrace::spawn_blocking`](crate::spawn_blocking) have
/// the tag, too. Tasks that it starts with `tokio::spawn` have it if their future is
/// [`with_current_tag()`](Tagged::with_current_tag). The tag goes [with messages](crate::spread_tag) if the tag of the caller of
/// `with_tag` does.
///
/// # Cancellation
///
/// A future that is dropped early sees its own tag while it is dropped.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), tokio::task::JoinError> {
/// let task = tokio::spawn(dyntrace::with_tag("request 7", async {
///     tokio::task::yield_now().await;
///     let child = dyntrace::spawn(async { dyntrace::get_tag() });
///     (dyntrace::get_tag(), child.await)
/// }));
/// let (own, child) = task.await?;
/// assert_eq!(own.as_deref(), Some("request 7"));
/// assert_eq!(child?, own);
/// assert_eq!(dyntrace::get_tag(), None);
/// # Ok(())
/// # }
/// ```
pub fn with_tag<T>(tag: impl Into<Tag>, future: T) -> WithTag<T> {
    let spreads = scope::read(&TAGS, |tags| Some(&tags.spreads)).unwrap_or(false);
    let tags = TagState { own: Some(tag.into()), received: None, spreads, of_operation: true };
    WithTag { tagged: Scoped::new(tags, future) }
}

/// [`with_tag`] as a method, and one that takes the current tag along.
///
/// All types have these methods; they make sense for those that [`WithTag`] lists.
///
/// ```
/// use dyntrace::Tagged;
/// use tokio::task::JoinSet;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), tokio::task::JoinError> {
/// let request = async {
///     let mut set = JoinSet::new();
///     set.spawn(async { dyntrace::get_tag() }.with_current_tag());
///     set.join_next().await
/// };
/// let child = request.tagged("request 7").await.expect("one task")?;
/// assert_eq!(child.as_deref(), Some("request 7"));
/// # Ok(())
/// # }
/// ```
pub trait Tagged: Sized {
    /// Gives this future, stream, reader or writer a tag of its own: [`with_tag`]`(tag, self)`.
    fn tagged(self, tag: impl Into<Tag>) -> WithTag<Self> {
        with_tag(tag, self)
    }

    /// Gives this future, stream, reader or writer the tag that operations carry now, wherever it is polled later: in a task that
    /// `tokio::spawn` or a `JoinSet` starts, in another runtime, or as the body of a response. Without a tag, it has none there.
    ///
    /// The tag becomes its own, also one that the current process has only received. The process is the one that polls, so the
    /// sequential trace token stays behind: a future that takes it along is one of
    /// [`process::child`](crate::process::child).
    fn with_current_tag(self) -> WithTag<Self> {
        WithTag { tagged: of_current(self) }
    }
}

impl<T> Tagged for T {}

pin_project_lite::pin_project! {
    /// A future, stream, reader, writer or other thing with a tag of its own, made by [`with_tag`] and [`Tagged`].
    ///
    /// It implements `Future`, `Stream` (feature `stream`), and tokio's `AsyncRead`, `AsyncBufRead`, `AsyncSeek` and `AsyncWrite`,
    /// if `T` does. `T` sees its tag whenever it is polled, and while it is dropped.
    ///
    /// ```
    /// use dyntrace::Tagged;
    /// use tokio::io::AsyncReadExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// let mut file = dyntrace::fs::File::open("Cargo.toml").await?.tagged("request 7");
    /// let mut text = String::new();
    /// // Each READ has the tag, and the CLOSE as well.
    /// file.read_to_string(&mut text).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Another crate wraps further traits by [`in_scope`](WithTag::in_scope):
    ///
    /// ```
    /// use std::pin::Pin;
    /// use std::task::{Context, Poll};
    /// use dyntrace::tag::WithTag;
    ///
    /// trait Body {
    ///     fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<String>>;
    /// }
    ///
    /// impl<B: Body> Body for WithTag<B> {
    ///     fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<String>> {
    ///         self.in_scope(|body| body.poll_frame(cx))
    ///     }
    /// }
    /// ```
    ///
    /// If the crate that defines the trait is not its own, it does so for a type of its own that contains a `WithTag`.
    #[must_use = "futures do nothing unless polled"]
    pub struct WithTag<T> {
        #[pin]
        tagged: OwnTags<T>,
    }
}

impl<T> WithTag<T> {
    /// Calls `act` with the value, in the scope of its tag.
    ///
    /// If `act` panics, the tag that was in force before is so again.
    ///
    /// ```
    /// use std::pin::pin;
    ///
    /// let mut lines = pin!(dyntrace::with_tag("import", vec!["one", "two"]));
    /// let line = lines.as_mut().in_scope(|lines| {
    ///     assert_eq!(dyntrace::get_tag().as_deref(), Some("import"));
    ///     lines.get_mut().pop()
    /// });
    /// assert_eq!((line, dyntrace::get_tag()), (Some("two"), None));
    /// ```
    pub fn in_scope<'a, R>(self: Pin<&'a mut Self>, act: impl FnOnce(Pin<&'a mut T>) -> R) -> R {
        self.project().tagged.within(act)
    }

    /// Replaces the value by what `act` makes of it, in the scope of its tag. The new value keeps the tag, also one that `act` sets.
    ///
    /// ```
    /// use std::future::ready;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let call = dyntrace::with_tag("request 7", "GET /").map(|request| {
    ///     assert_eq!(dyntrace::get_tag().as_deref(), Some("request 7"));
    ///     ready(request.len())
    /// });
    /// assert_eq!(call.await, 5);
    /// # }
    /// ```
    pub fn map<U>(self, act: impl FnOnce(T) -> U) -> WithTag<U> {
        WithTag { tagged: self.tagged.map(act) }
    }

    /// Returns the value, for methods that only look at it. They run outside of the scope of its tag.
    pub fn get_ref(&self) -> &T {
        self.tagged.get_ref()
    }
}

impl<F: Future> Future for WithTag<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.in_scope(|future| future.poll(context))
    }
}

#[cfg(feature = "stream")]
impl<S: futures_core::Stream> futures_core::Stream for WithTag<S> {
    type Item = S::Item;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<S::Item>> {
        self.in_scope(|stream| stream.poll_next(context))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.get_ref().size_hint()
    }
}
