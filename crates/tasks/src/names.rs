//! Names futures by an image's symbols.

use std::collections::HashSet;

use object::Object;

use crate::calls;
use crate::image::{Elf, Image};
use crate::listing::Name;
use crate::memory::Memory;
use crate::symbols::Symbols;
use crate::vtables::TaskVtable;

/// Calls from `dealloc` to the function that drops the task, at most: optimised code has one.
const DEPTH: usize = 3;

/// Functions read to name a future, at most.
const FUNCTIONS: usize = 64;

/// Bytes of a function, at most.
const CODE: u64 = 4096;

/// Names the futures of an image's vtables, as far as its symbols go.
pub fn name(memory: &dyn Memory, image: &Image, vtables: &mut [TaskVtable]) {
    let files: Vec<&[u8]> =
        std::iter::once(image.bytes()).chain(image.debug_file.as_ref().map(|file| file.bytes())).collect();
    let symbols = Symbols::read(&files);
    for vtable in vtables {
        if let Some(name) = symbols.polled(vtable.poll) {
            vtable.name = Name::Symbol { name };
        } else if let Some(names) = dropped(memory, image, &symbols, vtable.dealloc) {
            vtable.name = Name::Candidates { names };
        }
    }
}

/// Follows the calls of `dealloc`, nearest first, to a function that drops tasks and whose symbol names the future.
fn dropped(memory: &dyn Memory, image: &Image, symbols: &Symbols<'_>, dealloc: u64) -> Option<Vec<String>> {
    if !symbols.has_dropped() {
        return None;
    }
    let architecture = Elf::parse(image.bytes()).ok()?.architecture();
    let mut seen = HashSet::from([dealloc]);
    let mut callers = vec![dealloc];
    for _ in 0..DEPTH {
        let mut called = Vec::new();
        for caller in callers {
            let end = symbols.next(caller).unwrap_or(u64::MAX).min(caller.saturating_add(CODE));
            let mut code = vec![0; usize::try_from(end - caller).unwrap_or(0)];
            if memory.read(image.bias.wrapping_add(caller), &mut code).is_err() {
                continue;
            }
            for target in calls::targets(architecture, caller, &code) {
                if symbols.begins(target) && seen.len() < FUNCTIONS && seen.insert(target) {
                    called.push(target);
                }
            }
        }
        if let Some(target) = called.iter().find(|target| !symbols.dropped(**target).is_empty()) {
            return Some(symbols.dropped(*target).to_vec());
        }
        callers = called;
    }
    None
}
