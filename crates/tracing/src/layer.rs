//! The layer.

use std::borrow::Cow;
use std::time::Instant;

use dyntrace::__spans::{EnteredSpan, enter_span, exit_span};
use dyntrace::get_tag_data;
use tracing_core::span::{Attributes, Id, Record};
use tracing_core::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use crate::fields::Fields;
use crate::probes::{event, span};
use crate::rules::Rules;
use crate::tags::{self, LayerTags};

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
    ProbeLayer { rules: Rules::default(), tags: LayerTags::new() }
}

/// A layer that makes tags of spans, and fires probes for spans and events. [`layer`] returns it.
#[derive(Debug)]
#[must_use = "a layer does nothing until a subscriber has it"]
pub struct ProbeLayer {
    rules: Rules,
    tags: LayerTags,
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
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for ProbeLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let concerned = self.rules.concern(attributes.metadata());
        if concerned {
            self.tags.note();
        }
        if self.tags.are_noted() {
            let mut tag = self.rules.find(|finder| {
                if concerned {
                    attributes.record(finder);
                }
            });
            if tag.tag.is_none() {
                let inherited = || self.tags.get(context.span(id)?.parent()?.id().into_u64());
                tag.tag = self.rules.without_field(attributes.metadata(), inherited);
            }
            if concerned || tag.tag.is_some() {
                self.tags.insert(id.into_u64(), tag);
            }
        }
        if span::new::is_enabled() {
            self.announce(attributes, id, &context);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, _: Context<'_, S>) {
        if self.tags.are_noted() {
            self.tags.replace(id.into_u64(), self.rules.find(|finder| values.record(finder)));
        }
    }

    #[inline]
    fn on_enter(&self, id: &Id, context: Context<'_, S>) {
        if span::enter::is_enabled() || span::exit::is_enabled() {
            self.fire_enter(id, &context);
        } else if self.tags.are_noted() {
            self.note(id, None);
        }
    }

    #[inline]
    fn on_exit(&self, id: &Id, context: Context<'_, S>) {
        if span::exit::is_enabled() {
            self.fire_exit(id, &context);
        } else if self.tags.are_noted() {
            exit_span(self.tags.number(), id.into_u64());
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let tag = if self.tags.are_noted() { self.tags.remove(id.into_u64()) } else { None };
        if span::close::is_enabled()
            && let Some(of) = context.span(&id)
        {
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
    #[inline]
    fn note(&self, id: &Id, since: Option<Instant>) {
        enter_span(EnteredSpan { layer: self.tags.number(), id: id.into_u64(), find: tags::find, since });
    }

    #[cold]
    fn fire_enter<S: Subscriber + for<'a> LookupSpan<'a>>(&self, id: &Id, context: &Context<'_, S>) {
        // The exit is to find when the span was entered.
        self.tags.note();
        self.note(id, span::exit::is_enabled().then(Instant::now));
        if span::enter::is_enabled()
            && let Some(of) = context.span(id)
        {
            let tag = get_tag_data();
            span::enter(|| (id.into_u64(), of.name(), of.metadata().target(), tag.as_ref()));
        }
    }

    #[cold]
    fn fire_exit<S: Subscriber + for<'a> LookupSpan<'a>>(&self, id: &Id, context: &Context<'_, S>) {
        // The tag is in force until the exit.
        let tag = get_tag_data();
        let since = exit_span(self.tags.number(), id.into_u64());
        if let Some(of) = context.span(id) {
            let busy = since.map_or(0, |since| u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX));
            span::exit(|| (id.into_u64(), of.name(), of.metadata().target(), tag.as_ref(), busy));
        }
    }

    #[cold]
    fn announce<S>(&self, attributes: &Attributes<'_>, id: &Id, context: &Context<'_, S>)
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        let (metadata, fields, tag) = (attributes.metadata(), fields.json(), self.tags.get(id.into_u64()));
        let parent = context.span(id).and_then(|of| of.parent()).map_or(0, |parent| parent.id().into_u64());
        span::new(|| {
            let (level, file, line) = (level(metadata), metadata.file(), metadata.line().unwrap_or(0));
            let (name, target) = (metadata.name(), metadata.target());
            (id.into_u64(), name, target, tag.as_ref(), &fields, parent, level, file, line)
        });
    }
}

#[cold]
fn fire<S: Subscriber + for<'a> LookupSpan<'a>>(fired: &Event<'_>, context: &Context<'_, S>) {
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
