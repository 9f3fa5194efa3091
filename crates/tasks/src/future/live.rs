//! The parts of a value that have values: no padding, and no variables of other variants, in whose place old bytes may stand.

use std::ops::Range;

use super::Layout;
use super::value::{Value, Values};
use crate::dwarf::{Shape, Types};
use crate::memory::Memory;

/// Structs, enums and arrays that lie in each other. Those further within are taken as a whole.
const DEPTH: u32 = 64;

/// Elements of an array that are looked at one by one, at most.
const ELEMENTS: u64 = 64;

impl Layout {
    /// Passes to `take` the parts of the `Core` of the cell at `cell` that have values, as `memory` has it. Returns the whole `Core`.
    pub(crate) fn live(
        &self,
        types: &Types<'_>,
        memory: &dyn Memory,
        cell: u64,
        mut take: impl FnMut(Range<u64>),
    ) -> Option<Range<u64>> {
        let core = Values { types, memory }.at(self.core, self.core(cell)?);
        let whole = core.address..core.address.checked_add(core.kind.size)?;
        parts(&Values { types, memory }, &core, DEPTH, &mut take);
        Some(whole)
    }
}

fn parts(values: &Values<'_, '_>, value: &Value, depth: u32, take: &mut impl FnMut(Range<u64>)) {
    let kind = &*value.kind;
    let Some(end) = value.address.checked_add(kind.size).filter(|_| kind.size > 0) else { return };
    let within = match kind.shape {
        _ if depth == 0 => None,
        _ if kind.variants.is_some() => values.variant(value).map(|(_, variant)| {
            let has_values = !variant.kind.members.is_empty() || variant.kind.variants.is_some();
            Vec::from_iter(has_values.then_some(variant))
        }),
        Shape::Struct if !kind.members.is_empty() => {
            kind.members.iter().map(|member| values.member(value, member)).collect()
        }
        Shape::Array { element, count } if count <= ELEMENTS => {
            let size = kind.size / count.max(1);
            Some((0..count).map(|index| values.at(element, value.address + index * size)).collect())
        }
        _ => None,
    };
    match within {
        Some(within) => within.iter().for_each(|part| parts(values, part, depth - 1, take)),
        None => take(value.address..end),
    }
}
