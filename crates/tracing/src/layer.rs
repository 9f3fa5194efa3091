//! The layer.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use dyntrace::{Tag, get_tag_data};
use tracing_core::span::{Attributes, Id, Record};
use tracing_core::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::{LookupSpan, SpanRef};

use crate::fields::Fields;
use crate::open::{self, Identity};
use crate::probes::{event, span};
use crate::rules::{Rules, SpanTag};

/// Returns a layer that takes tags from the fields `request_id`, `trace_id` and `traceparent`. Children inherit them.
///
/// ```
/// use tracing_subscriber::prelude::*;
///
/// let subscriber = tracing_subscriber::registry().with(dyntrace_tracing::layer().tag_fields(["order"]));
/// tracing::subscriber::with_default(subscriber, || {
///     let _in_order = tracing::info_span!("serve", order = 17).entered();
///     assert_eq!(dyntrace::get_tag_data().as_deref(), Some("17"));
/// });
/// assert_eq!(dyntrace::get_tag_data(), None);
/// ```
pub fn layer() -> ProbeLayer {
    ProbeLayer { rules: Rules::default(), any_tag: AtomicBool::new(false), identity: Identity::default() }
}

/// A layer that makes tags of spans, and fires probes for spans and events. [`layer`] returns it.
#[derive(Debug)]
#[must_use = "a layer does nothing until a subscriber has it"]
pub struct ProbeLayer {
    rules: Rules,
    /// Whether a span ever could have a tag; until then, spans are not looked up.
    any_tag: AtomicBool,
    identity: Identity,
}

impl ProbeLayer {
    /// Takes tags from these fields instead, in this order of precedence. The field `traceparent` is read as the header of this name: its
    /// trace id is the tag.
    pub fn tag_fields(mut self, names: impl IntoIterator<Item = impl Into<Cow<'static, str>>>) -> ProbeLayer {
        self.rules.fields = names.into_iter().map(Into::into).collect();
        self
    }

    /// Makes the names of these spans their tags, unless a field has a tag.
    ///
    /// ```
    /// use tracing_subscriber::prelude::*;
    ///
    /// let subscriber = tracing_subscriber::registry().with(dyntrace_tracing::layer().tag_spans(["compaction"]));
    /// tracing::subscriber::with_default(subscriber, || {
    ///     let _in_span = tracing::info_span!("compaction").entered();
    ///     assert_eq!(dyntrace::get_tag_data().as_deref(), Some("compaction"));
    /// });
    /// ```
    pub fn tag_spans(mut self, names: impl IntoIterator<Item = impl Into<Cow<'static, str>>>) -> ProbeLayer {
        self.rules.spans = names.into_iter().map(Into::into).collect();
        self
    }

    /// Sets whether spans inherit the tag of their parent: on by default. A span without a tag of its own that is entered inside of its
    /// parent is under the parent's tag in either case.
    pub fn inherit(mut self, inherit: bool) -> ProbeLayer {
        self.rules.inherit = inherit;
        self
    }

    fn may_have_tags(&self) -> bool {
        // Relaxed: the thread that hands a span over to another orders this, too.
        self.any_tag.load(Ordering::Relaxed)
    }
}

impl<S> Layer<S> for ProbeLayer
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let concerned = self.rules.concern(attributes.metadata());
        if concerned && !self.may_have_tags() {
            self.any_tag.store(true, Ordering::Relaxed);
        }
        if self.may_have_tags() || span::new::is_enabled() {
            self.begin(concerned, attributes, id, &context);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if !self.may_have_tags() {
            return;
        }
        let mut finder = self.rules.finder();
        values.record(&mut finder);
        let Some(span) = context.span(id) else { return };
        let changed = {
            let mut extensions = span.extensions_mut();
            let Some(known) = extensions.get_mut::<SpanTag>() else { return };
            if finder.replace(known) { known.tag.clone() } else { None }
        };
        if let Some(tag) = changed {
            open::set_tag(&self.identity, id, &tag);
        }
    }

    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        if self.may_have_tags() || span::enter::is_enabled() || span::exit::is_enabled() {
            self.enter(id, &context);
        }
    }

    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        // Takes back the tag at its end.
        let left = open::leave(&self.identity, id);
        if span::exit::is_enabled()
            && let Some(of) = context.span(id)
        {
            let since = left.as_ref().and_then(|left| left.since);
            let busy = since.map_or(0, |since| u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX));
            let tag = get_tag_data();
            span::exit(|| (id.into_u64(), of.name(), of.metadata().target(), tag.as_ref(), busy));
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        if span::close::is_enabled()
            && let Some(of) = context.span(&id)
        {
            let tag = tag_of(&of);
            span::close(|| (id.into_u64(), of.name(), of.metadata().target(), tag.as_ref()));
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        if event::is_enabled() {
            fire(event, &context);
        }
    }
}

impl ProbeLayer {
    /// Gives a new span its tag, and fires its probe.
    fn begin<S>(&self, concerned: bool, attributes: &Attributes<'_>, id: &Id, context: &Context<'_, S>)
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        let Some(of) = context.span(id) else { return };
        let mut tag = self.rules.of_new(attributes.metadata(), || of.parent().and_then(|parent| tag_of(&parent)));
        if concerned {
            let mut finder = self.rules.finder();
            attributes.record(&mut finder);
            finder.replace(&mut tag);
        }
        if span::new::is_enabled() {
            announce(&of, attributes, tag.tag.as_ref());
        }
        if concerned || tag.tag.is_some() {
            of.extensions_mut().replace(tag);
        }
    }

    fn enter<S>(&self, id: &Id, context: &Context<'_, S>)
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        let Some(of) = context.span(id) else { return };
        let timed = span::exit::is_enabled();
        let tag = of.extensions().get::<SpanTag>().map(|of_span| of_span.tag.clone());
        if tag.is_some() || timed {
            open::enter(&self.identity, id, tag.flatten().as_ref(), timed);
        }
        if span::enter::is_enabled() {
            let tag = get_tag_data();
            span::enter(|| (id.into_u64(), of.name(), of.metadata().target(), tag.as_ref()));
        }
    }
}

/// The tag that a span puts in force.
fn tag_of<'a, S: LookupSpan<'a>>(span: &SpanRef<'a, S>) -> Option<Tag> {
    span.extensions().get::<SpanTag>()?.tag.clone()
}

#[cold]
fn announce<'a, S: LookupSpan<'a>>(of: &SpanRef<'a, S>, attributes: &Attributes<'_>, tag: Option<&Tag>) {
    let mut fields = Fields::default();
    attributes.record(&mut fields);
    let (metadata, fields) = (attributes.metadata(), fields.json());
    let parent = of.parent().map_or(0, |parent| parent.id().into_u64());
    span::new(|| {
        let (level, file, line) = (level(metadata), metadata.file(), metadata.line().unwrap_or(0));
        (of.id().into_u64(), metadata.name(), metadata.target(), tag, &fields, parent, level, file, line)
    });
}

#[cold]
fn fire<S>(fired: &Event<'_>, context: &Context<'_, S>)
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let mut fields = Fields::default();
    fired.record(&mut fields);
    let (metadata, message, number) = (fired.metadata(), fields.message.take(), fields.number.unwrap_or(0));
    let (fields, tag) = (fields.json(), get_tag_data());
    let span = context.event_span(fired).map_or(0, |span| span.id().into_u64());
    event(|| {
        let (level, file, line) = (level(metadata), metadata.file(), metadata.line().unwrap_or(0));
        (level, metadata.target(), message.as_ref(), &fields, tag.as_ref(), number, span, file, line)
    });
}

fn level(metadata: &Metadata<'_>) -> i32 {
    match *metadata.level() {
        Level::ERROR => 1,
        Level::WARN => 2,
        Level::INFO => 3,
        Level::DEBUG => 4,
        Level::TRACE => 5,
    }
}
