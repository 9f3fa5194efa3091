//! Places in the source, as probes show them.

use std::panic::Location;

use super::argument::{Kind, Text};

/// A place as `file:line`. A path that leaves no room for the line is cut.
#[derive(Clone, Copy)]
pub struct Place<'p>(&'p Location<'p>);

impl<'p> Place<'p> {
    #[inline]
    pub fn new(place: &'p Location<'p>) -> Place<'p> {
        Place(place)
    }

    /// The text, which is formatted only when the probe fires.
    #[inline]
    pub fn text(&self) -> Text<'p> {
        Text(Kind::Place(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Buffer;

    #[test]
    fn a_place_is_its_file_and_line() {
        let place = Location::caller();
        let text = format!("{}:{}", place.file(), place.line());
        let mut buffer = Buffer::new();
        assert_eq!(buffer.bytes(Place::new(place).text()), text.as_bytes());
        assert_eq!(format!("{:?}", Place::new(place).text()), format!("{text:?}"));
    }
}
