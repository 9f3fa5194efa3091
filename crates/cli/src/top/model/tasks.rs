//! Tasks by function.

use std::collections::HashMap;

use dyntrace_analysis::render::operation::{number, plain_text, text};
use dyntrace_reader::Event;

use super::figures::Polled;
use super::sliding::begin;
use super::table::{Key, Table};

/// The most tasks that are followed at once.
const ALIVE: usize = 1 << 18;

#[derive(Default)]
pub struct Tasks {
    pub by_function: Table<Polled>,
    alive: HashMap<(u64, Key), Task>,
    /// Tasks that were not followed.
    pub left_out: u64,
}

struct Task {
    function: Key,
    polled: Option<i64>,
}

impl Tasks {
    /// Takes the event, if it is of a task.
    pub fn push(&mut self, event: &Event<'_>) {
        let Some(step) = event.class.name.strip_prefix("dyntrace:process-") else { return };
        let time = event.time;
        match step {
            "spawn" => {
                let function = self.begin(event);
                self.by_function.kept(&function).add(time, |of| of.spawned += 1);
            }
            "scheduled" => {
                self.begin(event);
            }
            "unscheduled" => {
                let polled = number(event, "polled");
                let is_panic = plain_text(event, "outcome") == b"panic";
                let task = self.alive.get_mut(&id(event));
                let line = match task {
                    Some(task) => {
                        task.polled = Some(time);
                        self.by_function.kept(&task.function)
                    }
                    // Its function is not known.
                    None => self.by_function.line([b""]),
                };
                line.add(time, |of| {
                    of.polls.count(polled);
                    of.panics += u64::from(is_panic);
                });
            }
            "exit" => {
                if let Some(task) = self.alive.remove(&id(event)) {
                    let line = self.by_function.kept(&task.function);
                    line.now -= 1;
                    line.add(time, |of| of.ended += 1);
                }
            }
            _ => {}
        }
    }

    /// The function of the task, which is alive from now on if it was not known.
    fn begin(&mut self, event: &Event<'_>) -> Key {
        let id = id(event);
        if let Some(task) = self.alive.get(&id) {
            return task.function.clone();
        }
        let is_followed = self.alive.len() < ALIVE;
        let line = self.by_function.line([plain_text(event, "fun")]);
        line.now += i64::from(is_followed);
        let function = Key::from(self.by_function.key());
        if is_followed {
            self.alive.insert(id, Task { function: function.clone(), polled: None });
        } else {
            self.left_out += u64::from(event.class.probe() == "process-spawn");
        }
        function
    }

    /// How many tasks of each function are alive and had no poll in the window that ends at `now`.
    pub fn still(&self, now: i64) -> HashMap<&[u8], u64> {
        let (mut still, begin) = (HashMap::new(), begin(now));
        for task in self.alive.values().filter(|task| task.polled.is_none_or(|time| time < begin)) {
            *still.entry(&*task.function).or_default() += 1;
        }
        still
    }
}

fn id(event: &Event<'_>) -> (u64, Key) {
    (event.process.pid, Key::from(&*text(event, "proc")))
}
