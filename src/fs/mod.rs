//! Room fs.
