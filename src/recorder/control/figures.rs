//! The counts of the process's pools and sessions, as records for a client that shows them as metrics.

use std::fmt;

use super::extension::counts_of_monitors;
use super::protocol::Record;
use dyntrace_files::aio_pool::{self, Histogram, LaneMetrics, Metrics};

/// The most bytes of all records of commands. The rest of an answer is shorter than what remains of a message.
const LONGEST: usize = 48 << 10;

/// The values of a session's status that are counts.
const OF_SESSIONS: [&str; 7] = ["session", "threads", "bytes", "lost", "removed", "snapshots", "suppressed"];

/// Returns one record of the pools, one of each lane, of each command and of each session, and one of the program's monitors.
pub(super) fn figures(sessions: &[Record]) -> Vec<Record> {
    let mut records = pools(&aio_pool::metrics(), LONGEST);
    records.extend(sessions.iter().map(counts));
    records.extend(counts_of_monitors());
    records
}

/// `longest` limits the bytes of the commands' records. Commands without room are counted in the first record.
fn pools(metrics: &Metrics, longest: usize) -> Vec<Record> {
    let mut commands = Vec::new();
    let (mut bytes, mut left_out) = (0, 0);
    for sums in &metrics.commands {
        let record = Record::default()
            .with("driver", sums.driver)
            .with("command", sums.command)
            .with("operations", sums.operations)
            .with("errors", sums.errors)
            .with("bytes", sums.bytes)
            .with("service", sums.service.as_nanos());
        let length = record.to_string().len() + 1;
        if bytes + length <= longest {
            bytes += length;
            commands.push(record);
        } else {
            left_out += 1;
        }
    }
    let all = Record::default().with("waiting", metrics.waiting).with("left_out", left_out);
    let lanes = [lane("fast", &metrics.fast), lane("slow", &metrics.slow)];
    [vec![all], lanes.into(), commands].concat()
}

fn lane(name: &str, lane: &LaneMetrics) -> Record {
    Record::default()
        .with("lane", name)
        .with("queued", lane.queued)
        .with("threads", lane.threads)
        .with("idle", lane.idle)
        .with("blocked", lane.blocked)
        .with("operations", lane.operations)
        .with("wait", Times(&lane.wait))
        .with("service", Times(&lane.service))
}

fn counts(session: &Record) -> Record {
    let number = |record: Record, name| match session.number(name) {
        Some(number) => record.with(name, number),
        None => record,
    };
    OF_SESSIONS.into_iter().fold(Record::default(), number)
}

/// As text: the sum, then `BOUND:COUNT` for each bucket that is not empty, separated by spaces. Times are in nanoseconds.
struct Times<'a>(&'a Histogram);

impl fmt::Display for Times<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.sum().as_nanos())?;
        // The last bound does not fit into 64 bits.
        let bound = |bound: std::time::Duration| u64::try_from(bound.as_nanos()).unwrap_or(u64::MAX);
        self.0.buckets().try_for_each(|(end, count)| write!(f, " {}:{count}", bound(end)))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::recorder::control::protocol::{self, Reply};
    use dyntrace_files::aio_pool::CommandMetrics;

    fn command(number: u64) -> CommandMetrics {
        let mut command = CommandMetrics::default();
        (command.driver, command.command) = ("own", format!("NAME\t{number}").leak());
        (command.operations, command.errors, command.bytes) = (number, 1, 5);
        command.service = Duration::from_nanos(number);
        command
    }

    fn metrics(commands: Vec<CommandMetrics>) -> Metrics {
        let mut metrics = Metrics::default();
        (metrics.waiting, metrics.commands) = (3, commands);
        metrics
    }

    #[test]
    fn one_record_each() {
        let metrics = metrics(vec![command(7)]);
        let text: Vec<String> = pools(&metrics, LONGEST).iter().map(Record::to_string).collect();
        let lane = "queued=0\tthreads=0\tidle=0\tblocked=0\toperations=0\twait=0\tservice=0";
        assert_eq!(
            text,
            [
                "waiting=3\tleft_out=0".to_owned(),
                format!("lane=fast\t{lane}"),
                format!("lane=slow\t{lane}"),
                "driver=own\tcommand=NAME\\t7\toperations=7\terrors=1\tbytes=5\tservice=7".to_owned(),
            ]
        );
    }

    #[test]
    fn any_number_of_commands_fits_into_a_message() {
        let metrics = metrics((0..3000).map(command).collect());
        let records = pools(&metrics, LONGEST);
        let shown = records.len() as u64 - 3;
        assert_eq!(records[0].number("left_out"), Some(3000 - shown));
        assert!(shown > 500 && protocol::frame(&Reply(Ok(records)).to_string()).is_ok());
    }

    #[test]
    fn of_a_session_only_counts() {
        let session = Record::default().with("session", 2).with("folder", "/t").with("lost", 5).with("mode", "x");
        assert_eq!(counts(&session).to_string(), "session=2\tlost=5");
    }
}
