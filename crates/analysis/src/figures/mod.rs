//! Figures of groups of operations, for `report` and `diff`.

mod pattern;
mod row;
mod spread;

pub use pattern::pattern;
pub use row::Row;
pub use spread::Spread;
