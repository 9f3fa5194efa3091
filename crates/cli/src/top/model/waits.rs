//! Waits by kind and place.

use std::collections::HashMap;

use dyntrace_analysis::render::operation::{number, plain_text, text};
use dyntrace_reader::Event;

use super::figures::Waited;
use super::table::{Key, Table};

/// The most waits that are followed at once.
const WAITING: usize = 1 << 18;

#[derive(Default)]
pub struct Waits {
    pub by_place: Table<Waited>,
    /// By program, process and resource. A process may wait for one several times at once.
    waiting: HashMap<(u64, Key), Vec<Key>>,
    count: usize,
    /// Waits that were not followed.
    pub left_out: u64,
}

impl Waits {
    /// Takes the event, if it is of a wait.
    pub fn push(&mut self, event: &Event<'_>) {
        let time = event.time;
        match event.class.name.as_str() {
            "dyntrace:process-wait" => {
                let line = self.by_place.line([plain_text(event, "kind"), plain_text(event, "place")]);
                line.add(time, |of| of.begun += 1);
                if self.count == WAITING {
                    self.left_out += 1;
                    return;
                }
                line.now += 1;
                self.count += 1;
                self.waiting.entry(id(event)).or_default().push(self.by_place.key().into());
            }
            "dyntrace:process-resume" => {
                let waited = number(event, "waited");
                let line = match self.ended(event) {
                    Some(key) => {
                        let line = self.by_place.kept(&key);
                        line.now -= 1;
                        line
                    }
                    // It began before the recording, or was not followed.
                    None => self.by_place.line([plain_text(event, "kind"), plain_text(event, "place")]),
                };
                line.add(time, |of| of.times.count(waited));
            }
            _ => {}
        }
    }

    fn ended(&mut self, event: &Event<'_>) -> Option<Key> {
        let id = id(event);
        let keys = self.waiting.get_mut(&id)?;
        let key = keys.pop()?;
        if keys.is_empty() {
            self.waiting.remove(&id);
        }
        self.count -= 1;
        Some(key)
    }
}

fn id(event: &Event<'_>) -> (u64, Key) {
    let (process, resource) = (text(event, "proc"), text(event, "resource"));
    (event.process.pid, [&process, &[0][..], &resource].concat().into())
}
