//! Room user_trace.
