//! Texts of events.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::io::Write as _;
use std::ops::Deref;

use dyntrace_metadata::Naming;

/// The bytes of a string, without its NUL.
///
/// Most are in the mapped file. The recorder writes usual names of ports and processes as numbers; their texts are in this value.
#[derive(Clone, Copy)]
pub struct Text<'t>(Place<'t>);

#[derive(Clone, Copy)]
enum Place<'t> {
    File(&'t [u8]),
    Here { bytes: [u8; LONGEST], length: u8 },
}

/// `#Port<0.4294967295>`
const LONGEST: usize = 19;

impl<'t> Text<'t> {
    /// The name with this number.
    pub(crate) fn name(naming: Naming, number: u32) -> Text<'t> {
        let ([before, behind], mut bytes) = (naming.parts(), [0; LONGEST]);
        let mut rest = &mut bytes[..];
        // Every name fits.
        let _ = write!(rest, "{before}{number}{behind}");
        let length = (LONGEST - rest.len()) as u8;
        Text(Place::Here { bytes, length })
    }

    /// Returns the bytes in the mapped file, which last as long as the trace; `None` if the file has only a number.
    pub fn in_file(self) -> Option<&'t [u8]> {
        match self.0 {
            Place::File(bytes) => Some(bytes),
            Place::Here { .. } => None,
        }
    }
}

impl<'t> From<&'t [u8]> for Text<'t> {
    fn from(bytes: &'t [u8]) -> Self {
        Text(Place::File(bytes))
    }
}

impl<'t, const N: usize> From<&'t [u8; N]> for Text<'t> {
    fn from(bytes: &'t [u8; N]) -> Self {
        Text(Place::File(bytes))
    }
}

impl<'t> From<&'t str> for Text<'t> {
    fn from(text: &'t str) -> Self {
        Text(Place::File(text.as_bytes()))
    }
}

impl Default for Text<'_> {
    fn default() -> Self {
        Text(Place::File(b""))
    }
}

impl Deref for Text<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Place::File(bytes) => bytes,
            Place::Here { bytes, length } => &bytes[..usize::from(*length)],
        }
    }
}

impl AsRef<[u8]> for Text<'_> {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Text<'_>) -> bool {
        **self == **other
    }
}

impl Eq for Text<'_> {}

impl Hash for Text<'_> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (**self).hash(hasher);
    }
}

impl PartialEq<[u8]> for Text<'_> {
    fn eq(&self, other: &[u8]) -> bool {
        **self == *other
    }
}

impl PartialEq<&[u8]> for Text<'_> {
    fn eq(&self, other: &&[u8]) -> bool {
        **self == **other
    }
}

impl<const N: usize> PartialEq<&[u8; N]> for Text<'_> {
    fn eq(&self, other: &&[u8; N]) -> bool {
        **self == **other
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_all_numbers_fit() {
        for (number, port, process) in
            [(0, "#Port<0.0>", "<0.0.0>"), (u32::MAX, "#Port<0.4294967295>", "<0.4294967295.0>")]
        {
            assert_eq!(Text::name(Naming::Port, number), Text::from(port));
            assert_eq!(Text::name(Naming::Process, number), Text::from(process));
        }
        assert_eq!(Text::name(Naming::Port, 7).in_file(), None);
    }
}
