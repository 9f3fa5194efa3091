//! Room efile.
