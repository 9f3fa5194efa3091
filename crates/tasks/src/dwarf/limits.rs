//! Limits of the debug information that the reader accepts. Honest files stay far below each.

/// Bytes of a file's decompressed sections together.
pub(crate) const DECOMPRESSED: u64 = 4 << 30;
/// Bytes of a decompressed section for each of its compressed bytes: the most that zlib reaches.
pub(crate) const EXPANSION: u64 = 1032;
/// Bytes of one name. Types of deeply nested futures have names of tens of kilobytes.
pub(crate) const NAME: usize = 1 << 18;
/// Levels of a path such as `a::b::c`.
pub(crate) const PATH: usize = 128;
/// Entries below one type: members, variants and parameters.
pub(crate) const ENTRIES_OF_TYPE: usize = 1 << 13;
/// Entries below one function: its blocks, inlined calls and variables.
pub(crate) const ENTRIES_OF_FUNCTION: usize = 1 << 20;
/// References from an entry to its origin, or from a `typedef` to its type, one after the other.
pub(crate) const REFERENCES: usize = 16;
/// Types that are kept once read. A program with 100,000 kinds of task reads fewer.
pub(crate) const TYPES_KEPT: usize = 1 << 20;
/// Calls of tokio's functions that spawn.
pub(crate) const SPAWNS: usize = 1 << 16;
/// Threads that index units.
pub(crate) const THREADS: usize = 16;
/// Units of one section.
pub(crate) const UNITS: usize = 1 << 18;
/// Bytes of line tables' headers: units that dwz has made share one, which is read for each.
pub(crate) const LINES: usize = 1 << 30;
/// Bytes of a unit that only says where the unit is: two paths and some numbers.
pub(crate) const SKELETON: usize = 1 << 14;
/// Units in further files.
pub(crate) const SPLIT_UNITS: usize = 1 << 16;
