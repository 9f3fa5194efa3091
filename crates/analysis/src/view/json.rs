//! Events as JSON, one object a line.

use std::collections::HashMap;
use std::ptr;

use dyntrace_reader::{Event, EventClass, Value};

use super::code::Code;
use super::event;
use crate::render::{Printer, append};

#[derive(Default)]
pub struct Json {
    /// By the addresses of the classes.
    plans: HashMap<*const EventClass, Plan>,
}

/// The parts that all objects of a class share.
struct Plan {
    probe: Vec<u8>,
    fields: Vec<Field>,
}

struct Field {
    key: Vec<u8>,
    /// The name of its number, if numbers of its kind have names.
    code: Option<(Code, Vec<u8>)>,
}

impl Printer for Json {
    fn forget_classes(&mut self) {
        self.plans.clear();
    }

    fn event(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        let plan = self.plans.entry(ptr::from_ref(event.class)).or_insert_with(|| Plan::of(event.class));
        out.extend_from_slice(b"{\"time_ns\":");
        append::signed(out, event.time);
        out.extend_from_slice(b",\"process\":");
        append::json_string(out, event::process_name(event.process));
        out.extend_from_slice(b",\"tid\":");
        append::unsigned(out, event.tid);
        out.extend_from_slice(&plan.probe);
        for (Field { key, code }, (_, value)) in plan.fields.iter().zip(event.fields()) {
            out.extend_from_slice(key);
            match value {
                Value::Signed(number) => append::signed(out, number),
                Value::Unsigned(number) => append::unsigned(out, number),
                Value::Text(text) => append::json_string(out, &text),
            }
            if let Some((code, key)) = code
                && let Some(name) = code.name(value)
            {
                out.extend_from_slice(key);
                append::json_string(out, name.as_bytes());
            }
        }
        out.extend_from_slice(b"}\n");
    }
}

impl Plan {
    fn of(class: &EventClass) -> Plan {
        let mut probe = b",\"probe\":".to_vec();
        append::json_string(&mut probe, class.name.as_bytes());
        let fields = class.fields.iter().map(|field| {
            let code = Code::of(class, &field.name).map(|code| (code, key(code.title())));
            Field { key: key(&event::column(&field.name)), code }
        });
        Plan { probe, fields: fields.collect() }
    }
}

/// A field's name, with comma, quotes and colon.
fn key(name: &str) -> Vec<u8> {
    let mut key = b",".to_vec();
    append::json_string(&mut key, name.as_bytes());
    key.push(b':');
    key
}
