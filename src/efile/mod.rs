//! The file driver: every file operation of the program goes through here, and tells about itself on the way.
//!
//! # The table of commands
//!
//! What the arguments of `efile_drv-entry` hold. *Italic* ones are dyntrace's additions to Erlang's table, and so are all
//! commands from 64 up. A string that a command does not use is a null pointer, an integer 0.
//!
#![doc = include_str!("commands.md")]

mod command;

pub use command::{Argument, Command, Position};
