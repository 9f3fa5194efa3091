//! The formats that events are written in.

use std::slice;

use crate::render::{Printer, Rendering, Settings, Way};

use super::text::Text;

/// A format.
pub struct Format(pub Box<dyn Printer>);

impl Format {
    pub fn new(writer: impl Printer + 'static) -> Format {
        Format(Box::new(writer))
    }

    /// The lines of these scripts, for standard output: coloured on a terminal.
    pub fn on_stdout(renderings: &'static [Rendering]) -> Format {
        Format::new(Text::on_stdout(renderings))
    }

    /// The lines of one script, for standard output.
    pub fn of_script(rendering: &'static Rendering, settings: &Settings) -> Format {
        match rendering.way {
            Way::Summary { begin, .. } => Format(begin(settings)),
            Way::Lines(_) => Format::on_stdout(slice::from_ref(rendering)),
        }
    }

    /// The lines of these scripts, for a file.
    pub fn plain(renderings: &'static [Rendering]) -> Format {
        Format::new(Text::new(renderings, false))
    }
}
