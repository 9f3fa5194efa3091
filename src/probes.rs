//! Room probes.
