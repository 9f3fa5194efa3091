//! A value in memory: its type and its address.

use std::sync::Arc;

use super::bytes::integer;
use crate::dwarf::{Member, Shape, Type, TypeId, Types};
use crate::memory::Memory;

/// A value of a known type.
#[derive(Clone)]
pub(crate) struct Value {
    pub kind: Arc<Type>,
    pub address: u64,
}

/// A variant of an enum or coroutine. Chains ask for many: it copies no names.
pub(crate) struct Variant {
    /// Of the enum.
    kind: Arc<Type>,
    place: usize,
    /// Of the variant, if it has the name.
    own: Option<Arc<Type>>,
}

impl Variant {
    /// The variant as a member of the enum.
    pub fn member(&self) -> Option<&Member> {
        self.kind.variants.as_ref()?.list.get(self.place).map(|(_, member)| member)
    }

    /// Its name.
    pub fn as_str(&self) -> &str {
        match &self.own {
            Some(own) => &own.name,
            None => self.member().map_or("", |member| &member.name),
        }
    }
}

impl PartialEq<&str> for Variant {
    fn eq(&self, name: &&str) -> bool {
        self.as_str() == *name
    }
}

/// Memory, and the types of the values in it.
#[derive(Clone, Copy)]
pub(crate) struct Values<'a, 't> {
    pub types: &'a Types<'t>,
    pub memory: &'a dyn Memory,
}

impl Values<'_, '_> {
    pub fn at(&self, kind: TypeId, address: u64) -> Value {
        Value { kind: self.types.get(kind), address }
    }

    pub fn member(&self, value: &Value, member: &Member) -> Option<Value> {
        Some(self.at(member.kind, value.address.checked_add(member.offset)?))
    }

    pub fn field(&self, value: &Value, name: &str) -> Option<Value> {
        self.member(value, value.kind.member(name)?)
    }

    /// Reads an integer or a pointer of up to 8 bytes.
    pub fn number(&self, value: &Value) -> Option<u64> {
        let size = value.kind.size;
        if size > 8 {
            return None;
        }
        integer(self.memory, value.address, size).and_then(|number| u64::try_from(number).ok())
    }

    /// Reads the low `size` bytes of a value.
    pub fn low(&self, value: &Value, size: u64) -> Option<u64> {
        if value.kind.size < size {
            return None;
        }
        integer(self.memory, value.address, size).and_then(|number| u64::try_from(number).ok())
    }

    /// Follows a pointer. `None` if it is null, or not a pointer to one known type.
    pub fn target(&self, value: &Value) -> Option<Value> {
        let Shape::Pointer(Some(kind)) = value.kind.shape else { return None };
        let address = self.number(value)?;
        (address != 0).then(|| self.at(kind, address))
    }

    /// Returns the active variant and its name.
    pub fn variant(&self, value: &Value) -> Option<(Variant, Value)> {
        let variant = self.variant_of(value)?;
        let value = self.member(value, variant.member()?)?;
        Some((variant, value))
    }

    /// Returns the active variant.
    pub fn variant_of(&self, value: &Value) -> Option<Variant> {
        let variants = value.kind.variants.as_ref()?;
        let place = if variants.size == 0 {
            let [_] = &variants.list[..] else { return None };
            0
        } else {
            let address = value.address.checked_add(variants.offset)?;
            variants.position(integer(self.memory, address, variants.size)?)?
        };
        let (_, member) = variants.list.get(place)?;
        // the variants of a coroutine have numbers as names, their types say more
        let numbered = member.name.bytes().all(|byte| byte.is_ascii_digit());
        let own = numbered.then(|| self.types.get(member.kind));
        Some(Variant { kind: value.kind.clone(), place, own })
    }

    /// Follows steps: a field's name, `*` through a pointer, `?` into `Some`, `=` into the one field of the variant that
    /// it is, `arc` into an `Arc`, and `only` through structs that wrap one integer or pointer.
    pub fn follow(&self, value: &Value, steps: &[&str]) -> Option<Value> {
        let mut value = value.clone();
        for step in steps {
            value = match *step {
                "*" => self.target(&value)?,
                "?" => {
                    let (name, variant) = self.variant(&value)?;
                    if name != "Some" {
                        return None;
                    }
                    self.field(&variant, "__0")?
                }
                "=" => self.field(&self.variant(&value)?.1, "__0")?,
                "arc" => self.follow(&value, &["ptr", "pointer", "*", "data"])?,
                "only" => self.innermost(&value)?,
                name => self.field(&value, name)?,
            };
        }
        Some(value)
    }

    /// Peels cells and atomics: structs whose one member with a size has the size of the whole.
    fn innermost(&self, value: &Value) -> Option<Value> {
        let mut value = value.clone();
        // a damaged type may contain itself
        for _ in 0..16 {
            if value.kind.shape != Shape::Struct && value.kind.shape != Shape::Union || value.kind.variants.is_some() {
                return Some(value);
            }
            let size = value.kind.size;
            let same = value.kind.members.iter().find(|member| self.types.get(member.kind).size == size)?;
            value = self.member(&value, same)?;
        }
        None
    }
}
