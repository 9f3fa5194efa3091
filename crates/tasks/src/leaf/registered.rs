//! Sockets, other registered descriptors, channels and streams of h2 in a future that was written by hand, such as hyper's connection.
//!
//! Such a future does not say for which of them it waits. The runtime's record of a descriptor does: it has the waker that is
//! called when the descriptor becomes readable, and the one for writable. A channel has the waker of its receiver. A waker of
//! this task means that the task waits.
//!
//! A future may poll its socket with a waker of its own that wakes the task in turn, as WebSocket streams do. Such a waker points
//! to a shared value that has the task's waker. A process of dyntrace has such a waker, too, and knows it.

use std::collections::HashSet;

use super::{descriptor, h2, in_mutex};
use crate::dwarf::{Shape, Type, TypeId, Types};
use crate::future::{Value, Walk, is_future_object, is_owned, is_select, is_trait_object, limits, own};
use crate::listing::{Await, Ready, WaitsFor};

impl Walk<'_, '_> {
    /// Adds the descriptors, channels and streams in parts of a future that wake the task. A future that waits for one of them only is the
    /// leaf itself. `polled`: `shown` has the channels already.
    pub(crate) fn registered(&self, parts: &[&Value], polled: bool, shown: &mut Await) {
        let mut search = Search {
            walk: self,
            polled,
            followed: HashSet::new(),
            left: limits::VALUES,
            half: None,
            found: Vec::new(),
            forwarders: Vec::new(),
        };
        parts.iter().for_each(|part| search.value(part, 0));
        let found = std::mem::take(&mut search.found);
        let mut found: Vec<Await> = found.into_iter().filter_map(|found| search.shown(found)).collect();
        match &mut found[..] {
            [only] if shown.awaits.is_empty() => shown.waits_for = only.waits_for.take(),
            _ => shown.awaits.append(&mut found),
        }
    }
}

struct Search<'w, 'a, 't> {
    walk: &'w Walk<'a, 't>,
    polled: bool,
    /// Addresses behind pointers, each with the half in which it was reached.
    followed: HashSet<(u64, Option<Ready>)>,
    left: u32,
    /// The one readiness for which what lies around the value waits, if it is one.
    half: Option<Ready>,
    found: Vec<WokenBy>,
    /// Shared values that wake the task when they are woken.
    forwarders: Vec<u64>,
}

enum WokenBy {
    /// A value that has a descriptor and its registration, and the one readiness for which the future waits.
    Source(Value, Option<Ready>),
    /// The receiver of a channel.
    Channel(Value),
    /// A stream of HTTP/2 that wakes the task.
    Stream(Await),
}

impl Search<'_, '_, '_> {
    fn value(&mut self, value: &Value, depth: u32) {
        let types = self.walk.reader.types;
        if depth > limits::STRUCTS || self.left == 0 || !may_register(types, value.kind.id) {
            return;
        }
        self.left -= 1;
        let walk = self.walk;
        if own::is_process(&value.kind) {
            self.forwarders.extend(own::waker(&walk.live, value));
            walk.with_told(value, || self.value_here(value, depth));
        } else {
            self.value_here(value, depth);
        }
    }

    fn value_here(&mut self, value: &Value, depth: u32) {
        let kind = &*value.kind;
        let steady = &self.walk.steady;
        let inner = match step(kind) {
            Step::Stop => return,
            Step::Source => return self.found_source(value),
            Step::Channel => return self.found.push(WokenBy::Channel(value.clone())),
            Step::Stream => {
                let event = h2::read(self.walk, value).filter(|(waker, _)| self.followed.insert((*waker, None)));
                let found = event.map(|(_, waits_for)| Await {
                    future: self.walk.name(value),
                    waits_for: Some(waits_for),
                    ..Await::default()
                });
                return self.found.extend(found.map(WokenBy::Stream));
            }
            Step::Members => {
                let around = self.half;
                // others' wrappers may read to write, as TLS does
                self.half = half(kind).or(around.filter(|_| is_plain(kind)));
                for member in &kind.members {
                    if let Some(inner) = steady.member(value, member) {
                        self.value(&inner, depth + 1);
                    }
                }
                self.half = around;
                return;
            }
            Step::Variant => steady.variant(value).map(|(_, variant)| variant),
            Step::Pointer(_) => steady.target(value),
            Step::Shared => SHARED.iter().find_map(|field| steady.follow(value, &["ptr", "pointer", "*", field])),
            Step::Object => self.walk.behind(value),
        };
        let Some(inner) = inner else { return };
        let first = matches!(step(kind), Step::Variant) || self.followed.insert((inner.address, self.half));
        if first {
            if matches!(step(kind), Step::Shared) && self.forwards(&inner) {
                self.forwarders.push(inner.address);
            }
            self.value(&inner, depth + 1);
        }
    }

    fn found_source(&mut self, source: &Value) {
        let same = self.found.iter_mut().find_map(|found| match found {
            WokenBy::Source(other, half) if other.address == source.address => Some(half),
            _ => None,
        });
        match same {
            Some(half) if *half == self.half => {}
            Some(half) => *half = None,
            None => self.found.push(WokenBy::Source(source.clone(), self.half)),
        }
    }

    fn shown(&self, found: WokenBy) -> Option<Await> {
        match found {
            WokenBy::Source(source, half) => self.source(&source, half),
            WokenBy::Channel(receiver) => self.channel(&receiver),
            WokenBy::Stream(stream) => Some(stream),
        }
    }

    /// Whether a shared value has a waker of this task.
    fn forwards(&self, shared: &Value) -> bool {
        let mut wakers = shared.kind.members.iter().filter(|member| is_waker(self.walk.reader.types, member.kind));
        wakers.any(|member| wakes(self.walk, shared, &[&member.name, "waker", "value"]))
    }

    /// Reads a value that has a descriptor and its registration, if it wakes the task.
    fn source(&self, source: &Value, half: Option<Ready>) -> Option<Await> {
        // other threads change the record
        let live = &self.walk.live;
        let record = live.follow(source, &["registration", "shared", "arc"])?;
        let waiters = in_mutex(live, &live.field(&record, "waiters")?, "reader")?;
        let reads = half != Some(Ready::Writable) && self.wakes(&waiters, &["reader"]);
        let writes = half != Some(Ready::Readable) && self.wakes(&waiters, &["writer"]);
        let ready = Ready::of(reads, writes)?;
        let members = source.kind.members.iter().filter(|member| member.name != "registration");
        let parts = members.filter_map(|member| live.member(source, member));
        let number = parts.into_iter().find_map(|part| descriptor::within(self.walk, &part))?;
        let waits_for = descriptor::describe(self.walk, number, Some(ready));
        Some(Await { future: self.walk.name(source), waits_for: Some(waits_for), ..Await::default() })
    }

    /// Reads the receiver of a channel, if the channel wakes the task.
    fn channel(&self, receiver: &Value) -> Option<Await> {
        let channel = self.walk.steady.follow(receiver, &["chan", "inner", "arc"]).filter(|_| !self.polled)?;
        if !self.wakes(&channel, &["rx_waker", "value", "waker", "__0", "value"]) {
            return None;
        }
        let waits_for = WaitsFor::Channel { channel: "mpsc", address: Some(channel.address) };
        Some(Await { future: self.walk.name(receiver), waits_for: Some(waits_for), ..Await::default() })
    }

    /// Whether steps lead to a waker of this task, or to one that wakes it in turn.
    fn wakes(&self, value: &Value, steps: &[&str]) -> bool {
        let data = waker_at(self.walk, value, steps);
        data.is_some_and(|data| self.walk.is_waker(data) || self.forwarders.contains(&data))
    }
}

/// Whether steps lead to a waker of this task.
pub(super) fn wakes(walk: &Walk<'_, '_>, value: &Value, steps: &[&str]) -> bool {
    waker_at(walk, value, steps).is_some_and(|data| walk.is_waker(data))
}

/// Returns the data of the waker to which steps lead. Other threads change wakers.
fn waker_at(walk: &Walk<'_, '_>, value: &Value, steps: &[&str]) -> Option<u64> {
    let live = &walk.live;
    let waker = live.follow(value, steps)?;
    live.number(&live.follow(&waker, &["?", "waker", "data"])?)
}

/// Whether values of this type keep the waker of a task for others: the futures crate's `AtomicWaker`.
fn is_waker(types: &Types<'_>, kind: TypeId) -> bool {
    types.get(kind).bare().ends_with("::atomic_waker::AtomicWaker")
}

/// Modules of sockets, whose halves have these names.
const NETS: [&str; 2] = ["tokio::net::", "dyntrace_resources::net::"];

/// Returns the one readiness for which a half of a socket waits, or a future of tokio's that reads or writes.
fn half(kind: &Type) -> Option<Ready> {
    let bare = kind.bare();
    let socket = NETS.iter().find_map(|net| bare.strip_prefix(net));
    let future = bare.strip_prefix("tokio::io::util::");
    let begins = |names: &[&str]| future.is_some_and(|future| names.iter().any(|name| future.starts_with(name)));
    if begins(&["read"]) || socket.is_some_and(|socket| socket.ends_with("ReadHalf")) {
        Some(Ready::Readable)
    } else if begins(&["write", "flush", "shutdown"]) || socket.is_some_and(|socket| socket.ends_with("WriteHalf")) {
        Some(Ready::Writable)
    } else {
        None
    }
}

/// Whether a type between a future and its socket only hands on calls that read and calls that write.
fn is_plain(kind: &Type) -> bool {
    ["tokio::", "core::", "alloc::", "dyntrace_resources::net::"].iter().any(|own| kind.path.starts_with(own))
}

/// Receivers of tokio's `mpsc` channels.
const RECEIVERS: [&str; 2] =
    ["tokio::sync::mpsc::bounded::Receiver", "tokio::sync::mpsc::unbounded::UnboundedReceiver"];

/// How the search goes on from a type.
enum Step {
    Stop,
    /// It has a descriptor and its registration.
    Source,
    /// The receiver of an mpsc channel.
    Channel,
    /// The handle of a stream of h2.
    Stream,
    Members,
    Variant,
    Pointer(TypeId),
    Shared,
    Object,
}

fn step(kind: &Type) -> Step {
    if RECEIVERS.contains(&kind.bare()) {
        return Step::Channel;
    }
    if h2::is_handle(kind) {
        return Step::Stream;
    }
    // it has a handle, and can only hear of a reset
    if kind.bare() == "h2::server::SendResponse" {
        return Step::Stop;
    }
    // futures of their own are shown as such
    if kind.is_coroutine() || is_select(kind) || super::of(kind, true).is_some() {
        return Step::Stop;
    }
    let borrowed = |name: &str| is_owned(name) || name.starts_with('&');
    match kind.shape {
        Shape::Pointer(Some(target)) if borrowed(&kind.name) => Step::Pointer(target),
        Shape::Struct if is_trait_object(kind) => {
            if is_owned(&kind.name) && !is_future_object(kind, true) {
                Step::Object
            } else {
                Step::Stop
            }
        }
        Shape::Struct if matches!(kind.bare(), "alloc::sync::Arc" | "alloc::rc::Rc") => Step::Shared,
        Shape::Struct if IGNORED.iter().any(|module| kind.path.starts_with(module)) => Step::Stop,
        Shape::Struct if kind.variants.is_some() => Step::Variant,
        Shape::Struct if kind.member("registration").is_some() => Step::Source,
        Shape::Struct => Step::Members,
        _ => Step::Stop,
    }
}

/// The field of the value that an `Arc` or `Rc` shares.
const SHARED: [&str; 2] = ["data", "value"];

/// Modules whose types lead away from the future.
const IGNORED: [&str; 4] = ["core::task::", "core::marker::", "core::sync::", "tokio::runtime::"];

/// Whether a value of this type may lead to a registered descriptor.
fn may_register(types: &Types<'_>, kind: TypeId) -> bool {
    types.may_register.get(kind, || search(types, kind, 0, &mut HashSet::new()))
}

fn search(types: &Types<'_>, kind: TypeId, depth: u32, seen: &mut HashSet<TypeId>) -> bool {
    // a type that is not known to lead nowhere may lead there
    if depth > limits::DEPTH || seen.len() >= limits::TYPES {
        return true;
    }
    if let Some(known) = types.may_register.known(kind) {
        return known;
    }
    if !seen.insert(kind) {
        return false;
    }
    let kind = types.get(kind);
    let mut next = |kind: TypeId| search(types, kind, depth + 1, seen);
    match step(&kind) {
        Step::Stop => false,
        Step::Source | Step::Channel | Step::Stream | Step::Object => true,
        Step::Members => kind.members.iter().any(|member| next(member.kind)),
        Step::Variant => kind.variants.iter().flat_map(|variants| &variants.list).any(|(_, member)| next(member.kind)),
        Step::Pointer(target) => next(target),
        Step::Shared => kind.parameters.iter().any(|(name, parameter)| {
            name == "T"
                && (next(*parameter) || types.get(*parameter).members.iter().any(|member| is_waker(types, member.kind)))
        }),
    }
}
