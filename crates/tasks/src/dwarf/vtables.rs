//! Vtables of trait objects. rustc describes each by a variable `<T as Trait>::{vtable}`, whose type names `T`.

use gimli::constants;

use super::description::TypeId;
use super::types::Types;

impl Types<'_> {
    /// Returns the type whose trait object has the vtable at `address` (in the file).
    ///
    /// `None` also if the linker merged vtables of several types: the address cannot tell which it is.
    pub(crate) fn behind_vtable(&self, address: u64) -> Option<TypeId> {
        let from = self.index.vtables.partition_point(|(a, _)| *a < address);
        let same = self.index.vtables[from..].iter().take_while(|(a, _)| *a == address);
        let mut found: Option<TypeId> = None;
        for (_, table) in same {
            let at = self.units.of(*table)?;
            let entry = at.entry(*table)?;
            let this = TypeId(at.reference(entry.attr_value(constants::DW_AT_containing_type))?);
            match found {
                None => found = Some(this),
                Some(first) if first == this || self.get(first).path == self.get(this).path => {}
                Some(_) => return None,
            }
        }
        found
    }
}
