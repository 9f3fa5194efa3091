//! The application's own events.
