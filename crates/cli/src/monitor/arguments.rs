//! The arguments of `dyntrace monitor`.

use std::path::PathBuf;
use std::time::Duration;

use dyntrace::monitor::Kind;
use dyntrace_analysis::view::time;

const HELP: &str = "\
Examples:
  dyntrace monitor -p 4711
  dyntrace monitor -p 4711 --long-schedule 100ms --long-wait 5s
  dyntrace monitor -p 4711 --too-many-tasks 10000 --long-message-queue 1000 --for 60s
  dyntrace monitor -p 4711 --long-schedule 50ms --snapshot --json

An event tells that a poll, a task, a mailbox, a port or a queue has crossed its limit; the next
one of the same comes after it fell to the limit or below, and crossed it again. Each fires a probe
system_monitor-KIND of the process, too. A poll that lasts comes with the functions that its thread
is in: this command holds the thread for a moment, as dyntrace threads does, when the event has come.

From then on the process keeps its table of tasks, if a limit of tasks, polls or waits is given. Of
tasks that it spawned before, polls are seen, without names of functions; they are not counted, and
waits of them are not seen: a line says of how many.

The process opens its control socket when it is asked to, at its next file operation, message, call
of a traced function or poll of a task of dyntrace::spawn; it has the socket from the start if it
calls dyntrace::recorder::control() or has DYNTRACE=control.

Exit status:
   0  the monitor has ended: by an interrupt, by --for, or because the process ended
   1  the process does not answer or refuses
   2  wrong use
   3  events were left out: more than 100 of a kind at once
   5  polls, waits or the number of tasks had no event, and not all tasks are seen: a line says
      how many
  65  there is no such process, or it does not allow control";

/// Tell when a poll, a wait, a mailbox or a queue of a process becomes too long, while it lasts
#[derive(clap::Args)]
#[command(after_long_help = HELP)]
pub struct Arguments {
    /// The process
    #[arg(short, long)]
    pub pid: u32,
    /// Polls that last longer: 100ms [without any limit: 100ms]
    #[arg(long, value_name = "TIME", value_parser = limit)]
    long_schedule: Option<Duration>,
    /// Waits that last longer: 5s
    #[arg(long, value_name = "TIME", value_parser = limit)]
    long_wait: Option<Duration>,
    /// Mailboxes with more messages
    #[arg(long, value_name = "N")]
    long_message_queue: Option<u64>,
    /// Ports of the pool of I/O threads for which more jobs have not started
    #[arg(long, value_name = "N")]
    busy_port: Option<u64>,
    /// More closures of spawn_blocking that wait for a thread
    #[arg(long, value_name = "N")]
    long_blocking_queue: Option<u64>,
    /// More tasks in the table
    #[arg(long, value_name = "N")]
    pub too_many_tasks: Option<u64>,
    /// Have the flight recorders of the process take a snapshot at each event
    #[arg(long)]
    snapshot: bool,
    /// End after this time: 60s
    #[arg(long = "for", value_name = "TIME", value_parser = time::length)]
    pub length: Option<Duration>,
    /// Leave out the functions of threads, and hold none
    #[arg(long)]
    pub no_stacks: bool,
    /// The file with the program's debug information, if it is not where debuggers look
    #[arg(long, value_name = "FILE", conflicts_with = "no_stacks")]
    pub debug: Option<PathBuf>,
    /// All functions, also those of the runtime and the standard library
    #[arg(short, long, conflicts_with = "json")]
    pub all: bool,
    /// Print JSON, one object per event
    #[arg(long)]
    pub json: bool,
}

impl Arguments {
    /// The limits, as the process reads them.
    pub fn limits(&self) -> String {
        let time = |limit: Option<Duration>| limit.map(|limit| format!("{}us", limit.as_micros()));
        let number = |limit: Option<u64>| limit.map(|limit| limit.to_string());
        let given = [
            (Kind::LongSchedule, time(self.long_schedule)),
            (Kind::LongWait, time(self.long_wait)),
            (Kind::LongMessageQueue, number(self.long_message_queue)),
            (Kind::BusyPort, number(self.busy_port)),
            (Kind::LongBlockingQueue, number(self.long_blocking_queue)),
            (Kind::TooManyTasks, number(self.too_many_tasks)),
        ];
        let limits = given.into_iter().filter_map(|(kind, limit)| Some(format!("{kind}:{}", limit?)));
        let mut words: Vec<String> = limits.collect();
        if words.is_empty() {
            words.push(format!("{}:100ms", Kind::LongSchedule));
        }
        words.extend(self.snapshot.then(|| "snapshot".to_owned()));
        words.join(",")
    }

    /// Whether polls are monitored.
    pub fn has_polls(&self) -> bool {
        self.kinds_of_tasks().any(|kind| kind == Kind::LongSchedule)
    }

    /// The kinds of events that only tasks in the table have.
    pub fn kinds_of_tasks(&self) -> impl Iterator<Item = Kind> {
        let limits = self.limits();
        let kinds = [Kind::LongSchedule, Kind::LongWait, Kind::TooManyTasks].into_iter();
        kinds.filter(move |kind| limits.split(',').any(|limit| limit.starts_with(&format!("{kind}:"))))
    }
}

fn limit(text: &str) -> Result<Duration, String> {
    let time = time::length(text)?;
    let is_allowed = (Duration::from_millis(1)..=Duration::from_secs(24 * 3600)).contains(&time);
    if is_allowed { Ok(time) } else { Err("expected a time from 1ms to 24h".to_owned()) }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn limits(line: &str) -> Result<String, String> {
        let words = ["monitor", "-p", "7"].into_iter().chain(line.split_ascii_whitespace());
        Line::try_parse_from(words).map(|line| line.arguments.limits()).map_err(|error| error.to_string())
    }

    #[test]
    fn limits_are_as_the_process_reads_them() {
        for (line, expected) in [
            ("", "long_schedule:100ms"),
            ("--snapshot", "long_schedule:100ms,snapshot"),
            ("--long-wait 1.5s", "long_wait:1500000us"),
            (
                "--too-many-tasks 9 --long-schedule 1ms --busy-port 0 --long-blocking-queue 3 --long-message-queue 4 --snapshot",
                "long_schedule:1000us,long_message_queue:4,busy_port:0,long_blocking_queue:3,too_many_tasks:9,snapshot",
            ),
        ] {
            assert_eq!(limits(line).as_deref(), Ok(expected));
        }
        for wrong in ["--long-wait 1us", "--long-schedule 25h", "--busy-port -1", "--long-wait five"] {
            assert!(limits(wrong).is_err(), "{wrong}");
        }
    }
}
