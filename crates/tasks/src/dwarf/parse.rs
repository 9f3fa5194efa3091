//! Reads one type's description.

use gimli::constants;

use super::description::{Member, Shape, Type, TypeId, Variants, bare};
use super::entries::{At, Entry, number, unsigned};
use super::limits;
use super::types::Types;

impl Types<'_> {
    /// Reads a type; `references` bounds the types that it asks for in turn.
    pub(super) fn parse(&self, id: TypeId, references: usize) -> Option<Type> {
        let references = references.checked_sub(1)?;
        let at = self.units.of(id.0)?;
        let mut cursor = at.cursor(id.0)?;
        let entry = cursor.next_dfs().ok()??.clone();
        let target = at.type_of(&entry).map(TypeId);
        let shape = match entry.tag() {
            constants::DW_TAG_pointer_type | constants::DW_TAG_reference_type => Shape::Pointer(target),
            constants::DW_TAG_structure_type | constants::DW_TAG_class_type => Shape::Struct,
            constants::DW_TAG_union_type => Shape::Union,
            constants::DW_TAG_array_type => Shape::Array { element: target?, count: 0 },
            constants::DW_TAG_typedef | constants::DW_TAG_const_type => return self.parse(target?, references),
            _ => Shape::Other,
        };
        let name = at.text(entry.attr_value(constants::DW_AT_name));
        let parent = self.parent(id).map(|path| self.index.paths.text(path)).filter(|path| !path.is_empty());
        let path = parent.map_or_else(|| name.clone(), |parent| format!("{parent}::{name}"));
        let size = match shape {
            Shape::Pointer(_) => 8,
            _ => unsigned(entry.attr_value(constants::DW_AT_byte_size)).unwrap_or(0),
        };
        let bare = bare(&path).len();
        let mut parsed = Type { name, path, bare, size, shape, ..Type::unknown(id) };
        self.parse_children(&mut parsed, at, cursor, references);
        if let Shape::Array { element, count } = parsed.shape {
            parsed.size = self.size(element, references).saturating_mul(count);
        }
        Some(parsed)
    }

    /// Returns the size of a type without its members, so that damaged types that contain each other cost no more than
    /// `references` steps.
    fn size(&self, id: TypeId, references: usize) -> u64 {
        let entry = self.units.of(id.0).and_then(|at| Some((at, at.entry(id.0)?)));
        let (Some((at, entry)), Some(references)) = (entry, references.checked_sub(1)) else { return 0 };
        let target = || at.type_of(&entry).map_or(0, |target| self.size(TypeId(target), references));
        match entry.tag() {
            constants::DW_TAG_pointer_type | constants::DW_TAG_reference_type => 8,
            constants::DW_TAG_typedef | constants::DW_TAG_const_type => target(),
            constants::DW_TAG_array_type => target().saturating_mul(self.count(at, id)),
            _ => unsigned(entry.attr_value(constants::DW_AT_byte_size)).unwrap_or(0),
        }
    }

    fn count(&self, at: At<'_, '_>, array: TypeId) -> u64 {
        let Some(mut cursor) = at.cursor(array.0) else { return 0 };
        for number in 0..limits::ENTRIES_OF_TYPE {
            let Ok(Some(entry)) = cursor.next_dfs() else { break };
            if number > 0 && entry.depth() <= 0 {
                break;
            }
            if entry.tag() == constants::DW_TAG_subrange_type {
                return unsigned(entry.attr_value(constants::DW_AT_count)).unwrap_or(0);
            }
        }
        0
    }

    fn parse_children<'a>(
        &self,
        parsed: &mut Type,
        at: At<'_, 'a>,
        mut cursor: gimli::EntriesCursor<'_, super::entries::Bytes<'a>>,
        references: usize,
    ) {
        let mut discriminant = None;
        let mut in_variants = false;
        for _ in 0..limits::ENTRIES_OF_TYPE {
            let Ok(Some(entry)) = cursor.next_dfs() else { break };
            let depth = entry.depth();
            if depth <= 0 {
                break;
            }
            if depth == 1 {
                in_variants = entry.tag() == constants::DW_TAG_variant_part;
            }
            match (entry.tag(), depth) {
                (constants::DW_TAG_member, 1) => parsed.members.extend(member(at, entry)),
                (constants::DW_TAG_template_type_parameter, 1) => {
                    let name = at.text(entry.attr_value(constants::DW_AT_name));
                    parsed.parameters.extend(at.type_of(entry).map(|kind| (name, TypeId(kind))));
                }
                (constants::DW_TAG_subrange_type, 1) => {
                    if let Shape::Array { count, .. } = &mut parsed.shape {
                        *count = unsigned(entry.attr_value(constants::DW_AT_count)).unwrap_or(0);
                    }
                }
                (constants::DW_TAG_variant_part, 1) => parsed.variants = Some(Variants::default()),
                // the discriminant is a member of the variant part, each variant one of a variant
                (constants::DW_TAG_member, 2) if in_variants => {
                    if let (Some(variants), Some(member)) = (&mut parsed.variants, member(at, entry)) {
                        variants.offset = member.offset;
                        variants.size = self.size(member.kind, references);
                    }
                }
                (constants::DW_TAG_variant, 2) if in_variants => {
                    discriminant = number(entry.attr_value(constants::DW_AT_discr_value));
                }
                (constants::DW_TAG_member, 3) if in_variants => {
                    if let (Some(variants), Some(member)) = (&mut parsed.variants, member(at, entry)) {
                        variants.list.push((discriminant, member));
                    }
                }
                _ => {}
            }
        }
    }
}

fn member<'a>(at: At<'_, 'a>, entry: &Entry<'a>) -> Option<Member> {
    Some(Member {
        name: at.text(entry.attr_value(constants::DW_AT_name)),
        kind: TypeId(at.type_of(entry)?),
        offset: unsigned(entry.attr_value(constants::DW_AT_data_member_location)).unwrap_or(0),
        file: unsigned(entry.attr_value(constants::DW_AT_decl_file)).unwrap_or(0),
        line: unsigned(entry.attr_value(constants::DW_AT_decl_line)).and_then(|line| line.try_into().ok()).unwrap_or(0),
    })
}
