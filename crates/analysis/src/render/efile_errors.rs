//! The script `efile_errors`: file operations that fail.

use std::collections::HashMap;

use dyntrace_reader::{Event, OperationStep};
use dyntrace_terminal::escape;

use super::operation::{Id, number, step, text};
use super::way::{Printer, Way};
use crate::operation::{errno_name, op};

pub const WAY: Way = Way::Summary {
    probes: &["dyntrace:efile_drv-entry", "dyntrace:efile_drv-return"],
    begin: |_| Box::<Errors>::default(),
};

/// The arguments of operations in flight.
#[derive(Default)]
struct Errors(HashMap<Id, String>);

impl Printer for Errors {
    fn event(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        match step(event) {
            Some((OperationStep::Entry, id)) => {
                let [s1, s2] = ["s1", "s2"].map(|field| escape::name(text(event, field)));
                let [i1, i2] = ["i1", "i2"].map(|field| number(event, field));
                self.0.insert(id, format!("{s1} {s2} , {i1} {i2}"));
            }
            Some((OperationStep::Return, id)) => {
                let Some(args) = self.0.remove(&id).filter(|_| number(event, "success") == 0) else { return };
                let (_process, thread, tag) = id;
                let user_tag = escape::name(text(event, "user_tag"));
                let [command, errno] = ["command", "errno"].map(|field| number(event, field));
                let (op, error) = (op(command), errno_name(errno.try_into().unwrap_or_default()));
                let line = format!(
                    "efile_drv error tag={{{thread},{tag}}} user tag {user_tag} | {op} ({command}) | {error} ({errno}) | args: {args}\n"
                );
                out.extend_from_slice(line.as_bytes());
            }
            _ => {}
        }
    }
}
