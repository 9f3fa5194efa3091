//! Events as lines: as a script prints them, and those that no script prints with the names of their fields.

use std::collections::HashMap;
use std::ptr;

use dyntrace_reader::{Event, EventClass, Value};

use crate::escape;
use crate::render::{self, Commands, Piece, Rendering, append};

use super::places::{self, Places, Spot};
use super::time::Time;

/// The lines of events.
pub struct Text {
    renderings: &'static [Rendering],
    is_coloured: bool,
    commands: Commands,
    time: Time,
    places: Box<Places>,
    shows_modules: bool,
    /// By the addresses of the classes: they stay where they are as long as the trace.
    plans: HashMap<*const EventClass, Plan>,
}

/// How events of a class are printed.
enum Plan {
    /// As a script does.
    Script {
        pieces: Vec<Piece>,
        /// Where the event says whether it is a failure.
        errno: Option<usize>,
    },
    /// With the names of their fields, each with what stands before and between.
    Generic { name: String, fields: Vec<String>, spot: Option<Spot>, is_module: bool },
}

const DIM: &[u8] = b"\x1b[2m";
const RED: &[u8] = b"\x1b[31m";
const PLAIN: &[u8] = b"\x1b[0m";

impl Text {
    /// Lines as the scripts of these `renderings` print them.
    pub fn new(renderings: &'static [Rendering], is_coloured: bool) -> Text {
        let (commands, time) = (Commands::new(), Time::default());
        let (places, shows_modules) = (Box::new(Places::new()), false);
        Text { renderings, is_coloured, commands, time, places, shows_modules, plans: HashMap::new() }
    }

    /// Forgets the classes: those of the next events are of a trace that was opened anew.
    pub fn forget_classes(&mut self) {
        self.plans.clear();
    }

    /// Events that tell of modules have lines of their own, too.
    pub fn with_modules(mut self, shows_modules: bool) -> Text {
        self.shows_modules = shows_modules;
        self
    }

    /// Appends the line of an event.
    pub fn event(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
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
                                out.extend_from_slice(self.commands.name(*number).as_bytes());
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
        Value::Text(text) => append::text(out, text),
    }
}

/// The same with quotes around text, so that it is seen where it ends.
fn append_quoted(out: &mut Vec<u8>, value: &Value) {
    match *value {
        Value::Text(text) => append::json_string(out, text),
        _ => append_plain(out, value),
    }
}
