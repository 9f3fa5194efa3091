//! The spans that the current thread is inside of, if they have a tag or are timed.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use dyntrace::{EnteredTag, Tag, enter_tag};
use tracing_core::span::Id;

thread_local! {
    static OPEN: RefCell<OpenSpans> = const { RefCell::new(OpenSpans { list: Vec::new(), layer: None }) };
}

struct OpenSpans {
    list: Vec<Open>,
    /// The layer that entered a span last.
    layer: Option<Rc<Layer>>,
}

/// A layer, as this thread knows it: counted apart from other threads, so that entering a span writes nothing that they use.
struct Layer(Arc<AtomicBool>);

/// A span that the thread is inside of.
struct Open {
    /// Its number, under its subscriber. Spans of another subscriber have the same numbers.
    span: u64,
    layer: Rc<Layer>,
    entered: Option<EnteredTag>,
    since: Option<Instant>,
}

/// The identity of a layer: whether it has ended.
#[derive(Debug, Default)]
pub(crate) struct Identity(Arc<AtomicBool>);

impl Drop for Identity {
    fn drop(&mut self) {
        // Relaxed: a thread that left the span before it saw this would have found the layer.
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The end of a stay in a span. Dropping it takes back the tag.
pub(crate) struct Left {
    pub(crate) since: Option<Instant>,
    _entered: Option<EnteredTag>,
}

/// Enters a span: puts its tag in force, and notes the time if it is `timed`.
pub(crate) fn enter(layer: &Identity, span: &Id, tag: Option<&Tag>, timed: bool) {
    let (entered, since) = (tag.map(enter_tag), timed.then(Instant::now));
    // At the end of the thread the tag is taken back at once.
    let _ = OPEN.try_with(|open| {
        let Ok(mut open) = open.try_borrow_mut() else { return };
        let layer = open.shared(layer);
        open.list.push(Open { span: span.into_u64(), layer, entered, since });
    });
}

/// Leaves a span: `None` if the thread is not inside of it. If it is several times, the last one counts.
///
/// A program may reload layers: a span that was entered under a layer that has ended is left under another one.
pub(crate) fn leave(layer: &Identity, span: &Id) -> Option<Left> {
    let span = span.into_u64();
    OPEN.try_with(|open| {
        let mut open = open.try_borrow_mut().ok()?;
        let last = |of: &dyn Fn(&AtomicBool) -> bool| {
            open.list.iter().rposition(|open| open.span == span && of(&open.layer.0))
        };
        let place = last(&|of| std::ptr::eq(of, &*layer.0)).or_else(|| last(&|of| of.load(Ordering::Relaxed)))?;
        let Open { entered, since, .. } = open.list.remove(place);
        Some(Left { since, _entered: entered })
    })
    .ok()?
}

/// Changes the tag of a span that the thread is inside of. A span that had none gets it now only if it is the innermost, else when it is
/// entered next.
pub(crate) fn set_tag(layer: &Identity, span: &Id, tag: &Tag) {
    let span = span.into_u64();
    let _ = OPEN.try_with(|open| {
        let Ok(mut open) = open.try_borrow_mut() else { return };
        let innermost = open.list.len().wrapping_sub(1);
        let of_span = |open: &Open| open.span == span && Arc::ptr_eq(&open.layer.0, &layer.0);
        for (place, open) in open.list.iter_mut().enumerate().filter(|(_, open)| of_span(open)) {
            match &open.entered {
                Some(entered) => entered.set(tag),
                None if place == innermost => open.entered = Some(enter_tag(tag)),
                None => {}
            }
        }
    });
}

impl OpenSpans {
    fn shared(&mut self, layer: &Identity) -> Rc<Layer> {
        match &self.layer {
            Some(known) if Arc::ptr_eq(&known.0, &layer.0) => known.clone(),
            _ => self.layer.insert(Rc::new(Layer(layer.0.clone()))).clone(),
        }
    }
}
