//! Places in the source, as probes show them.

use std::io::Write;
use std::panic::Location;

use super::Text;

/// A place as `file:line`. A longer path is cut.
pub(crate) struct Place {
    bytes: [u8; Place::LIMIT],
    length: usize,
}

impl Place {
    const LIMIT: usize = 200;

    pub(crate) fn new(place: &Location<'_>) -> Place {
        let mut bytes = [0; Place::LIMIT];
        let mut rest = &mut bytes[..];
        // The only error is that the rest is full.
        let _ = write!(rest, "{}:{}", place.file(), place.line());
        let unused = rest.len();
        Place { bytes, length: Place::LIMIT - unused }
    }

    pub(crate) fn text(&self) -> Text<'_> {
        Text::from(&self.bytes[..self.length])
    }
}
