//! Paths of namespaces, stored once each.

use std::collections::HashMap;

use super::limits;

/// A path; 0 is the root.
pub(super) type PathId = u32;

/// A tree of names, each with its parent.
#[derive(Debug)]
pub(super) struct Paths<'a> {
    list: Vec<(PathId, &'a [u8])>,
    known: HashMap<(PathId, &'a [u8]), PathId>,
}

impl<'a> Paths<'a> {
    pub fn new() -> Paths<'a> {
        Paths { list: vec![(0, b"")], known: HashMap::new() }
    }

    pub fn add(&mut self, parent: PathId, name: &'a [u8]) -> PathId {
        *self.known.entry((parent, name)).or_insert_with(|| {
            self.list.push((parent, name));
            (self.list.len() - 1) as PathId
        })
    }

    /// Adds the paths of another tree. Returns their new ids by their old ones.
    pub fn absorb(&mut self, other: &Paths<'a>) -> Vec<PathId> {
        let mut ids: Vec<PathId> = Vec::with_capacity(other.list.len());
        // a parent precedes its children, so its new id is known
        for (number, (parent, name)) in other.list.iter().enumerate() {
            let id = if number == 0 { 0 } else { self.add(ids[*parent as usize], name) };
            ids.push(id);
        }
        ids
    }

    /// Returns the first name of a path: of its crate.
    pub fn first(&self, mut id: PathId) -> &'a [u8] {
        for _ in 0..limits::PATH {
            match self.list.get(id as usize) {
                Some((parent, name)) if *parent == 0 => return name,
                Some((parent, _)) => id = *parent,
                None => break,
            }
        }
        b""
    }

    /// Returns the last name of a path.
    pub fn last(&self, id: PathId) -> &'a [u8] {
        self.list.get(id as usize).map_or(b"", |(_, name)| name)
    }

    /// Returns a path as `a::b::c`.
    pub fn text(&self, mut id: PathId) -> String {
        let mut names = Vec::new();
        while id != 0 && names.len() < limits::PATH {
            let Some((parent, name)) = self.list.get(id as usize) else { break };
            names.push(String::from_utf8_lossy(name));
            id = *parent;
        }
        names.reverse();
        names.join("::")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_trees_share_their_paths() {
        let mut first = Paths::new();
        let a = first.add(0, b"a");
        let ab = first.add(a, b"b");
        let mut second = Paths::new();
        let other = second.add(0, b"z");
        let a2 = second.add(0, b"a");
        let ab2 = second.add(a2, b"b");
        let ids = first.absorb(&second);
        assert_eq!(ids[ab2 as usize], ab);
        assert_eq!(first.text(ids[other as usize]), "z");
        assert_eq!(first.text(ab), "a::b");
        assert_eq!(first.last(ab), b"b");
    }
}
