//! The layer: how requests get their tags.

use std::sync::Arc;

use dyntrace::Tag;
use http::HeaderName;
use http::request::Parts;
use tower_layer::Layer;

use crate::TagService;
use crate::source::{self, Source};

/// Gives each request a tag, around the service below and the response body.
///
/// It looks for the tag in the order of the calls of [`header`](TagLayer::header), [`traceparent`](TagLayer::traceparent) and
/// [`function`](TagLayer::function). If none of them has one, it generates a tag: `req-` and a number that counts the generated tags of
/// this process.
///
/// ```
/// use dyntrace_tower::TagLayer;
///
/// // All tags are generated.
/// let plain = TagLayer::new();
/// // From a proxy's header, else by tenant.
/// let by_tenant = TagLayer::new().header("x-request-id").function(|request| {
///     let host = request.uri.host()?;
///     Some(host.split_once('.')?.0.into())
/// });
/// ```
#[derive(Clone, Debug, Default)]
pub struct TagLayer {
    rules: Arc<Rules>,
}

/// Shared by the services of one layer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    sources: Vec<Source>,
    pub(crate) response_header: Option<HeaderName>,
}

impl TagLayer {
    /// The most bytes of a header's value that become a tag: 128. A longer value counts as absent, because a cut one could equal
    /// another request's.
    pub const LONGEST: usize = source::LONGEST;

    /// A layer that generates all tags.
    #[must_use]
    pub fn new() -> TagLayer {
        TagLayer::default()
    }

    /// Takes the value of this request header, the first if there are several. It counts if it has 1 to
    /// [`LONGEST`](TagLayer::LONGEST) bytes of visible ASCII without spaces.
    ///
    /// # Panics
    ///
    /// Panics if `name` is not a header name in lower case.
    #[must_use]
    pub fn header(self, name: &'static str) -> TagLayer {
        self.source(Source::Header(HeaderName::from_static(name)))
    }

    /// Takes the trace id of the request header `traceparent` of W3C Trace Context: 32 hexadecimal digits. An invalid header, or several
    /// of them, count as absent.
    #[must_use]
    pub fn traceparent(self) -> TagLayer {
        self.source(Source::TraceParent)
    }

    /// Takes the tag that `function` makes of the request's head; `None` means that it has none. Tracers see up to 511 bytes of it.
    #[must_use]
    pub fn function(self, function: impl Fn(&Parts) -> Option<Tag> + Send + Sync + 'static) -> TagLayer {
        self.source(Source::Function(Arc::new(function)))
    }

    /// Adds the request's tag to the response as this header, unless the response has that header already, or the tag cannot be
    /// the value of a header. An error of the service below has no response.
    ///
    /// # Panics
    ///
    /// Panics if `name` is not a header name in lower case.
    #[must_use]
    pub fn response_header(mut self, name: &'static str) -> TagLayer {
        Arc::make_mut(&mut self.rules).response_header = Some(HeaderName::from_static(name));
        self
    }

    fn source(mut self, source: Source) -> TagLayer {
        Arc::make_mut(&mut self.rules).sources.push(source);
        self
    }
}

impl Rules {
    /// Returns the tag of a request.
    pub(crate) fn tag(&self, request: &Parts) -> Tag {
        self.sources.iter().find_map(|source| source.tag(request)).unwrap_or_else(source::generated)
    }
}

impl<S> Layer<S> for TagLayer {
    type Service = TagService<S>;

    fn layer(&self, inner: S) -> TagService<S> {
        TagService { inner, rules: Arc::clone(&self.rules) }
    }
}
