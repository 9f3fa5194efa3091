//! One row for each event. Fields of the same name share a column.

use std::collections::HashMap;
use std::ptr;

use dyntrace_analysis::view::{Code, process_name};
use dyntrace_fleet::{Cell, ColumnKind, Table};
use dyntrace_reader::{Event, EventClass, FieldKind, Trace, Value};
use dyntrace_terminal::private::NewFile;
use parquet::errors::Result;
use smallvec::SmallVec;

use super::file::create;

/// The columns of every event.
const FIXED: [(&str, ColumnKind); 7] = [
    ("time_ns", ColumnKind::Signed),
    ("hostname", ColumnKind::Text),
    ("process", ColumnKind::Text),
    ("program", ColumnKind::Text),
    ("pid", ColumnKind::Unsigned),
    ("tid", ColumnKind::Unsigned),
    ("probe", ColumnKind::Text),
];

pub struct Events {
    pub table: Table<NewFile>,
    /// The columns of each field, by the address of the class.
    columns: HashMap<usize, Vec<Place>>,
}

/// The column of a field, and that of its number's name.
#[derive(Clone, Copy)]
struct Place {
    column: usize,
    name: Option<(Code, usize)>,
}

impl Events {
    /// A table for the events of `trace` in this new file.
    pub fn create(file: NewFile, trace: &Trace) -> anyhow::Result<Events> {
        let mut columns = Columns::default();
        for (name, kind) in FIXED {
            columns.place(name, kind);
        }
        let classes = trace.processes().iter().flat_map(|process| process.classes());
        let places = classes.map(|class| {
            let (mut places, mut taken) = (Vec::new(), Vec::new());
            for field in &class.fields {
                let mut place = |name: &str, kind| {
                    let column = columns.place_of_field(name, kind, &taken);
                    taken.push(column);
                    column
                };
                let column = place(&field.name, kind(field.kind));
                let name = Code::of(class, &field.name).map(|code| (code, place(code.title(), ColumnKind::Text)));
                places.push(Place { column, name });
            }
            (key(class), places)
        });
        let places = places.collect();
        Ok(Events { table: create(file, columns.list)?, columns: places })
    }

    pub fn add(&mut self, event: &Event<'_>) -> Result<()> {
        let process = event.process;
        let fixed = [
            Cell::Signed(event.time),
            Cell::Text(process.hostname.as_str().into()),
            Cell::Text(process_name(process).into()),
            Cell::Text(process.name.as_str().into()),
            Cell::Unsigned(process.pid),
            Cell::Unsigned(event.tid),
            Cell::Text(event.class.name.as_str().into()),
        ];
        let places = self.columns.get(&key(event.class)).map_or(&[][..], Vec::as_slice);
        let fields = || places.iter().zip(event.fields().map(|(_, value)| value));
        let cells = fields().map(|(place, value)| {
            let cell = match value {
                Value::Signed(number) => Cell::Signed(number),
                Value::Unsigned(number) => Cell::Unsigned(number),
                Value::Text(text) => Cell::Text(text),
            };
            (place.column, cell)
        });
        let names =
            fields().filter_map(|(place, value)| place.name.and_then(|(code, at)| Some((at, code.name(value)?))));
        let names: SmallVec<[_; 2]> = names.collect();
        let named = names.iter().map(|(column, name)| (*column, Cell::Text(name.as_bytes().into())));
        self.table.row(fixed.into_iter().enumerate().chain(cells).chain(named))
    }
}

/// The columns, as they are found in the classes.
#[derive(Default)]
struct Columns {
    list: Vec<(String, ColumnKind)>,
    places: HashMap<String, usize>,
}

impl Columns {
    fn place(&mut self, name: &str, kind: ColumnKind) -> usize {
        *self.places.entry(name.to_owned()).or_insert_with(|| {
            self.list.push((name.to_owned(), kind));
            self.list.len() - 1
        })
    }

    /// The column for a field. Its name gets a `_` before it if every event has a column of that name, and the kind behind it if the
    /// column has another kind or already holds a field of the same event.
    fn place_of_field(&mut self, name: &str, kind: ColumnKind, taken: &[usize]) -> usize {
        let place = self.place(name, kind);
        if place < FIXED.len() {
            return self.place_of_field(&format!("_{name}"), kind, taken);
        }
        if self.list[place].1 != kind || taken.contains(&place) {
            return self.place_of_field(&format!("{name}_{}", kind.name()), kind, taken);
        }
        place
    }
}

fn kind(kind: FieldKind) -> ColumnKind {
    match kind {
        FieldKind::Signed { .. } => ColumnKind::Signed,
        FieldKind::Unsigned { .. } => ColumnKind::Unsigned,
        FieldKind::Text | FieldKind::Name(_) => ColumnKind::Text,
    }
}

/// The address of a class: the same for all of its events.
fn key(class: &EventClass) -> usize {
    ptr::from_ref(class).addr()
}
