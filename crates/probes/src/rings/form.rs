//! The forms in which rings take the arguments of a firing.
//!
//! A firing takes the tightest form that has all of its values. Each form of a class of events is an event class of its own, with the same
//! name and fields. So events with small numbers, as most are, take few bytes, and all can be read without knowledge of the recorder.

use dyntrace_metadata::event_header::WHOLE;
use dyntrace_metadata::{FieldKind, Naming};

use super::descriptor::RecordedKind;

/// The classes whose tight events have compact headers.
pub const COMPACT_TIGHT: u16 = 80;
/// The classes whose narrow events have them.
const COMPACT_NARROW: u16 = WHOLE - COMPACT_TIGHT;

/// A form of the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Form {
    /// Integers in their own size, names as text: has every value.
    Wide,
    /// Integers in half their size, names as numbers.
    Narrow,
    /// Integers of 32 bits in 8, those of 64 bits in 24, names as numbers.
    Tight,
}

impl Form {
    /// Every form. Readers take the first one for the class.
    pub const ALL: [Form; 3] = [Form::Wide, Form::Narrow, Form::Tight];

    /// The number of classes that have ids for all their forms.
    pub const CLASSES: u16 = (u16::MAX - WHOLE) / 3;

    /// The id of the events of a class in this form. The ids of compact headers go to the tight events of the first classes, and to the
    /// narrow ones of the first of these, which are dyntrace's own.
    #[inline(always)]
    pub const fn event_id(self, class: u16) -> u16 {
        match self {
            Form::Tight if class < COMPACT_TIGHT => class,
            Form::Narrow if class < COMPACT_NARROW => COMPACT_TIGHT + class,
            _ => WHOLE + 3 * class + self as u16,
        }
    }

    /// The class of an id.
    #[cfg(test)]
    pub const fn class_of(event_id: u16) -> u16 {
        match event_id {
            ..COMPACT_TIGHT => event_id,
            COMPACT_TIGHT..WHOLE => event_id - COMPACT_TIGHT,
            _ => (event_id - WHOLE) / 3,
        }
    }

    /// Bytes of an integer of `own` bytes.
    #[inline(always)]
    pub const fn bytes(self, own: usize) -> usize {
        match (self, own) {
            (Form::Wide, own) => own,
            (Form::Narrow, own) => own / 2,
            (Form::Tight, 4) => 1,
            (Form::Tight, _) => 3,
        }
    }

    /// The form of an integer that rarely needs more than 8 bits.
    #[inline(always)]
    pub const fn of_small(self) -> Form {
        match self {
            Form::Wide => Form::Wide,
            Form::Narrow | Form::Tight => Form::Tight,
        }
    }

    /// The type of an argument's field in this form.
    pub fn field_kind(self, kind: RecordedKind) -> FieldKind {
        let bits = |own| 8 * self.bytes(own) as u8;
        let name = |naming| if self == Form::Wide { FieldKind::Text } else { FieldKind::Name(naming) };
        match kind {
            RecordedKind::I32 => FieldKind::Signed { bits: bits(4) },
            RecordedKind::U32 => FieldKind::Unsigned { bits: bits(4) },
            RecordedKind::I64 => FieldKind::Signed { bits: bits(8) },
            RecordedKind::U64 => FieldKind::Unsigned { bits: bits(8) },
            RecordedKind::Count => FieldKind::Signed { bits: 32 },
            RecordedKind::Small => FieldKind::Signed { bits: 8 * self.of_small().bytes(4) as u8 },
            RecordedKind::Text => FieldKind::Text,
            RecordedKind::Port => name(Naming::Port),
            RecordedKind::Process => name(Naming::Process),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_form_of_each_class_has_an_id() {
        let mut ids = HashSet::new();
        for class in 0..Form::CLASSES {
            for form in Form::ALL {
                let id = form.event_id(class);
                assert!(ids.insert(id), "{id} twice, of class {class}");
                assert_eq!(Form::class_of(id), class);
            }
        }
        assert_eq!(
            ids.iter().filter(|id| **id < WHOLE).count(),
            usize::from(WHOLE),
            "each id of a compact header is used"
        );
    }
}
