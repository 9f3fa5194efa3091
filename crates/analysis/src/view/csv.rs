//! Events as a CSV table (RFC 4180), with a column for each name of a field.

use std::collections::HashMap;
use std::ptr;

use dyntrace_reader::{Event, EventClass, Value};

use super::code::Code;
use super::event::{self, FIXED};
use crate::render::{Printer, append};

pub struct Csv {
    columns: Vec<String>,
    /// By the addresses of the classes.
    plans: HashMap<*const EventClass, Vec<Option<Source>>>,
}

/// Where an event has the value of a column: the field at this position, or the name of its number.
#[derive(Clone, Copy)]
struct Source {
    at: usize,
    code: Option<Code>,
}

impl Csv {
    /// A table for events of these `classes`. Appends the title row.
    pub fn new<'c>(classes: impl IntoIterator<Item = &'c EventClass>, out: &mut Vec<u8>) -> Csv {
        let mut columns = Vec::new();
        for (column, _) in classes.into_iter().flat_map(sources) {
            if !columns.contains(&column) {
                columns.push(column);
            }
        }
        for (i, name) in FIXED.into_iter().chain(columns.iter().map(String::as_str)).enumerate() {
            if i > 0 {
                out.push(b',');
            }
            append::csv_field(out, name.as_bytes());
        }
        out.push(b'\n');
        Csv { columns, plans: HashMap::new() }
    }
}

/// The columns for events of a class, in their order.
fn sources(class: &EventClass) -> impl Iterator<Item = (String, Source)> {
    class.fields.iter().enumerate().flat_map(|(at, field)| {
        let name = Code::of(class, &field.name).map(|code| (code.title().to_owned(), Source { at, code: Some(code) }));
        [(event::column(&field.name), Source { at, code: None })].into_iter().chain(name)
    })
}

impl Printer for Csv {
    fn forget_classes(&mut self) {
        self.plans.clear();
    }

    fn event(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        let plan = self.plans.entry(ptr::from_ref(event.class)).or_insert_with(|| {
            let mut sources = sources(event.class).collect::<HashMap<_, _>>();
            self.columns.iter().map(|column| sources.remove(column)).collect()
        });
        let values = event::values(event);
        append::signed(out, event.time);
        out.push(b',');
        append::csv_field(out, event::process_name(event.process));
        out.push(b',');
        append::unsigned(out, event.tid);
        out.push(b',');
        append::csv_field(out, event.class.name.as_bytes());
        for source in plan {
            out.push(b',');
            let Some((value, code)) = source.and_then(|source| Some((*values.get(source.at)?, source.code))) else {
                continue;
            };
            match (code, value) {
                (Some(code), value) => append::csv_field(out, code.name(value).unwrap_or_default().as_bytes()),
                (None, Value::Signed(number)) => append::signed(out, number),
                (None, Value::Unsigned(number)) => append::unsigned(out, number),
                (None, Value::Text(text)) => append::csv_field(out, &text),
            }
        }
        out.push(b'\n');
    }
}
