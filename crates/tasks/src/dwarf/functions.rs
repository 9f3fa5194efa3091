//! Functions: their type parameters, linkage names and awaits.

use std::sync::Arc;

use gimli::constants;

use super::description::{Awaitee, TypeId};
use super::limits;
use super::types::Types;

/// The attributes of a function, from its entry and that entry's origins.
#[derive(Debug, Default)]
pub(super) struct Function {
    /// Without its path.
    pub name: String,
    pub linkage_name: String,
    /// Type parameters, by name.
    pub parameters: Vec<(String, TypeId)>,
}

impl Types<'_> {
    /// Returns the entries of the functions that begin at an address.
    pub(super) fn functions_at(&self, address: u64) -> impl Iterator<Item = usize> {
        let from = self.index.functions.partition_point(|(a, _)| *a < address);
        self.index.functions[from..].iter().take_while(move |(a, _)| *a == address).map(|(_, offset)| *offset)
    }

    pub(super) fn function(&self, offset: usize) -> Option<Function> {
        let mut function = Function::default();
        let mut offset = offset;
        // a copy of a function refers to its origin, which has the attributes that the copy lacks
        for _ in 0..limits::REFERENCES {
            let at = self.units.of(offset)?;
            let mut cursor = at.cursor(offset)?;
            let entry = cursor.next_dfs().ok()??.clone();
            if function.name.is_empty() {
                function.name = at.text(entry.attr_value(constants::DW_AT_name));
            }
            if function.linkage_name.is_empty() {
                function.linkage_name = at.text(entry.attr_value(constants::DW_AT_linkage_name));
            }
            if function.parameters.is_empty() {
                for _ in 0..limits::ENTRIES_OF_FUNCTION {
                    let Ok(Some(child)) = cursor.next_dfs() else { break };
                    if child.depth() < 1 {
                        break;
                    }
                    if child.depth() == 1 && child.tag() == constants::DW_TAG_template_type_parameter {
                        let name = at.text(child.attr_value(constants::DW_AT_name));
                        function.parameters.extend(at.type_of(child).map(|kind| (name, TypeId(kind))));
                    }
                }
            }
            let origin = entry.attr_value(constants::DW_AT_abstract_origin);
            let Some(next) = at.reference(origin.or_else(|| entry.attr_value(constants::DW_AT_specification))) else {
                break;
            };
            offset = next;
        }
        Some(function)
    }

    /// Returns the entries of the function that resumes a coroutine.
    fn resumes(&self, coroutine: TypeId) -> Vec<usize> {
        let name = self.get(coroutine).name.replacen("_env#", "#", 1);
        let functions = self.parent(coroutine).and_then(|parent| self.index.resumes.get(&parent));
        let functions = functions.into_iter().flatten();
        functions.filter(|(found, _)| *found == name.as_bytes()).map(|(_, offset)| *offset).collect()
    }

    /// Returns the linkage name of the function that resumes a coroutine, demangled and without its hash.
    pub(crate) fn resume_symbol(&self, coroutine: TypeId) -> Option<Arc<str>> {
        self.symbols.get(coroutine, || {
            let mut functions = self.resumes(coroutine).into_iter().filter_map(|offset| self.function(offset));
            let function = functions.find(|function| !function.linkage_name.is_empty())?;
            Some(format!("{:#}", rustc_demangle::demangle(&function.linkage_name)).into())
        })
    }

    /// Returns the awaits of a coroutine, at the lines that the user wrote: outside macros.
    pub(crate) fn awaitees(&self, coroutine: TypeId) -> Arc<[Awaitee]> {
        self.awaitees.get(coroutine, || {
            let mut found = Vec::new();
            for offset in self.resumes(coroutine) {
                self.awaitees_of(offset, &mut found);
            }
            found.into()
        })
    }

    /// Adds the awaits of one copy of a function.
    fn awaitees_of(&self, function: usize, found: &mut Vec<Awaitee>) {
        let Some(at) = self.units.of(function) else { return };
        let Some(mut cursor) = at.cursor(function) else { return };
        for number in 0..limits::ENTRIES_OF_FUNCTION {
            let Ok(Some(entry)) = cursor.next_dfs() else { return };
            if number > 0 && entry.depth() < 1 {
                return;
            }
            if entry.tag() == constants::DW_TAG_variable && at.name(entry) == b"__awaitee" {
                let place = self.place_of(at, entry);
                found.extend(at.type_of(entry).zip(place).map(|(kind, place)| Awaitee { kind: TypeId(kind), place }));
            }
        }
    }
}
