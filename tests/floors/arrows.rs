//! Which file uses which: every path of the code, resolved to the file that defines the named item.

use std::collections::BTreeMap;

use crate::modules::{Crate, Id, Kind, Reference};

/// A use of another file.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrow {
    pub from: String,
    pub line: usize,
    /// As the code has it.
    pub path: String,
    pub to: String,
}

enum Found {
    Module(Id),
    /// An item, in the module that defines it.
    Item(Id),
    Elsewhere,
}

/// The first use in `from` of each other file.
pub fn arrows(all: &Crate) -> Vec<Arrow> {
    let mut first = BTreeMap::new();
    for (id, module) in all.modules.iter().enumerate() {
        for reference in &module.references {
            let Some(to) = all.target(id, reference) else { continue };
            let to = &all.modules[to].file;
            if *to != module.file {
                let arrow = Arrow {
                    from: module.file.clone(),
                    line: reference.line,
                    path: reference.path.join("::"),
                    to: to.clone(),
                };
                let key = (arrow.from.clone(), arrow.to.clone());
                first.entry(key).and_modify(|had: &mut Arrow| had.line = had.line.min(arrow.line)).or_insert(arrow);
            }
        }
    }
    first.into_values().collect()
}

impl Crate {
    /// The module that the reference is an arrow to, if it is one.
    fn target(&self, from: Id, reference: &Reference) -> Option<Id> {
        if self.is_of_the_roots_own(reference) {
            return Some(0);
        }
        match (self.resolve(from, &reference.path, 0), &reference.kind) {
            (Found::Elsewhere, _) => None,
            // A path through the module names the item that is used.
            (Found::Module(_), Kind::Use | Kind::ReExport(_)) => None,
            // A module that only re-exports a name does not use it. A module that imports it from there has an arrow to the definition.
            (_, Kind::ReExport(name)) if !self.modules[from].identifiers.contains(name) => None,
            (Found::Module(to) | Found::Item(to), _) => Some(to),
        }
    }

    /// Whether it names an item that the root re-exports for users, by its path through the root.
    fn is_of_the_roots_own(&self, Reference { path, .. }: &Reference) -> bool {
        let mut names = path.iter().skip_while(|name| *name == "::");
        let begins = names.next().is_some_and(|name| name == "crate" || name == "dyntrace");
        begins && names.next().is_some_and(|name| self.modules[0].imports.contains_key(name))
    }

    fn resolve(&self, from: Id, path: &[String], depth: usize) -> Found {
        // Names that import each other.
        if depth > 16 {
            return Found::Elsewhere;
        }
        let parent = |id: Id| self.modules[id].parent;
        let (mut at, rest) = match path.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["crate" | "dyntrace", ..] => (0, &path[1..]),
            ["::", "dyntrace", ..] => (0, &path[2..]),
            ["self", ..] => (from, &path[1..]),
            ["super", ..] => {
                let up = path.iter().take_while(|name| *name == "super").count();
                ((0..up).fold(from, |id, _| parent(id)), &path[up..])
            }
            [first, ..] => match self.name(from, first, depth) {
                Some(Found::Module(id)) => (id, &path[1..]),
                other => return other.unwrap_or(Found::Elsewhere),
            },
            [] => return Found::Elsewhere,
        };
        for name in rest {
            match self.name(at, name, depth) {
                Some(Found::Module(id)) => at = id,
                // Made by a macro, as the probes are.
                None => return Found::Item(at),
                Some(found) => return found,
            }
        }
        Found::Module(at)
    }

    /// Finds the item that `name` stands for in a module.
    fn name(&self, id: Id, name: &str, depth: usize) -> Option<Found> {
        let module = &self.modules[id];
        if let Some(child) = module.children.get(name) {
            return Some(Found::Module(*child));
        }
        if module.items.contains(name) {
            return Some(Found::Item(id));
        }
        if let Some(path) = module.imports.get(name) {
            return Some(self.resolve(id, path, depth + 1));
        }
        if let (0, Some(defines)) = (id, self.macros.get(name)) {
            return Some(Found::Item(*defines));
        }
        module.globs.iter().find_map(|glob| match self.resolve(id, glob, depth + 1) {
            Found::Module(other) if other != id && depth < 16 => self.name(other, name, depth + 1),
            _ => None,
        })
    }
}
