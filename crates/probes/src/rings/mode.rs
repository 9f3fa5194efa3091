//! The behavior where a thread's file is full.

use std::fmt;

/// The behavior of a session when a thread's file is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Files grow up to their largest size; then new events are dropped and counted.
    #[default]
    Stream,
    /// Files have their full size from the beginning. When one is full, new events of its thread are dropped and counted.
    Discard,
    /// Files are circular: new events replace the oldest. A snapshot makes a trace of the present contents.
    Overwrite,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Mode; 3] = [Mode::Stream, Mode::Discard, Mode::Overwrite];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Stream => "stream",
            Mode::Discard => "discard",
            Mode::Overwrite => "overwrite",
        }
    }

    /// The default size of a thread's file, in bytes.
    pub fn default_size(self) -> u64 {
        match self {
            Mode::Stream => 1 << 30,
            Mode::Discard | Mode::Overwrite => 1 << 20,
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
