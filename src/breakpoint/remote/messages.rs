//! Messages to clients, as records.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::breakpoint::event::caller::{Address, Caller};
use crate::breakpoint::event::object::CodeAddress;
use crate::breakpoint::event::{Event, Kind};
use crate::breakpoint::session::info::{Count, Info, Memory};
use crate::recorder::control::clients::messages;
use crate::recorder::control::protocol::Record;
use dyntrace_processes::seq_trace::Token;

pub(super) fn event(event: &Event) -> Record {
    let told = match event.kind {
        Kind::Call => "call",
        Kind::Return => "return",
        Kind::Error => "error",
        Kind::ReturnTo => "return_to",
        Kind::Panic => "panic",
        Kind::Cancelled => "cancelled",
    };
    let record = Record::default()
        .with("told", told)
        .with("time", since_1970(event.time))
        .with("process", event.process)
        .with("thread", event.thread)
        .with("function", event.function.path())
        .with("file", event.function.file)
        .with("line", event.function.line);
    let record = with(record, "thread_name", Some(event.thread_name).filter(|name| !name.is_empty()));
    let record = with(record, "tag", event.tag.as_deref());
    let text = (!matches!(event.kind, Kind::ReturnTo | Kind::Cancelled)).then_some(&*event.text);
    let record = with(record, "text", text);
    let record = with(record, "cut", event.text.is_cut().then_some(1));
    let record = match event.caller {
        Some(Caller::Address(Address { inside, returns_to })) => {
            record.with("inside", CodeAddress::of(inside)).with("returns_to", CodeAddress::of(returns_to))
        }
        caller => with(record, "caller", caller),
    };
    let record = match &event.token {
        Some(token) => {
            let (_, previous, current) = Token::shown(Some(token));
            let record = record.with("label", format_args!("{:?}", token.label));
            record.with("previous", previous).with("current", current)
        }
        None => record,
    };
    let stack = event.stack.iter().flat_map(|stack| stack.addresses());
    let record = stack.fold(record, |record, address| record.with("frame", CodeAddress::of(*address)));
    let record = with(record, "took", event.took.map(|took| took.as_nanos()));
    with(record, "polled", event.polled.map(|polled| polled.as_nanos()))
}

fn since_1970(time: SystemTime) -> u128 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()
}

/// Adds a field that may be missing.
pub(super) fn with(record: Record, name: &str, value: Option<impl Display>) -> Record {
    match value {
        Some(value) => record.with(name, value),
        None => record,
    }
}

/// Makes the messages with the counts of all functions that were called. `at` is when they were read.
pub(super) fn counts(counts: &[Count], at: SystemTime) -> Vec<Vec<Record>> {
    let mut functions: BTreeMap<&str, (u64, Duration, Duration, Option<Memory>)> = BTreeMap::new();
    for count in counts.iter().filter(|count| count.calls > 0) {
        let sum = functions.entry(count.function.name).or_default();
        let memory = count.memory.map_or(sum.3, |memory| Some(sum.3.unwrap_or_default().and(memory)));
        *sum = (sum.0 + count.calls, sum.1 + count.time, sum.2 + count.own_time, memory);
    }
    let mut messages = messages(functions.into_iter().map(|(name, (calls, time, own, memory))| {
        let record = Record::default().with("function", name).with("calls", calls);
        let record = record.with("time", time.as_nanos()).with("own", own.as_nanos());
        let record = with(record, "bytes", memory.map(|memory| memory.bytes));
        with(record, "own_bytes", memory.map(|memory| memory.own_bytes))
    }));
    let last = messages.len() - 1;
    let at = since_1970(at);
    for (number, message) in messages.iter_mut().enumerate() {
        message
            .insert(0, Record::default().with("told", "counts").with("more", u8::from(number < last)).with("at", at));
    }
    messages
}

/// The events and ends that a session has left out so far.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Lost {
    dropped: u64,
    limited: u64,
    unended: u64,
}

impl Lost {
    pub(super) fn of(info: &Info) -> Lost {
        Lost { dropped: info.dropped, limited: info.limited, unended: info.unended }
    }

    pub(super) fn record(self) -> Record {
        self.with(Record::default().with("told", "lost"))
    }

    fn with(self, record: Record) -> Record {
        record.with("dropped", self.dropped).with("limited", self.limited).with("unended", self.unended)
    }
}

/// Makes the last record. `unheard` is the number of events that could not be sent to the client.
pub(super) fn end(info: &Info, unheard: u64) -> Record {
    let end = Record::default()
        .with("told", "end")
        .with("patterns", info.patterns.len())
        .with("functions", info.patterns.iter().map(|pattern| pattern.functions).sum::<usize>())
        .with("events", info.delivered.saturating_sub(unheard));
    let lost = Lost::of(info);
    let end = Lost { dropped: lost.dropped + unheard, ..lost }.with(end);
    let Some(held_up) = &info.held_up else { return end };
    end.with("held_up", held_up.time.as_nanos())
        .with("held_up_since", since_1970(held_up.since))
        .with("held_up_by", held_up.threads.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::breakpoint::site::Function;

    #[test]
    fn many_counts_take_many_messages() {
        let function = |number: u32| -> &'static Function {
            let name = Box::leak(format!("shop::{}::f{number:05}/1", "x".repeat(100)).into_boxed_str());
            Box::leak(Box::new(Function::new(name, "src/shop.rs", number, &["x"])))
        };
        let count = |number| Count {
            function: function(number),
            is_current: true,
            calls: number.into(),
            time: Duration::from_nanos(7),
            own_time: Duration::from_nanos(5),
            memory: (number == 998).then_some(Memory { bytes: 3, own_bytes: 2 }),
        };
        let all: Vec<Count> = (0..1000).map(count).collect();
        let messages = counts(&[all.clone(), all].concat(), UNIX_EPOCH);
        assert!(messages.len() > 3);
        let more: Vec<_> = messages.iter().map(|message| message[0].number("more").unwrap()).collect();
        assert_eq!(more.iter().filter(|more| **more == 0).count(), 1);
        assert_eq!(more.last(), Some(&0));
        let rows: Vec<&Record> = messages.iter().flat_map(|message| &message[1..]).collect();
        assert_eq!(rows.len(), 999, "functions that were not called have no row");
        assert_eq!(["calls", "time", "own"].map(|name| rows[998].number(name)), [Some(1998), Some(14), Some(10)]);
        let bytes = |row: &Record| ["bytes", "own_bytes"].map(|name| row.number(name));
        assert_eq!((bytes(rows[997]), bytes(rows[998])), ([Some(6), Some(4)], [None; 2]));
        assert_eq!(counts(&[], UNIX_EPOCH).len(), 1);
    }
}
