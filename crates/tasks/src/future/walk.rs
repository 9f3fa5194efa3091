//! The state of a descent from future to future. Its steps are methods of it, in the files of this room and of the leaves.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::sync::Arc;

use super::copied_memory::CopiedMemory;
use super::value::{Value, Values};
use super::{Reader, limits, names, own};
use crate::dwarf::TypeId;

/// One descent through one task.
pub(crate) struct Walk<'a, 't> {
    pub reader: &'a Reader<'a, 't>,
    /// The cell's copy, and memory that must not change during the descent.
    pub steady: Values<'a, 't>,
    pub(super) copies: &'a CopiedMemory<'a>,
    /// Memory as it is now.
    pub live: Values<'a, 't>,
    values_left: Cell<u32>,
    /// The wakers with which the futures may be polled.
    wakers: RefCell<Vec<Polls>>,
    pub(super) cut: Cell<bool>,
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
    pub(super) fn new(reader: &'a Reader<'a, 't>, steady: &'a CopiedMemory<'a>) -> Walk<'a, 't> {
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

    /// Whether a thread polled the task. Values within its outermost coroutines may be of another type by now.
    pub(super) fn ran(&self) -> bool {
        self.copies.ran()
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
