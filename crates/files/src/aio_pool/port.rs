//! Ports: which driver, or which of its open things, a job belongs to.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use dyntrace_probes::text::{PORT, Text};

/// Names one user of the pool: a driver, or one thing that a driver holds open, such as a file.
///
/// Unique in the program: no number is used twice. Tracers read it as `Display` formats it:
///
/// ```
/// use dyntrace::aio_pool::Port;
///
/// let name = Port::new().to_string();
/// assert!(name.starts_with("#Port<0.") && name.ends_with(">"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Port(u64);

impl Port {
    /// Returns the next port, counted from 1.
    #[expect(clippy::new_without_default, reason = "each call gives another value, so none is the default")]
    pub fn new() -> Port {
        static LAST: AtomicU64 = AtomicU64::new(0);
        // Relaxed: the numbers only have to differ.
        Port(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#Port<0.{}>", self.0)
    }
}

impl From<Port> for Text<'_> {
    #[inline]
    fn from(port: Port) -> Self {
        Text::numbered(&PORT, port.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_shown_as_erlang_shows_it() {
        assert_eq!(Port(7).to_string(), "#Port<0.7>");
        assert_eq!(Port(u64::MAX).to_string(), "#Port<0.18446744073709551615>");
    }

    #[test]
    fn no_two_are_the_same() {
        let (first, second) = (Port::new(), Port::new());
        assert!(first.0 >= 1);
        assert!(first < second);
    }
}
