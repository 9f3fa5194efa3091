//! String arguments of probes: how call sites give them, and how they are encoded for tracers and for rings.
//!
//! Users see these types in [`sdt`](crate::sdt).

mod argument;
mod buffer;
#[cfg(rings)]
mod named;
#[cfg_attr(not(rings), allow(dead_code, reason = "only rings take names in registers"))]
mod numbered;
mod place;

pub use argument::Text;
pub use buffer::Buffer;
#[cfg(rings)]
pub use named::{Named, Numbered};
pub use numbered::Shape;
pub use numbered::digits;
#[cfg(rings)]
pub use numbered::{Name, Recorded};
pub use numbered::{PORT, PROCESS};
pub use place::SourcePlace;
