//! From a task's cell to the tree of futures that it awaits.

mod bytes;
mod collect;
mod copied_memory;
mod coroutine;
mod descent;
#[cfg(test)]
mod fuzz;
mod guards;
mod kinds;
pub(crate) mod limits;
mod live;
pub(crate) mod names;
pub(crate) mod own;
mod tags;
mod texts;
mod unpolled;
mod value;
mod walk;

use std::borrow::Cow;

pub use crate::leaf::Descriptors;
pub(crate) use kinds::{is_future_object, is_owned, is_select, is_trait_object, list};
pub(crate) use tags::tag;
pub(crate) use texts::{string, text};
pub(crate) use value::{Value, Values};
pub(crate) use walk::{Frame, Walk};

use crate::cell::HeaderLayout;
use crate::dwarf::{PolledTask, TypeId, Types};
use crate::listing::{Chain, State};
use crate::memory::{Memory, Piece, Unreadable};
use copied_memory::CopiedMemory;

/// Reads await chains of one program. Cheap to make: one for each look at the program.
pub struct Reader<'a, 't> {
    /// The program's memory.
    pub memory: &'a dyn Memory,
    /// Of the program's file.
    pub types: &'a Types<'t>,
    /// The address in the process of the file's address 0.
    pub bias: u64,
    /// Descriptions of file descriptors by the kernel. `None` for a core file.
    pub descriptors: Option<&'a Descriptors>,
    /// `CLOCK_MONOTONIC` at the time of the look, in nanoseconds: see [`monotonic_now`]. `None` if nothing says it; timers
    /// are unknown leaves then.
    pub now: Option<u64>,
    /// Returns the id of the task with a header at an address.
    pub tasks: &'a (dyn Fn(u64) -> Option<u64> + Sync),
}

/// Returns `CLOCK_MONOTONIC` in nanoseconds. A process in another time namespace may have another.
#[must_use]
pub fn monotonic_now() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    u64::try_from(now.tv_sec).unwrap_or(0).saturating_mul(1_000_000_000).saturating_add(now.tv_nsec.unsigned_abs())
}

/// Where the parts of a cell lie that a chain needs: its header, and its `Core` with scheduler, id, and the future until the task is
/// complete. The same for all tasks with one vtable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    core: TypeId,
    future: TypeId,
    /// Of the core, from the header.
    begins: u64,
    /// Of the header's state, from the header.
    state: u64,
    /// Of both parts.
    length: usize,
}

impl Layout {
    /// Returns the layout of cells with this header, whose vtable has the offset `scheduler`. `None` if debug information does not describe
    /// it.
    #[must_use]
    pub fn of(types: &Types<'_>, header: &HeaderLayout, scheduler: u64, polled: &PolledTask) -> Option<Layout> {
        let core = polled.core?;
        let begins = types.scheduler_in_core(core).and_then(|offset| scheduler.checked_sub(offset))?;
        let size = types.get(core).size;
        let length = begins.checked_add(size).filter(|length| size != 0 && *length <= limits::CELL)?;
        let length = usize::try_from(length).ok()?.max(header.length());
        Some(Layout { core, future: polled.future, begins, state: header.state, length })
    }

    /// Returns the address of the `Core` of the cell whose header is at `cell`.
    #[must_use]
    pub fn core(&self, cell: u64) -> Option<u64> {
        cell.checked_add(self.begins)
    }

    /// Returns both parts of the cell whose header is at `cell`.
    #[must_use]
    pub fn piece(&self, cell: u64) -> Piece {
        Piece { address: cell, length: self.length }
    }
}

impl Reader<'_, '_> {
    /// Reads the chain of the task whose header is at `cell`. `copies` are two copies of its [piece](Layout::piece), one read after
    /// the other.
    ///
    /// The cell's bytes, and the boxes that the chain leads through, are the same before and after the reading; else the
    /// reader tries again, and at last answers [`Chain::Busy`].
    ///
    /// Of a task that runs it reads only the outermost function, at its previous suspension: a poll overwrites the
    /// futures within, and may have freed boxes.
    #[must_use]
    pub fn chain(&self, cell: u64, layout: &Layout, copies: Option<[&[u8]; 2]>) -> Chain {
        let piece = layout.piece(cell);
        let Some(core) = layout.core(cell) else { return Chain::NoTypes };
        let given = copies
            .and_then(|[copy, again]| CopiedMemory::of(self.memory, piece, layout.state, Cow::Borrowed(copy), again));
        let read =
            (0..limits::TRIES).filter_map(|_| CopiedMemory::read(self.memory, piece, layout.state).ok().flatten());
        for (number, steady) in (0..).zip(given.into_iter().chain(read)) {
            // most tasks are idle again at once
            if steady.ran() && number < limits::TRIES / 2 {
                continue;
            }
            let chain = Walk::new(self, &steady).task(layout.core, layout.future, core);
            // in the middle of a poll the boxes may be ahead of the cell
            if !steady.has_outside() || self.runs(cell.wrapping_add(layout.state)) == Ok(false) && steady.unchanged() {
                return chain;
            }
        }
        Chain::Busy
    }

    /// Returns whether a thread polls the task whose state is at this address.
    fn runs(&self, state: u64) -> Result<bool, Unreadable> {
        Ok(State::of(self.memory.word(state)?).running)
    }
}
