//! Where the tag of a request comes from.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dyntrace::Tag;
use http::request::Parts;
use http::{HeaderMap, HeaderName};

use crate::traceparent;

/// A function of the user's.
pub type Function = dyn Fn(&Parts) -> Option<Tag> + Send + Sync;

/// One place to look for a tag.
#[derive(Clone)]
pub enum Source {
    Header(HeaderName),
    TraceParent,
    Function(Arc<Function>),
}

/// The most bytes of a header's value that become a tag.
pub const LONGEST: usize = 128;

impl Source {
    /// Returns the tag of this request, if it has one here.
    pub fn tag(&self, request: &Parts) -> Option<Tag> {
        match self {
            Source::Header(name) => header(&request.headers, name).map(Tag::from),
            Source::TraceParent => trace_id(&request.headers).map(Tag::from),
            Source::Function(function) => function(request),
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Header(name) => write!(f, "header {name}"),
            Source::TraceParent => f.write_str("traceparent"),
            Source::Function(_) => f.write_str("function"),
        }
    }
}

fn header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let value = headers.get(name)?.as_bytes();
    let is_tag = (1..=LONGEST).contains(&value.len()) && value.iter().all(u8::is_ascii_graphic);
    str::from_utf8(value).ok().filter(|_| is_tag)
}

/// The standard allows one such header. With several, it is unknown which one is right.
fn trace_id(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all("traceparent").iter();
    let value = values.next()?;
    traceparent::trace_id(value.as_bytes()).filter(|_| values.next().is_none())
}

/// Returns a tag that no earlier call in this process has returned.
pub fn generated() -> Tag {
    static LAST: AtomicU64 = AtomicU64::new(0);
    // Relaxed: the numbers need only differ.
    Tag::from(format!("req-{}", LAST.fetch_add(1, Ordering::Relaxed) + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag_of(source: &Source, headers: &[(&'static str, &[u8])]) -> Option<String> {
        let (mut parts, ()) = http::Request::new(()).into_parts();
        for (name, value) in headers {
            parts.headers.append(*name, value[..].try_into().unwrap());
        }
        source.tag(&parts).map(|tag| tag.to_string())
    }

    #[test]
    fn a_header_is_a_tag_if_it_is_short_and_visible() {
        let tag =
            |value: &[u8]| tag_of(&Source::Header(HeaderName::from_static("x-request-id")), &[("x-request-id", value)]);
        assert_eq!(tag(b"Root=1-67891233;a"), Some("Root=1-67891233;a".to_owned()));
        assert_eq!(tag(&[b'a'; LONGEST]), Some("a".repeat(LONGEST)));
        let refused: [&[u8]; 6] = [b"", &[b'a'; LONGEST + 1], b"a | RENAME", b"a\tb", b"\xff\xfe", "zażółć".as_bytes()];
        for value in refused {
            assert_eq!(tag(value), None, "{value:?}");
        }
    }

    #[test]
    fn of_a_repeated_header_the_first_counts_but_of_traceparent_none() {
        let name = HeaderName::from_static("x-request-id");
        let twice: [(_, &[u8]); 2] = [("x-request-id", b"one"), ("x-request-id", b"two")];
        assert_eq!(tag_of(&Source::Header(name), &twice), Some("one".to_owned()));
        let parent: (_, &[u8]) = ("traceparent", b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
        assert!(tag_of(&Source::TraceParent, &[parent]).is_some());
        assert_eq!(tag_of(&Source::TraceParent, &[parent, parent]), None);
        assert_eq!(tag_of(&Source::TraceParent, &[]), None);
    }

    #[test]
    fn generated_tags_differ() {
        let tags = || (0..100).map(|_| generated()).collect::<Vec<_>>();
        let others = std::thread::spawn(tags);
        let mut all = tags();
        all.extend(others.join().unwrap());
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 200);
    }
}
