//! Places in the source, as probes show them.

use std::panic::Location;

use super::argument::{Text, TextKind};

/// A place as `file:line`. A path that leaves no room for the line is cut.
#[derive(Clone, Copy)]
pub struct SourcePlace<'p>(&'p Location<'p>);

impl<'p> SourcePlace<'p> {
    #[inline]
    pub fn new(place: &'p Location<'p>) -> SourcePlace<'p> {
        SourcePlace(place)
    }

    /// The text, which is formatted only when the probe fires.
    #[inline]
    pub fn text(&self) -> Text<'p> {
        Text(TextKind::SourcePlace(self.0))
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
        assert_eq!(buffer.bytes(SourcePlace::new(place).text()), text.as_bytes());
        assert_eq!(format!("{:?}", SourcePlace::new(place).text()), format!("{text:?}"));
    }
}
