//! Events as a CSV table, with a column for each name of a field.

use std::collections::HashMap;
use std::ptr;

use dyntrace_reader::{Event, EventClass, Value};

use super::event::{self, FIXED};
use crate::render::{Printer, append};

pub struct Csv {
    columns: Vec<String>,
    /// The position in the event of each column's field, by the addresses of the classes.
    plans: HashMap<*const EventClass, Vec<Option<usize>>>,
}

impl Csv {
    /// A table for events of these `classes`. Appends the title row.
    pub fn new<'c>(classes: impl Iterator<Item = &'c EventClass>, out: &mut Vec<u8>) -> Csv {
        let mut columns = Vec::new();
        for field in classes.flat_map(|class| &class.fields) {
            let column = event::column(&field.name);
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

impl Printer for Csv {
    fn forget_classes(&mut self) {
        self.plans.clear();
    }

    fn event(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        let plan = self.plans.entry(ptr::from_ref(event.class)).or_insert_with(|| {
            let position =
                |column: &String| event.class.fields.iter().position(|field| event::column(&field.name) == *column);
            self.columns.iter().map(position).collect()
        });
        let values = event::values(event);
        append::signed(out, event.time);
        out.push(b',');
        append::csv_field(out, event::process_name(event.process));
        out.push(b',');
        append::unsigned(out, event.tid);
        out.push(b',');
        append::csv_field(out, event.class.name.as_bytes());
        for at in plan {
            out.push(b',');
            match at.and_then(|at| values.get(at)) {
                None => {}
                Some(Value::Signed(number)) => append::signed(out, *number),
                Some(Value::Unsigned(number)) => append::unsigned(out, *number),
                Some(Value::Text(text)) => append::csv_field(out, text),
            }
        }
        out.push(b'\n');
    }
}
