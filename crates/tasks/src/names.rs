//! Names futures by an image's symbols.
//!
//! Compilers and linkers merge equal functions of several types, and often keep one symbol of them. So a function's symbol names the future
//! of a vtable only if no vtable of another type has the same function. Otherwise the candidates are those that the symbols name, as far as
//! they may be all. Types whose functions are all equal have one vtable after that, and the name that is left.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use object::{Architecture, Object};

use crate::calls;
use crate::elf::Elf;
use crate::image::Image;
use crate::listing::Name;
use crate::memory::Memory;
use crate::symbols::Symbols;
use crate::vtables::TaskVtable;

/// Calls from a function of a vtable to the one whose symbol names the future, at most: optimised code has one or two.
const DEPTH: usize = 3;

/// Functions read to name a future, at most.
const FUNCTIONS: usize = 64;

/// Bytes of a function, at most.
const CODE: u64 = 16 << 10;

/// Names the futures of an image's vtables, as far as its symbols go.
pub fn name(memory: &dyn Memory, image: &Image, vtables: &mut [TaskVtable]) {
    let files: Vec<&[u8]> =
        std::iter::once(image.bytes()).chain(image.debug_file.as_ref().map(|file| file.bytes())).collect();
    let symbols = Symbols::read(&files);
    let Ok(architecture) = Elf::parse(image.bytes()).map(|elf| elf.architecture()) else { return };
    let code = Code { memory, image, symbols: &symbols, architecture };
    by_polls(|poll| symbols.polled(poll), vtables);
    let claims: Vec<Claim> = (0..)
        .zip(&*vtables)
        .filter(|(_, vtable)| matches!(vtable.name, Name::Address { .. }))
        .filter_map(|(place, vtable)| code.claim(place, vtable))
        .collect();
    for (place, names) in settled(&claims) {
        vtables[place].name = Name::Candidates { names };
    }
}

/// Names the futures of vtables whose function that polls is named after its future.
fn by_polls(polled: impl Fn(u64) -> Vec<String>, vtables: &mut [TaskVtable]) {
    let mut types: BTreeMap<u64, BTreeSet<Type>> = BTreeMap::new();
    for vtable in &*vtables {
        types.entry(vtable.poll).or_default().insert(type_of(vtable));
    }
    for vtable in vtables {
        let mut names = polled(vtable.poll);
        match (names.len(), types[&vtable.poll].len()) {
            (0, _) => {}
            (1, 1) => vtable.name = Name::Symbol { name: names.remove(0) },
            (named, types) if named >= types => vtable.name = Name::Candidates { names },
            _ => {}
        }
    }
}

/// Words of a vtable that differ between types, if their functions were not merged.
type Type = [u64; 6];

fn type_of(vtable: &TaskVtable) -> Type {
    [vtable.poll, vtable.schedule, vtable.dealloc, vtable.links, vtable.scheduler, vtable.id]
}

/// A vtable, and the names that its functions give.
#[derive(Debug, Clone)]
struct Claim {
    place: usize,
    of: Type,
    /// The function nearest to `dealloc` that drops tasks.
    glue: u64,
    /// The futures that this function names.
    nearest: Vec<String>,
    /// The futures that this function and those behind it name.
    dropped: BTreeSet<String>,
    /// The futures of tasks whose own code the function that polls calls.
    resumed: BTreeSet<String>,
}

/// Returns the names of those vtables whose names are certain, or whose candidates may be all.
fn settled(claims: &[Claim]) -> Vec<(usize, Vec<String>)> {
    // A future's functions that drop it are the same for all schedulers, and those that schedule it are not.
    let mut groups: BTreeMap<(u64, u64), Vec<&Claim>> = BTreeMap::new();
    for claim in claims {
        groups.entry((claim.of[1], claim.glue)).or_default().push(claim);
    }
    groups.into_values().flat_map(|group| settled_group(&group)).collect()
}

/// The same for vtables with one function that drops their tasks, and one scheduler.
fn settled_group(group: &[&Claim]) -> Vec<(usize, Vec<String>)> {
    let types: BTreeMap<Type, &Claim> = group.iter().map(|claim| (claim.of, *claim)).collect();
    let all: BTreeSet<String> = group.iter().flat_map(|claim| claim.dropped.iter().cloned()).collect();
    let own = |claim: &Claim| -> Vec<String> {
        if types.len() > 1 {
            return all.intersection(&claim.resumed).cloned().collect();
        }
        let mut names = claim.nearest.clone();
        // Its code is inlined, or the name is of a type that was merged with it.
        if !claim.resumed.is_empty() && !names.iter().any(|name| claim.resumed.contains(name)) {
            names.extend(claim.resumed.iter().cloned());
        }
        names
    };
    // A future may call the code of another one that it awaits. Futures cannot do so in a circle, so different names are right.
    let different: BTreeSet<Vec<String>> = types.values().map(|claim| own(claim)).collect();
    let are_certain =
        types.len() == 1 || different.len() == types.len() && different.iter().all(|names| names.len() == 1);
    match () {
        () if are_certain => group.iter().map(|claim| (claim.place, own(claim))).collect(),
        () if all.len() >= types.len() => {
            group.iter().map(|claim| (claim.place, all.iter().cloned().collect())).collect()
        }
        () => Vec::new(),
    }
}

/// The code of an image.
struct Code<'a> {
    memory: &'a dyn Memory,
    image: &'a Image,
    symbols: &'a Symbols<'a>,
    architecture: Architecture,
}

impl Code<'_> {
    fn claim(&self, place: usize, vtable: &TaskVtable) -> Option<Claim> {
        if !self.symbols.has_dropped() {
            return None;
        }
        let dropping: Vec<u64> = self.levels(vtable.dealloc).flatten().collect();
        let futures = |function: &u64| self.symbols.dropped(*function);
        let glue = *dropping.iter().find(|function| !futures(function).is_empty())?;
        let resumed = |level: Vec<u64>| -> Option<BTreeSet<String>> {
            let futures: BTreeSet<String> = level.iter().flat_map(|function| self.symbols.resumed(*function)).collect();
            (!futures.is_empty()).then_some(futures)
        };
        Some(Claim {
            place,
            of: type_of(vtable),
            glue,
            nearest: futures(&glue).to_vec(),
            dropped: dropping.iter().flat_map(futures).cloned().collect(),
            // The futures that it awaits are further.
            resumed: self.levels(vtable.poll).find_map(resumed).unwrap_or_default(),
        })
    }

    /// Returns the functions to which direct calls lead from the one at `start`: those that it calls, then those that they call.
    fn levels(&self, start: u64) -> impl Iterator<Item = Vec<u64>> {
        let mut seen = HashSet::from([start]);
        let mut callers = vec![start];
        let next = move |_| {
            let mut called = Vec::new();
            for target in callers.iter().flat_map(|caller| self.calls(*caller)) {
                if self.symbols.begins(target) && seen.len() < FUNCTIONS && seen.insert(target) {
                    called.push(target);
                }
            }
            callers.clone_from(&called);
            called
        };
        (0..DEPTH).map(next)
    }

    fn calls(&self, function: u64) -> Vec<u64> {
        let end = self.symbols.next(function).unwrap_or(u64::MAX).min(function.saturating_add(CODE));
        let mut code = vec![0; usize::try_from(end - function).unwrap_or(0)];
        match self.memory.read(self.image.bias.wrapping_add(function), &mut code) {
            Ok(()) => calls::targets(self.architecture, function, &code),
            Err(_) => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A vtable with these functions that poll and drop, whose own code is called if it is not inlined.
    fn claim(place: usize, poll: u64, glue: u64, dropped: &[&str], resumed: &[&str]) -> Claim {
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let of = [poll, 1, 2, 0x80, 0x20, 0x28];
        Claim {
            place,
            of,
            glue,
            nearest: vec![dropped[0].to_owned()],
            dropped: names(dropped),
            resumed: names(resumed),
        }
    }

    /// The names of each claim, `-` without one.
    fn names(claims: &[Claim]) -> Vec<String> {
        let mut names = vec!["-".to_owned(); claims.len()];
        settled(claims).into_iter().for_each(|(place, found)| names[place] = found.join(" or "));
        names
    }

    #[test]
    fn a_function_that_drops_tasks_of_several_types_names_none_alone() {
        // The symbol of `b` is left of two.
        let merged =
            |first: &[&str], second: &[&str]| names(&[claim(0, 10, 5, &["b"], first), claim(1, 11, 5, &["b"], second)]);
        assert_eq!(merged(&[], &[]), ["-", "-"]);
        assert_eq!(merged(&[], &["b"]), ["-", "-"]);
        let both = |first: &[&str], second: &[&str]| {
            names(&[claim(0, 10, 5, &["b", "a"], first), claim(1, 11, 5, &["b", "a"], second)])
        };
        assert_eq!(both(&[], &[]), ["a or b", "a or b"]);
        assert_eq!(both(&["a"], &["b"]), ["a", "b"]);
        // `a` is inlined and awaits `b`.
        assert_eq!(both(&["b"], &["b"]), ["a or b", "a or b"]);
        assert_eq!(both(&["a", "b"], &["b"]), ["a or b", "a or b"]);
    }

    #[test]
    fn a_function_of_one_type_names_it() {
        let other_scheduler = |mut claim: Claim| {
            claim.of[1] = 7;
            claim
        };
        assert_eq!(names(&[claim(0, 10, 5, &["a"], &[]), other_scheduler(claim(1, 11, 5, &["a"], &[]))]), ["a", "a"]);
        // Two copies of a vtable.
        assert_eq!(names(&[claim(0, 10, 5, &["a"], &[]), claim(1, 10, 5, &["a"], &["a"])]), ["a", "a"]);
        assert_eq!(names(&[claim(0, 10, 5, &["a"], &[]), claim(1, 11, 6, &["b"], &["b", "a"])]), ["a", "b"]);
        // Its own code says that it is another one.
        assert_eq!(names(&[claim(0, 10, 5, &["a"], &["b"])]), ["a or b"]);
    }

    #[test]
    fn one_function_that_polls_several_types_names_none_alone() {
        let vtable = |dealloc| TaskVtable { dealloc, ..TaskVtable::sample(0, 0) };
        let named = |names: &[&str], deallocs: [u64; 2]| {
            let mut vtables = deallocs.map(vtable);
            by_polls(|_| names.iter().map(|&name| name.to_owned()).collect(), &mut vtables);
            vtables.map(|vtable| vtable.name)
        };
        let symbol = Name::Symbol { name: "a".to_owned() };
        assert_eq!(named(&["a"], [1, 1]), [symbol.clone(), symbol]);
        assert_eq!(named(&["a"], [1, 2]), [Name::Address { poll: 0 }, Name::Address { poll: 0 }]);
        let candidates = Name::Candidates { names: vec!["a".to_owned(), "b".to_owned()] };
        assert_eq!(named(&["a", "b"], [1, 2]), [candidates.clone(), candidates]);
    }
}
