//! Room sdt.
