//! One row for each event: what engines look for has columns, the other fields are a map.

use std::collections::HashMap;
use std::io::Write as _;
use std::ptr;

use dyntrace_analysis::view::Code;
use dyntrace_fleet::{Cell, ColumnKind, Entries, Error, Tables};
use dyntrace_reader::{Event, EventClass, FieldKind, Value};

use super::columns::{self, Column, EVENTS, TOKEN};

pub const COLUMNS: [Column; 7] = [
    ("tid", ColumnKind::Unsigned),
    ("probe", ColumnKind::Text),
    ("user_tag", ColumnKind::Text),
    TOKEN[0],
    TOKEN[1],
    TOKEN[2],
    ("fields", ColumnKind::Map),
];

/// Writes the rows.
#[derive(Default)]
pub struct Events {
    /// By the address of the class.
    classes: HashMap<*const EventClass, Class>,
    fields: Entries,
    number: Vec<u8>,
}

/// Where the fields of a class go.
struct Class {
    user_tag: Option<usize>,
    token: Option<[usize; 3]>,
    /// For each field whether it goes into the map, and the kind of number that it has.
    others: Vec<(bool, Option<Code>)>,
}

impl Events {
    pub fn add(&mut self, event: &Event<'_>, to: &mut Tables<'_>) -> Result<(), Error> {
        let Self { classes, fields, number } = self;
        let class = classes.entry(ptr::from_ref(event.class)).or_insert_with(|| Class::of(event.class));
        fields.clear();
        for ((name, value), (is_other, code)) in event.fields().zip(&class.others) {
            if !is_other {
                continue;
            }
            match value {
                Value::Text(text) => fields.push(name, &text),
                Value::Signed(_) | Value::Unsigned(_) => {
                    number.clear();
                    // Writing to a Vec cannot fail.
                    let _ = match value {
                        Value::Signed(value) => write!(number, "{value}"),
                        Value::Unsigned(value) => write!(number, "{value}"),
                        Value::Text(_) => Ok(()),
                    };
                    fields.push(name, number);
                }
            }
            if let Some((code, name)) = code.and_then(|code| Some((code, code.name(value)?))) {
                fields.push(code.title(), name.as_bytes());
            }
        }
        let user_tag = match class.user_tag.and_then(|at| event.value(at)) {
            Some(Value::Text(tag)) => columns::text(tag),
            _ => None,
        };
        let token = class.token.map(|places| places.map(|at| signed(event.value(at)))).filter(|token| *token != [0; 3]);
        let [label, previous, current] = [0, 1, 2].map(|at| token.map(|token| Cell::Signed(token[at])));
        let probe = Cell::Text(event.class.name.as_str().into());
        let own =
            [Some(Cell::Unsigned(event.tid)), Some(probe), user_tag, label, previous, current, Some(Cell::Map(fields))];
        to.row(EVENTS, event.time, columns::row(event.time, event.process, own))
    }
}

impl Class {
    fn of(class: &EventClass) -> Class {
        let is_text = |at: &usize| matches!(class.fields[*at].kind, FieldKind::Text | FieldKind::Name(_));
        let user_tag = class.position("user_tag").filter(is_text);
        let token =
            TOKEN.map(|(name, _)| class.position(name).filter(|at| class.provider() == "dyntrace" && !is_text(at)));
        let token = match token {
            [Some(label), Some(previous), Some(current)] => Some([label, previous, current]),
            _ => None,
        };
        let has_column = |at: usize| user_tag == Some(at) || token.is_some_and(|places| places.contains(&at));
        let fields = class.fields.iter().enumerate();
        let others = fields.map(|(at, field)| (!has_column(at), Code::of(class, &field.name))).collect();
        Class { user_tag, token, others }
    }
}

fn signed(value: Option<Value<'_>>) -> i64 {
    match value {
        Some(Value::Signed(number)) => number,
        Some(Value::Unsigned(number)) => number.try_into().unwrap_or(i64::MAX),
        _ => 0,
    }
}
