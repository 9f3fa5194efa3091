//! Requests for traces.

use std::time::Duration;

use super::which::Which;
use crate::breakpoint::state::limits::Limits;
use crate::recorder::control::protocol::Record;

/// A request for a trace.
///
/// As a record: `session` if it is named, `pattern` and `process`, once for each, `later` (1 if set),
/// `limit` (events in a second), `events`, `time` and `interval` (milliseconds).
#[derive(Clone, Debug, Default)]
pub struct TraceRequest {
    /// The session's name, by which [orders](crate::trace::remote::Order) for it find it. Without one it gets a number.
    pub session: Option<String>,
    /// The patterns.
    pub patterns: Vec<String>,
    /// Whether they apply to libraries that are loaded later, too: [default patterns](crate::trace::Session::set_default).
    pub later: bool,
    /// The processes whose calls are matched; all if empty.
    pub processes: Vec<Which>,
    /// The limits. The process itself decides how many events may wait.
    pub limits: Limits,
    /// The interval of counts, which then reset. Without it, counts are sent since the beginning.
    pub interval: Option<Duration>,
}

impl TraceRequest {
    /// Returns it as a record.
    pub fn record(&self) -> Record {
        let session = self.session.iter().fold(Record::default(), |record, name| record.with("session", name));
        let patterns = self.patterns.iter().fold(session, |record, pattern| record.with("pattern", pattern));
        let record = self.processes.iter().fold(patterns, |record, process| record.with("process", process));
        let Limits { per_second, events, time, .. } = self.limits;
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let limits = [
            ("later", self.later.then_some(1)),
            ("limit", per_second.map(u64::from)),
            ("events", events),
            ("time", time.map(milliseconds)),
            ("interval", self.interval.map(milliseconds)),
        ];
        let given = limits.into_iter().filter_map(|(name, limit)| Some((name, limit?)));
        given.fold(record, |record, (name, limit)| record.with(name, limit))
    }

    /// Parses a record. An error is a text for the client.
    pub(super) fn read(record: &Record) -> Result<TraceRequest, String> {
        let mut request = TraceRequest::default();
        for (name, value) in record.iter() {
            let number = || value.parse().map_err(|_| format!("{name} is {value:?}, which is no number"));
            match name {
                "session" => request.session = Some(value.to_owned()),
                "pattern" => request.patterns.push(value.to_owned()),
                "process" => request.processes.push(value.parse().map_err(|error| format!("{error}"))?),
                "later" => request.later = number()? != 0,
                "limit" => request.limits.per_second = Some(u32::try_from(number()?).unwrap_or(u32::MAX)),
                "events" => request.limits.events = Some(number()?),
                "time" => request.limits.time = Some(Duration::from_millis(number()?)),
                "interval" => request.interval = Some(Duration::from_millis(number()?)),
                _ => return Err(format!("unknown field {name:?} of a trace: use the dyntrace command of its version")),
            }
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_reads_back() {
        let limits = Limits {
            per_second: Some(7),
            events: Some(u64::MAX),
            time: Some(Duration::from_millis(30)),
            ..Limits::default()
        };
        let processes = vec!["<0.57.0>".parse().unwrap()];
        let request = TraceRequest {
            session: Some("shop".into()),
            patterns: vec!["a::b".into(), "c if x == \"\t\"".into()],
            later: true,
            processes,
            limits,
            interval: Some(Duration::from_secs(1)),
        };
        let read = TraceRequest::read(&request.record().to_string().parse().unwrap()).unwrap();
        assert_eq!(format!("{read:?}"), format!("{request:?}"));
    }

    #[test]
    fn malformed_requests_are_refused() {
        for (text, why) in [
            ("limit=x", "limit is \"x\", which is no number"),
            ("process=57", "\"57\" is no process"),
            ("colour=red", "unknown field \"colour\""),
        ] {
            let error = TraceRequest::read(&text.parse().unwrap()).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
