//! Names that contain a number, which recorders may write as the number alone.

/// A kind of names that contain a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// Names of ports: `#Port<0.7>`.
    Port,
    /// Names of processes: `<0.7.0>`.
    Process,
}

impl Naming {
    /// Every kind.
    pub const ALL: [Naming; 2] = [Naming::Port, Naming::Process];

    /// Bits of the number, which is unsigned.
    pub const BITS: u8 = 32;

    /// Its word in metadata.
    pub fn word(self) -> &'static str {
        match self {
            Naming::Port => "port",
            Naming::Process => "process",
        }
    }

    /// The text before the number, and the one behind it.
    pub fn parts(self) -> [&'static str; 2] {
        match self {
            Naming::Port => ["#Port<0.", ">"],
            Naming::Process => ["<0.", ".0>"],
        }
    }
}
