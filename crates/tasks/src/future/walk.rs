//! The descent from future to future.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::sync::Arc;

use super::steady::Steady;
use super::value::{Value, Values};
use super::{Reader, limits, names, own};
use crate::dwarf::{Shape, Type, TypeId, Types};
use crate::leaf;
use crate::listing::{Await, Chain, WaitsFor};

/// One descent through one task.
pub(crate) struct Walk<'a, 't> {
    pub reader: &'a Reader<'a, 't>,
    /// The cell's copy, and memory that must not change during the descent.
    pub steady: Values<'a, 't>,
    pub(super) copies: &'a Steady<'a>,
    /// Memory as it is now.
    pub live: Values<'a, 't>,
    values_left: Cell<u32>,
    /// The wakers with which the futures may be polled.
    wakers: RefCell<Vec<Polls>>,
    cut: Cell<bool>,
    /// Values in which guards may still be looked for.
    pub(super) held_left: Cell<u32>,
    /// Futures that were seen, and the first elements of collections of them.
    seen: RefCell<HashSet<(u64, TypeId)>>,
}

/// A waker with which futures may be polled.
enum Polls {
    /// With these data: of the task's header, or of a part of a collection.
    With(u64),
    /// With that of a process of dyntrace, of which memory is asked when a leaf needs it.
    Of(Value),
}

/// A suspended coroutine around a future, and those around it.
pub(crate) struct Frame<'f> {
    pub outer: Option<&'f Frame<'f>>,
    /// Of the coroutine.
    pub path: &'f str,
    /// Its variant: the variables that live across the await.
    pub variables: &'f Value,
}

impl<'a, 't> Walk<'a, 't> {
    pub(super) fn new(reader: &'a Reader<'a, 't>, steady: &'a Steady<'a>) -> Walk<'a, 't> {
        Walk {
            reader,
            steady: Values { types: reader.types, memory: steady },
            copies: steady,
            live: Values { types: reader.types, memory: steady.live() },
            values_left: Cell::new(limits::VALUES_OF_CHAIN),
            wakers: RefCell::new(vec![Polls::With(steady.address())]),
            cut: Cell::new(false),
            held_left: Cell::new(limits::HELD),
            seen: RefCell::default(),
        }
    }

    /// Reads the stage of a `Core`, and the future if it is there.
    pub(super) fn task(&self, core: TypeId, future: TypeId, address: u64) -> Chain {
        let core = self.steady.at(core, address);
        let Some(stage) = self.stage(&core) else { return Chain::NoTypes };
        let Some((_, variant)) = self.steady.variant(&stage) else { return Chain::NoTypes };
        match variant.kind.members.first().filter(|member| self.reader.types.are_same(member.kind, future)) {
            Some(member) => match self.steady.member(&variant, member) {
                Some(future) => Chain::Read { root: self.future(&future, None, 0) },
                None => Chain::NoTypes,
            },
            None => Chain::Complete,
        }
    }

    /// Peels `CoreStage` and cells from the stage.
    fn stage(&self, core: &Value) -> Option<Value> {
        let mut stage = self.steady.field(core, "stage")?;
        for _ in 0..8 {
            if stage.kind.variants.is_some() {
                return Some(stage);
            }
            stage = self.steady.member(&stage, stage.kind.members.first()?)?;
        }
        None
    }

    /// Reads a future. `Pin`, `Box`, references and [`WRAPPERS`] are not shown themselves.
    pub fn future(&self, value: &Value, frame: Option<&Frame<'_>>, depth: u32) -> Await {
        match own::is_process(&value.kind) {
            true => self.with_told(value, || self.future_here(value, frame, depth)),
            false => self.future_here(value, frame, depth),
        }
    }

    fn future_here(&self, value: &Value, frame: Option<&Frame<'_>>, depth: u32) -> Await {
        let unknown = || Await {
            future: names::of(self.reader.types, &value.kind),
            waits_for: Some(WaitsFor::UnknownLeaf),
            ..Await::default()
        };
        if depth > limits::DEPTH || !self.spend() {
            self.cut.set(true);
            return unknown();
        }
        let kind = &*value.kind;
        if transparent(kind) {
            let inner = kind.members.first().and_then(|member| self.steady.member(value, member));
            return inner.map_or_else(unknown, |inner| self.future(&inner, frame, depth + 1));
        }
        if let Some(steps) = wrapper(kind) {
            let inner = self.steady.follow(value, steps);
            let mut shown = inner.map_or_else(unknown, |inner| self.future(&inner, frame, depth + 1));
            shown.user_tag = shown.user_tag.or_else(|| self.user_tag(value).map(Arc::from));
            shown.process = own::process(&self.steady, value).or(shown.process);
            return shown;
        }
        let inline = kind.is_coroutine() || kind.shape == Shape::Struct && !is_trait_object(kind);
        if self.ran() && (!inline || leaf::of(kind, true).is_some()) {
            return self.by_type(value.kind.id);
        }
        if let Shape::Pointer(_) = kind.shape {
            let target = self.target(value);
            return target.map_or_else(unknown, |target| self.future(&target, frame, depth + 1));
        }
        if is_trait_object(kind) {
            let inner = self.behind(value);
            return inner.map_or_else(unknown, |inner| self.future(&inner, frame, depth + 1));
        }
        if kind.is_coroutine() {
            self.sees(value.address, kind.id);
            return self.coroutine(value, frame, depth);
        }
        if let Some(read) = leaf::of(kind, true) {
            self.sees(value.address, kind.id);
            let found = read(&leaf::Site { walk: self, value, frame, depth });
            let Some(mut found) = found else { return unknown() };
            if found.future.is_empty() {
                found.future = names::of(self.reader.types, kind);
            }
            return found;
        }
        let process = own::process(&self.steady, value);
        let mut shown = Await { future: names::of(self.reader.types, kind), process, ..Await::default() };
        let references = follows_references(kind);
        self.inside(value, frame, references, depth, &mut shown);
        if self.ran() {
            return shown;
        }
        self.held_by(value, &mut shown.holds);
        leaf::registered(self, &[value], references, &mut shown);
        if shown.awaits.is_empty() && shown.waits_for.is_none() {
            shown.waits_for = Some(WaitsFor::UnknownLeaf);
        }
        shown
    }

    /// Whether a thread polled the task. Values within its outermost coroutines may be of another type by now.
    pub(super) fn ran(&self) -> bool {
        self.copies.ran()
    }

    /// Names a future by its type alone, without wrappers.
    pub(super) fn by_type(&self, kind: TypeId) -> Await {
        let types = self.reader.types;
        let mut kind = types.get(kind);
        for _ in 0..limits::WRAPPERS {
            let inner = match kind.shape {
                Shape::Pointer(target) => target,
                _ if transparent(&kind) => kind.members.first().map(|member| member.kind),
                _ => wrapper(&kind).and_then(|steps| wrapped(types, &kind, steps)),
            };
            let Some(inner) = inner else { break };
            kind = types.get(inner);
        }
        Await { future: names::of(types, &kind), ..Await::default() }
    }

    /// Names a future or another value by its type.
    pub fn name(&self, value: &Value) -> Arc<str> {
        names::of(self.reader.types, &value.kind)
    }

    /// Whether the futures here may be polled with a waker that has this data.
    pub fn is_waker(&self, data: u64) -> bool {
        self.wakers.borrow().iter().any(|polls| match polls {
            Polls::With(known) => *known == data,
            Polls::Of(process) => own::waker(&self.live, process) == Some(data),
        })
    }

    /// Reads futures that a collection polls with a waker of its own.
    pub fn with_waker<T>(&self, waker: u64, read: impl FnOnce() -> T) -> T {
        let outer = self.wakers.replace(vec![Polls::With(waker)]);
        let answer = read();
        self.wakers.replace(outer);
        answer
    }

    /// Reads futures that a process of dyntrace polls with its waker, or, while nothing watches its wakes, with that from outside.
    pub fn with_told<T>(&self, process: &Value, read: impl FnOnce() -> T) -> T {
        self.wakers.borrow_mut().push(Polls::Of(process.clone()));
        let answer = read();
        self.wakers.borrow_mut().pop();
        answer
    }

    /// Notes a future, or the first element of a collection. Returns whether it is new.
    pub(super) fn sees(&self, address: u64, kind: TypeId) -> bool {
        self.seen.borrow_mut().insert((address, kind))
    }

    /// Whether a limit may have kept the walk from a future that the task polls.
    pub(super) fn is_cut(&self) -> bool {
        self.cut.get() || self.values_left.get() == 0
    }

    /// Takes one value from the limit of a chain. Returns whether there was one.
    pub(super) fn spend(&self) -> bool {
        let left = self.values_left.get();
        self.values_left.set(left.saturating_sub(1));
        left > 0
    }

    /// Returns the value behind a trait object.
    pub fn behind(&self, object: &Value) -> Option<Value> {
        let data = self.steady.number(&self.steady.field(object, "pointer")?)?;
        let table = self.steady.number(&self.steady.field(object, "vtable")?)?;
        let kind = self.reader.types.behind_vtable(table.checked_sub(self.reader.bias)?)?;
        Some(self.held(self.steady.at(kind, data)))
    }

    /// Follows a pointer, and copies the value behind it.
    pub(super) fn target(&self, pointer: &Value) -> Option<Value> {
        self.steady.target(pointer).map(|target| self.held(target))
    }

    /// Copies a value outside the cell. If that fails, so does each read of it.
    pub fn held(&self, value: Value) -> Value {
        let _ = self.copies.hold(value.address, value.kind.size);
        value
    }
}

/// Wrappers that are the future which they contain.
pub(super) fn transparent(kind: &Type) -> bool {
    kind.name.starts_with("Pin<") || kind.bare().starts_with("core::mem::manually_drop::")
}

/// dyntrace's wrappers of a future, by path without parameters, and the steps to the future.
const WRAPPERS: &[(&str, &[&str])] = &[
    ("dyntrace::efile::coop::Cooperative", &["future"]),
    ("dyntrace::efile::process_local::ProcessLocal", &["value", "?"]),
    ("dyntrace::process::OwnProcess", &["future"]),
    ("dyntrace::scope::Scoped", &["future", "?"]),
    ("dyntrace::tag::wrapped::WithTag", &["tagged"]),
    ("dyntrace::task::join_handle::JoinHandle", &["waiting"]),
    ("dyntrace::waiting::told::Waiting", &["future"]),
];

fn wrapper(kind: &Type) -> Option<&'static [&'static str]> {
    let bare = kind.bare();
    WRAPPERS.iter().find(|(path, _)| *path == bare).map(|(_, steps)| *steps)
}

/// Follows steps from type to type.
fn wrapped(types: &Types<'_>, kind: &Type, steps: &[&str]) -> Option<TypeId> {
    let mut id = kind.id;
    for step in steps {
        let kind = types.get(id);
        id = match *step {
            "?" => {
                let variants = &kind.variants.as_ref()?.list;
                let (_, some) = variants.iter().find(|(_, variant)| variant.name == "Some")?;
                types.get(some.kind).member("__0")?.kind
            }
            name => kind.member(name)?.kind,
        };
    }
    Some(id)
}

pub(crate) fn is_trait_object(kind: &Type) -> bool {
    kind.members.len() == 2 && kind.member("pointer").is_some() && kind.member("vtable").is_some()
}

/// Whether a future polls futures to which it only has shared references: the closures of `select!`, `join!` and `poll_fn`,
/// combinators of streams, and `tokio::io::AsyncReadExt`'s, whose readers may be streams.
fn follows_references(kind: &Type) -> bool {
    let bare = kind.bare();
    bare.ends_with("::poll_fn::PollFn")
        || kind.name.starts_with("{closure_env")
        || bare.ends_with("::Next")
        || bare.starts_with("futures_util::")
        || bare.starts_with("http_body_util::")
        || bare.starts_with("tokio::io::util::read")
}
