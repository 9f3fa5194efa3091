//! String arguments of probes: how call sites give them, and how they are encoded for tracers and for rings.
//!
//! Users see these types in [`sdt`](crate::sdt).

mod argument;
mod buffer;
#[cfg(recorder)]
mod named;
#[cfg_attr(not(recorder), allow(dead_code, reason = "only rings take names in registers"))]
mod numbered;
mod place;

pub use argument::Text;
pub use buffer::Buffer;
#[cfg(recorder)]
pub(crate) use named::{Named, Numbered};
pub use numbered::Shape;
pub(crate) use numbered::digits;
#[cfg(recorder)]
pub(crate) use numbered::{Name, Recorded};
pub(crate) use numbered::{PORT, PROCESS};
pub(crate) use place::Place;
