//! Events as lines: as a script prints them, and events that no script prints with the names of their fields.

use std::collections::HashMap;
use std::io;
use std::ptr;

use anstream::{AutoStream, ColorChoice};
use dyntrace_reader::{Event, EventClass, Value};
use dyntrace_terminal::escape;

use super::places::{self, Places, Spot};
use super::time::Time;
use crate::operation::op;
use crate::render::{self, Piece, Printer, Rendering, append};

pub struct Text {
    renderings: &'static [Rendering],
    is_coloured: bool,
    time: Time,
    places: Places,
    /// Whether events about modules have lines of their own; they are read in any case.
    pub shows_modules: bool,
    /// By the addresses of the classes.
    plans: HashMap<*const EventClass, Plan>,
}

/// How events of a class are printed.
enum Plan {
    /// As a script does. `errno` is the position of that field.
    Script { pieces: Vec<Piece>, errno: Option<usize> },
    /// With the names of their fields, each with the text before it.
    Generic { name: String, fields: Vec<String>, spot: Option<Spot>, is_module: bool },
}

const DIM: &[u8] = b"\x1b[2m";
const RED: &[u8] = b"\x1b[31m";
const PLAIN: &[u8] = b"\x1b[0m";

impl Text {
    /// The lines of the scripts of these `renderings`.
    pub fn new(renderings: &'static [Rendering], is_coloured: bool) -> Text {
        let (time, places) = (Time::default(), Places::new());
        Text { renderings, is_coloured, time, places, shows_modules: false, plans: HashMap::new() }
    }

    /// The same, coloured if standard output is a terminal.
    pub fn on_stdout(renderings: &'static [Rendering]) -> Text {
        Text::new(renderings, AutoStream::choice(&io::stdout()) != ColorChoice::Never)
    }
}

impl Printer for Text {
    fn forget_classes(&mut self) {
        self.plans.clear();
    }

    fn event(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        let plan =
            self.plans.entry(ptr::from_ref(event.class)).or_insert_with(|| Plan::of(event.class, self.renderings));
        let values = super::event::values(event);
        match plan {
            Plan::Script { pieces, errno } => {
                let is_failure = self.is_coloured
                    && errno.is_some_and(|at| !matches!(values.get(at), None | Some(Value::Signed(0))));
                if is_failure {
                    out.extend_from_slice(RED);
                }
                for piece in pieces {
                    match *piece {
                        Piece::Literal(text) => out.extend_from_slice(text.as_bytes()),
                        Piece::Field(at) => values.get(at).into_iter().for_each(|value| append_plain(out, value)),
                        Piece::Command(at) => {
                            if let Some(Value::Signed(number)) = values.get(at) {
                                out.extend_from_slice(op(*number).as_bytes());
                            }
                        }
                    }
                }
                if is_failure {
                    out.extend_from_slice(PLAIN);
                }
            }
            Plan::Generic { name, fields, spot, is_module } => {
                if *is_module {
                    self.places.learn(event);
                    if !self.shows_modules {
                        return;
                    }
                }
                let place = spot.as_ref().and_then(|spot| self.places.shown(spot, &values, event.time));
                let mark = |out: &mut Vec<u8>, with| {
                    if self.is_coloured {
                        out.extend_from_slice(with)
                    }
                };
                mark(out, DIM);
                self.time.append(event.time, out);
                out.extend_from_slice(b" [");
                append::unsigned(out, event.tid);
                out.push(b']');
                mark(out, PLAIN);
                out.extend_from_slice(name.as_bytes());
                for (at, (field, value)) in fields.iter().zip(&values).enumerate() {
                    out.extend_from_slice(field.as_bytes());
                    match &place {
                        Some((there, text)) if *there == at => append::json_string(out, text.as_bytes()),
                        _ => append_quoted(out, value),
                    }
                }
            }
        }
        out.push(b'\n');
    }
}

impl Plan {
    fn of(class: &EventClass, renderings: &[Rendering]) -> Plan {
        match render::pieces(renderings, &class.name, |name| class.position(name)) {
            Some(pieces) => Plan::Script { pieces, errno: class.position("errno") },
            None => Plan::Generic {
                name: format!(" {}", escape::name(&class.name)),
                fields: class.fields.iter().map(|field| format!(" {}=", escape::name(&field.name))).collect(),
                spot: Spot::of(class),
                is_module: class.name == places::MODULE,
            },
        }
    }
}

fn append_plain(out: &mut Vec<u8>, value: &Value) {
    match *value {
        Value::Signed(number) => append::signed(out, number),
        Value::Unsigned(number) => append::unsigned(out, number),
        Value::Text(text) => append::text(out, &text),
    }
}

/// The same with quotes around text, which show its end.
fn append_quoted(out: &mut Vec<u8>, value: &Value) {
    match *value {
        Value::Text(text) => append::json_string(out, &text),
        _ => append_plain(out, value),
    }
}
