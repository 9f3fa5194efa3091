//! Figures of groups of operations, for `report` and `diff`.

mod pattern;
mod row;
mod spread;
mod steps;

pub use pattern::pattern;
pub use row::Row;
pub use spread::Spread;
pub use steps::Steps;
