//! The one place that chooses between `std` and `loom`.
