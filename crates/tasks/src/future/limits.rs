//! Limits of one chain. Honest programs stay below most of them; futures beyond are left out.

/// Bytes of a task's `Core`.
pub(crate) const CELL: u64 = 16 << 20;
/// Readings of a cell before it is called busy.
pub(crate) const TRIES: u32 = 12;
/// Futures, and values around them, that lie in each other.
pub(crate) const DEPTH: u32 = 300;
/// Wrappers such as `Pin` and `Box` around one type.
pub(crate) const WRAPPERS: u32 = 16;
/// Futures of one chain, and values in which futures are looked for.
pub(crate) const VALUES_OF_CHAIN: u32 = 1 << 17;
/// Futures of one collection that are shown.
pub(crate) const ELEMENTS: u64 = 16;
/// Futures of one linked collection that are counted.
pub(crate) const COUNTED: u64 = 100_000;
/// Bytes read outside a cell for one chain.
pub(crate) const OUTSIDE: usize = 4 << 20;
/// Of them, those read for one variable that the chain does not lead to.
pub(crate) const ASIDE: usize = 256 << 10;
/// Types visited to learn whether a type contains a future.
pub(crate) const TYPES: usize = 4096;
/// Values of one chain in which guards are looked for.
pub(crate) const HELD: u32 = 1 << 15;
/// Levels of structs in which file descriptors are looked for.
pub(crate) const STRUCTS: u32 = 24;
/// Values visited to find a file descriptor.
pub(crate) const VALUES: u32 = 2048;
