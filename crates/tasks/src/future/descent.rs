//! The descent from future to future.

use std::sync::Arc;

use super::collect::Goal;
use super::kinds::is_trait_object;
use super::value::Value;
use super::walk::{Frame, Walk};
use super::{limits, names, own};
use crate::dwarf::{Shape, Type, TypeId, Types};
use crate::leaf;
use crate::listing::{Await, Chain, Progress, WaitsFor};

impl Walk<'_, '_> {
    /// Reads the stage of a `Core`, and the future if it is there.
    pub(super) fn task(&self, core: TypeId, future: TypeId, address: u64) -> Chain {
        let core = self.steady.at(core, address);
        let Some(stage) = self.stage(&core) else { return Chain::NoTypes };
        // It is none of the stages: the cell was given back, or another one is being written.
        let Some((_, variant)) = self.steady.variant(&stage) else { return Chain::Busy };
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
        self.registered(&[value], references, &mut shown);
        if shown.awaits.is_empty() && shown.waits_for.is_none() {
            match self.is_fused(value) {
                true => shown.progress = Progress::Returned,
                false => shown.waits_for = Some(WaitsFor::UnknownLeaf),
            }
        }
        shown
    }

    /// Whether the one field of a future that may have others is `None`: it had one that has ended, or never had any.
    fn is_fused(&self, value: &Value) -> bool {
        let mut inner = value.kind.members.iter().filter(|member| self.contains(member.kind, Goal::Owned));
        let (Some(only), None) = (inner.next(), inner.next()) else { return false };
        let option = self.steady.member(value, only).filter(|only| only.kind.bare() == "core::option::Option");
        let variant = option.and_then(|option| self.steady.variant_of(&option));
        variant.is_some_and(|variant| variant.as_str() == "None")
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
}

/// Wrappers that are the future which they contain.
pub(super) fn transparent(kind: &Type) -> bool {
    kind.name.starts_with("Pin<") || kind.bare().starts_with("core::mem::manually_drop::")
}

/// dyntrace's wrappers of a future, by path without parameters, and the steps to the future.
const WRAPPERS: &[(&str, &[&str])] = &[
    ("dyntrace_files::efile::coop::Cooperative", &["future"]),
    ("dyntrace_files::efile::process_local::ProcessLocal", &["value", "?"]),
    ("dyntrace_processes::process::OwnProcess", &["future"]),
    ("dyntrace_processes::scope::Scoped", &["future", "?"]),
    ("dyntrace_processes::tag::wrapped::WithTag", &["tagged"]),
    ("dyntrace_processes::task::join_handle::JoinHandle", &["waiting"]),
    ("dyntrace_processes::waiting::future::Waiting", &["future"]),
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
