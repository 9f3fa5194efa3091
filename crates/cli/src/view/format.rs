//! The ways to write events.

use std::io;
use std::slice;

use anstream::{AutoStream, ColorChoice};
use dyntrace_reader::Event;

use crate::render::{Answer, Rendering, Way};

use super::causal::Causal;
use super::csv::Csv;
use super::json::Json;
use super::text::Text;

/// One of them.
pub enum Format {
    /// As lines of scripts.
    Text(Text),
    /// As lines of scripts, by what led to what.
    Causal(Box<Causal>),
    /// As objects.
    Json(Json),
    /// As a table.
    Csv(Csv),
    /// As the lines of a script that remembers them.
    Answer(Box<dyn Answer>),
}

impl Format {
    /// As the scripts of these `renderings` print them, on standard output.
    pub fn on_stdout(renderings: &'static [Rendering]) -> Format {
        let is_coloured = AutoStream::choice(&io::stdout()) != ColorChoice::Never;
        Format::Text(Text::new(renderings, is_coloured))
    }

    /// Events that tell of modules are shown as others are, where they would only be taken in.
    pub fn with_modules(self, shows_modules: bool) -> Format {
        match self {
            Format::Text(text) => Format::Text(text.with_modules(shows_modules)),
            other => other,
        }
    }

    /// The lines of one sequential trace.
    pub fn causal(self) -> Format {
        match self {
            Format::Text(text) => Format::Causal(Box::new(Causal::new(text))),
            other => other,
        }
    }

    /// As the script of `rendering` prints them, on standard output.
    pub fn of_script(rendering: &'static Rendering) -> Format {
        match rendering.way {
            Way::Answer { begin, .. } => Format::Answer(begin()),
            Way::Lines(_) => Format::on_stdout(slice::from_ref(rendering)),
        }
    }

    /// The same as `on_stdout` for a file.
    pub fn plain(renderings: &'static [Rendering]) -> Format {
        Format::Text(Text::new(renderings, false))
    }

    /// Forgets the classes: those of the next events are of a trace that was opened anew.
    pub fn forget_classes(&mut self) {
        match self {
            Format::Text(text) => text.forget_classes(),
            Format::Causal(causal) => causal.forget_classes(),
            Format::Json(json) => json.forget_classes(),
            Format::Csv(csv) => csv.forget_classes(),
            Format::Answer(_) => {}
        }
    }

    /// Appends the line of an event.
    pub fn event(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        match self {
            Format::Text(text) => text.event(event, out),
            Format::Causal(causal) => causal.event(event, out),
            Format::Json(json) => json.event(event, out),
            Format::Csv(csv) => csv.event(event, out),
            Format::Answer(answer) => answer.event(event, out),
        }
    }

    /// Appends what is said after the last event.
    pub fn end(&mut self, out: &mut Vec<u8>) {
        if let Format::Answer(answer) = self {
            answer.end(out);
        }
    }
}
