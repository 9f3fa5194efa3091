//! String arguments of probes: how call sites give them, and how they are encoded for tracers and for rings.
//!
//! Users see these types in [`sdt`](crate::sdt).

mod argument;
mod buffer;
#[cfg_attr(not(recorder), allow(dead_code, reason = "only rings take names in registers"))]
mod numbered;
mod place;

pub use argument::Text;
pub use buffer::Buffer;
pub use numbered::Shape;
#[cfg(recorder)]
pub(crate) use numbered::{Name, Recorded};
pub(crate) use place::Place;
