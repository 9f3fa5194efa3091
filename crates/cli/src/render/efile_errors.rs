//! The script `efile_errors`: the operations of the file driver that fail, as they do.

use std::collections::HashMap;

use dyntrace_reader::Event;

use crate::escape;
use crate::operation::errno_name;

use super::operation::{Id, Step, number, step, text};
use super::{Answer, Commands};

/// The probes it needs.
pub const PROBES: &[&str] = &["dyntrace:efile_drv-entry", "dyntrace:efile_drv-return"];

/// What operations in flight were asked to do.
struct Errors {
    commands: Commands,
    args: HashMap<Id, String>,
}

/// Before the first event.
pub fn begin() -> Box<dyn Answer> {
    Box::new(Errors { commands: Commands::new(), args: HashMap::new() })
}

impl Answer for Errors {
    fn event(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        match step(event) {
            Some((Step::Entry, id)) => {
                let [s1, s2] = ["s1", "s2"].map(|field| escape::name(text(event, field)));
                let [i1, i2] = ["i1", "i2"].map(|field| number(event, field));
                self.args.insert(id, format!("{s1} {s2} , {i1} {i2}"));
            }
            Some((Step::Return, id)) => {
                let Some(args) = self.args.remove(&id).filter(|_| number(event, "success") == 0) else { return };
                let (_process, thread, tag) = id;
                let user_tag = escape::name(text(event, "user_tag"));
                let [command, errno] = ["command", "errno"].map(|field| number(event, field));
                let (op, error) = (self.commands.name(command), errno_name(errno.try_into().unwrap_or_default()));
                let line = format!(
                    "efile_drv error tag={{{thread},{tag}}} user tag {user_tag} | {op} ({command}) | {error} ({errno}) | args: {args}\n"
                );
                out.extend_from_slice(line.as_bytes());
            }
            _ => {}
        }
    }

    fn end(&mut self, _out: &mut Vec<u8>) {}
}
