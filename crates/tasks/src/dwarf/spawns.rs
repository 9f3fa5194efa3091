//! Places that may have spawned a task: calls of the `spawn` functions of tokio or dyntrace with its future's type.
//!
//! An optimised program has most of these calls inlined, with the line of the call. The others are found in the code:
//! direct calls, whose lines the line table has.

use std::collections::{BTreeMap, HashMap, HashSet};

use gimli::constants;

use super::description::TypeId;
use super::entries::{At, Entry, unsigned};
use super::limits;
use super::types::Types;
use crate::listing::SourceLine;

/// Places, by the path of the future's type that is spawned there.
pub(crate) type Spawns = HashMap<String, Vec<SourceLine>>;

/// The functions that spawn, and their type parameters.
struct Spawners {
    /// By the offsets of their entries.
    parameters: HashMap<usize, Vec<String>>,
    /// By their addresses: the linker may have merged several.
    addresses: HashMap<u64, Vec<usize>>,
    /// Whether a function that calls one of them is of the same crates.
    of_spawners: HashMap<usize, bool>,
}

impl Types<'_> {
    /// Finds the places of all types. `calls` returns the direct calls of functions in the file's code: the address of
    /// each call, and of the function.
    pub(crate) fn spawns(&self, calls: impl FnOnce(&HashSet<u64>) -> Vec<(u64, u64)>) -> Spawns {
        let mut spawners = self.spawners();
        let mut found: Vec<(usize, SourceLine)> = Vec::new();
        let units: HashSet<usize> =
            spawners.parameters.keys().filter_map(|offset| self.units.number_of(*offset)).collect();
        for at in units.into_iter().filter_map(|number| self.units.get(number)) {
            self.inlined(at, &mut spawners, &mut found);
        }
        let sites = calls(&spawners.addresses.keys().copied().collect());
        self.called(sites, &mut spawners, &mut found);
        let mut spawns = Spawns::new();
        for (spawner, place) in found {
            for parameter in spawners.parameters.get(&spawner).into_iter().flatten() {
                spawns.entry(parameter.clone()).or_default().push(place.clone());
            }
        }
        for places in spawns.values_mut() {
            places.sort_unstable();
            places.dedup();
        }
        spawns
    }

    /// Returns the places that may have spawned a task of the type `future`.
    pub(crate) fn spawned(&self, spawns: &Spawns, future: TypeId) -> Vec<SourceLine> {
        let mut places = Vec::new();
        let mut next = Some(self.get(future));
        // tokio boxes large futures, and wraps the functions of blocking jobs; dyntrace wraps the futures that it spawns
        for _ in 0..4 {
            let Some(kind) = next else { break };
            places.extend(spawns.get(&kind.path).into_iter().flatten().cloned());
            let wraps = [
                "core::pin::Pin<",
                "alloc::boxed::Box<",
                "tokio::runtime::blocking::task::BlockingTask<",
                "dyntrace_processes::process::OwnProcess<",
            ];
            let wraps = wraps.iter().any(|wrapper| kind.path.starts_with(wrapper));
            next = kind.parameters.first().filter(|_| wraps).map(|(_, inner)| self.get(*inner));
        }
        places.sort_unstable();
        places.dedup();
        places
    }

    fn spawners(&self) -> Spawners {
        let mut spawners =
            Spawners { parameters: HashMap::new(), addresses: HashMap::new(), of_spawners: HashMap::new() };
        for offset in self.index.spawners.iter().take(limits::SPAWNS) {
            let Some(function) = self.function(*offset) else { continue };
            let parameters = function.parameters.iter().map(|(_, kind)| self.get(*kind).path.clone());
            spawners.parameters.insert(*offset, parameters.collect());
        }
        for (address, offset) in &self.index.functions {
            let origin = self.index.copies.get(offset).unwrap_or(offset);
            if spawners.parameters.contains_key(origin) {
                spawners.addresses.entry(*address).or_default().push(*origin);
            }
        }
        spawners
    }

    /// Whether the function at `offset`, or its origin, is of tokio or dyntrace.
    fn is_of_spawners(&self, offset: usize, spawners: &mut Spawners) -> bool {
        *spawners.of_spawners.entry(offset).or_insert_with(|| self.has_name_of_spawners(offset))
    }

    fn has_name_of_spawners(&self, offset: usize) -> bool {
        let name = self.function(offset).map(|function| function.linkage_name).unwrap_or_default();
        let name = format!("{:#}", rustc_demangle::demangle(&name));
        ["tokio::", "dyntrace::", "dyntrace_processes::"]
            .iter()
            .any(|own| name.trim_start_matches('<').starts_with(own))
    }

    /// Adds the inlined calls of spawners in a unit, unless one of their crates calls.
    fn inlined(&self, at: At<'_, '_>, spawners: &mut Spawners, found: &mut Vec<(usize, SourceLine)>) {
        let wanted = |tag, _| tag == constants::DW_TAG_subprogram || tag == constants::DW_TAG_inlined_subroutine;
        at.walk(wanted, |entry, offset, caller: Option<&mut usize>| {
            let origin = at.reference(entry.attr_value(constants::DW_AT_abstract_origin));
            if entry.tag() == constants::DW_TAG_inlined_subroutine
                && let Some(origin) = origin.filter(|origin| spawners.parameters.contains_key(origin))
                && let Some(caller) = caller.copied()
                && found.len() < limits::SPAWNS
                && !self.is_of_spawners(caller, spawners)
                && let Some(place) = self.call_of(at, entry)
            {
                found.push((origin, place));
            }
            Some(origin.unwrap_or(offset))
        });
    }

    /// Returns the line of an inlined call.
    fn call_of<'a>(&self, at: At<'_, 'a>, entry: &Entry<'a>) -> Option<SourceLine> {
        let line = u32::try_from(unsigned(entry.attr_value(constants::DW_AT_call_line))?).ok()?;
        let number = unsigned(entry.attr_value(constants::DW_AT_call_file))?;
        self.place(at, number, line)
    }

    /// Adds the direct calls of spawners, unless one of their crates calls.
    fn called(&self, sites: Vec<(u64, u64)>, spawners: &mut Spawners, found: &mut Vec<(usize, SourceLine)>) {
        // by unit, so that each line table is read once
        let mut units: BTreeMap<usize, Vec<(u64, u64)>> = BTreeMap::new();
        for (site, target) in sites.into_iter().take(limits::SPAWNS) {
            let after = self.index.functions.partition_point(|(address, _)| *address <= site);
            let Some((_, function)) = after.checked_sub(1).and_then(|index| self.index.functions.get(index)) else {
                continue;
            };
            let Some(number) = self.units.number_of(*function) else { continue };
            let Some(at) = self.units.get(number) else { continue };
            if self.innermost(at, *function, site).is_some_and(|innermost| !self.is_of_spawners(innermost, spawners)) {
                units.entry(number).or_default().push((site, target));
            }
        }
        for (number, mut sites) in units {
            let Some(at) = self.units.get(number) else { continue };
            sites.sort_unstable();
            for (target, place) in self.lines(at, &sites) {
                for spawner in spawners.addresses.get(&target).into_iter().flatten() {
                    found.push((*spawner, place.clone()));
                }
            }
        }
    }

    /// Returns the function at `site`: the innermost one that is inlined there, or `function` itself.
    fn innermost(&self, at: At<'_, '_>, function: usize, site: u64) -> Option<usize> {
        let mut cursor = at.cursor(function)?;
        let mut found = None;
        for number in 0..limits::ENTRIES_OF_FUNCTION {
            let Ok(Some(entry)) = cursor.next_dfs() else { break };
            if number > 0 && entry.depth() < 1 {
                break;
            }
            let inlined = entry.tag() == constants::DW_TAG_inlined_subroutine;
            if !inlined && number > 0 {
                continue;
            }
            let Ok(mut ranges) = at.dwarf.die_ranges(at.unit, entry) else { continue };
            let mut contains = false;
            while let Ok(Some(range)) = ranges.next() {
                contains |= (range.begin..range.end).contains(&site);
            }
            if contains {
                found = at.reference(entry.attr_value(constants::DW_AT_abstract_origin)).or(Some(function));
            } else if number == 0 {
                return None;
            }
        }
        found
    }

    /// Returns the lines of calls, which are in order, each with the function that it calls.
    fn lines(&self, at: At<'_, '_>, sites: &[(u64, u64)]) -> Vec<(u64, SourceLine)> {
        let mut lines = Vec::new();
        let Some(program) = at.lines.cloned() else { return lines };
        let mut rows = program.rows();
        // the row before: its address, file and line
        let mut before: Option<(u64, u64, u32)> = None;
        while let Ok(Some((_, row))) = rows.next_row() {
            if let Some((start, file, line)) = before {
                let first = sites.partition_point(|(site, _)| *site < start);
                for (_, target) in sites[first..].iter().take_while(|(site, _)| *site < row.address()) {
                    lines.extend(self.place(at, file, line).map(|place| (*target, place)));
                }
            }
            let line = row.line().and_then(|line| u32::try_from(line.get()).ok());
            before = line.filter(|_| !row.end_sequence()).map(|line| (row.address(), row.file_index(), line));
        }
        lines
    }
}
