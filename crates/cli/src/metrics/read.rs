//! Reads the counts in a process's answer.

use std::time::Duration;

use dyntrace::monitor::Kind;
use dyntrace::recorder::control::protocol::Record;
use dyntrace_metrics::{CommandFigures, Figures, LaneFigures, MonitorFigures, SessionFigures, Times};

/// The first record is of all pools; each other one says by its names what it is of. A count that is missing is zero.
pub fn figures(records: &[Record]) -> Figures {
    let mut figures = Figures::default();
    let mut sessions = Vec::new();
    for record in records {
        let count = |name| record.number(name).unwrap_or(0);
        let text = |name| record.get(name).unwrap_or_default().to_owned().into();
        if record.get("lane").is_some() {
            let mut lane = LaneFigures::default();
            lane.lane = text("lane");
            (lane.queued, lane.threads, lane.idle) = (count("queued"), count("threads"), count("idle"));
            (lane.blocked, lane.operations) = (count("blocked"), count("operations"));
            (lane.wait, lane.service) = (times(record.get("wait")), times(record.get("service")));
            figures.lanes.push(lane);
        } else if record.get("command").is_some() {
            let mut command = CommandFigures::default();
            (command.driver, command.command) = (text("driver"), text("command"));
            (command.operations, command.errors) = (count("operations"), count("errors"));
            (command.bytes, command.service) = (count("bytes"), Duration::from_nanos(count("service")));
            figures.commands.push(command);
        } else if record.get("session").is_some() {
            let mut session = SessionFigures::default();
            (session.session, session.bytes) = (count("session"), count("bytes"));
            (session.lost, session.removed) = (count("lost"), count("removed"));
            sessions.push(session);
        } else if record.get("monitor").is_some() {
            let mut monitor = MonitorFigures::default();
            monitor.events = Kind::ALL.map(|kind| (kind.name(), count(kind.name()))).into();
            (monitor.left_out, monitor.panics) = (count("left_out"), count("panics"));
            figures.monitor = Some(monitor);
        } else {
            figures.waiting = count("waiting");
            figures.left_out = Some(count("left_out"));
        }
    }
    figures.sessions = Some(sessions);
    figures
}

/// The sum, then `BOUND:COUNT` of each bucket, in nanoseconds. Parts that are no numbers are left out.
fn times(text: Option<&str>) -> Times {
    let mut parts = text.unwrap_or_default().split(' ');
    let mut times = Times::default();
    times.sum = Duration::from_nanos(parts.next().and_then(|sum| sum.parse().ok()).unwrap_or(0));
    let bucket = |part: &str| {
        let (bound, count) = part.split_once(':')?;
        let bound = match bound.parse().ok()? {
            u64::MAX => Duration::MAX,
            bound => Duration::from_nanos(bound),
        };
        Some((bound, count.parse().ok()?))
    };
    times.buckets = parts.filter_map(bucket).collect();
    times
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_answer() {
        let text = [
            "waiting=3\tleft_out=1",
            "lane=fast\tqueued=1\tthreads=4\tidle=2\tblocked=1\toperations=7\twait=5000 1024:2 18446744073709551615:1\tservice=0",
            "driver=own\tcommand=SEND\toperations=7\terrors=1\tbytes=9\tservice=11",
            "session=2\tbytes=4096\tlost=5\tremoved=1",
            "monitor=own\tleft_out=1\tpanics=2\tlong_wait=3",
        ];
        let figures = figures(&text.map(|line| line.parse().unwrap()));
        assert_eq!((figures.waiting, figures.left_out), (3, Some(1)));
        assert_eq!((figures.lanes[0].idle, figures.lanes[0].wait.count()), (2, 3));
        assert_eq!(figures.lanes[0].wait.buckets[1], (Duration::MAX, 1));
        assert_eq!((&*figures.commands[0].command, figures.commands[0].errors), ("SEND", 1));
        let session = &figures.sessions.unwrap()[0];
        assert_eq!((session.lost, session.removed), (5, 1));
        let monitor = figures.monitor.unwrap();
        assert_eq!((monitor.left_out, monitor.panics), (1, 2));
        assert_eq!(monitor.events[..2], [("long_schedule", 0), ("long_wait", 3)]);
    }

    proptest! {
        #[test]
        fn any_answer_becomes_a_valid_page(
            lines in prop::collection::vec("(lane|command|session|wait)=.*\tdriver=.*\t(wait|service)=[0-9: -]*", 0..8),
        ) {
            let records: Vec<Record> = lines.iter().filter_map(|line| line.parse().ok()).collect();
            let figures = figures(&records);
            let page = super::super::exposition::text(&figures);
            prop_assert!(page.lines().all(|line| line.starts_with("dyntrace_") || line.starts_with("# ")), "{}", page);
            super::super::json::object(1, &figures);
        }
    }
}
