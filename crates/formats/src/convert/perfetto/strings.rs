//! Strings that packets refer to by number. Each is written once, in the packet that follows its first use.

use std::collections::HashMap;

use super::message::{DebugAnnotation, Interned, InternedData, Value};

/// The most strings that are remembered: a trace may have a path for each operation.
const STRINGS: usize = 1 << 16;

#[derive(Default)]
pub struct Strings {
    event_names: Table,
    annotation_names: Table,
    annotation_values: Table,
}

#[derive(Default)]
struct Table {
    /// Numbers begin at 1.
    numbers: HashMap<Box<[u8]>, u64>,
    /// Those that no packet has yet.
    new: Vec<Interned>,
}

impl Strings {
    pub fn event_name(&mut self, name: &str) -> u64 {
        self.event_names.number(name.as_bytes())
    }

    /// An annotation with a text that others are likely to have, too.
    pub fn text(&mut self, name: &str, text: &[u8]) -> DebugAnnotation {
        let value = Value::StringIid(self.annotation_values.number(text));
        self.annotation(name, value)
    }

    pub fn annotation(&mut self, name: &str, value: Value) -> DebugAnnotation {
        DebugAnnotation { name_iid: Some(self.annotation_names.number(name.as_bytes())), value: Some(value) }
    }

    /// Returns the strings that are new since the last call.
    pub fn take_new(&mut self) -> Option<InternedData> {
        let tables = [&mut self.event_names, &mut self.annotation_names, &mut self.annotation_values];
        let [event_names, debug_annotation_names, debug_annotation_string_values] =
            tables.map(|table| std::mem::take(&mut table.new));
        let data = InternedData { event_names, debug_annotation_names, debug_annotation_string_values };
        (data != InternedData::default()).then_some(data)
    }

    /// Whether there are so many that they should be forgotten.
    pub fn are_many(&self) -> bool {
        [&self.event_names, &self.annotation_names, &self.annotation_values]
            .into_iter()
            .any(|table| table.numbers.len() >= STRINGS)
    }
}

impl Table {
    fn number(&mut self, text: &[u8]) -> u64 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.numbers.len() as u64 + 1;
        self.numbers.insert(text.into(), number);
        self.new.push(Interned { iid: Some(number), text: Some(String::from_utf8_lossy(text).into_owned()) });
        number
    }
}
