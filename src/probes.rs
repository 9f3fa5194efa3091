//! The probe functions that the build makes of `provider.d`.
//!
//! [`efile_drv::entry`] fires `efile_drv-entry`; the closure that makes the arguments runs only while somebody traces.
//! [`efile_drv::entry::is_enabled`] tells so far from any call.
crate::include_provider!("provider");
