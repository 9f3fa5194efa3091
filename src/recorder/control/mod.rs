//! The recorder, controlled from outside: sessions that other processes of the same user start, change and stop.
//!
//! [`control`] opens a socket in a folder that nobody else can enter, served by a thread of its own. `dyntrace record -p PID` and its
//! kin talk to it, by [`Connection`]; what they say is in [`protocol`].

mod client;
mod directory;
mod error;
mod peer;
pub mod protocol;
mod server;
mod sessions;

pub use client::Connection;
pub use error::ControlError;
