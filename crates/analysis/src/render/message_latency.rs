//! The script `message_latency`: how long messages wait, and how long queues get, by receiver.

use std::collections::{BTreeMap, HashMap, VecDeque};

use dyntrace_reader::Event;
use dyntrace_terminal::escape;

use super::operation::{self, Process, number, text};
use super::times::{TITLES, Times};
use super::way::{Printer, Way};

pub const WAY: Way = Way::Summary {
    probes: &["dyntrace:message-send", "dyntrace:message-queued", "dyntrace:message-receive"],
    begin: |_| Box::<Latency>::default(),
};

#[derive(Default)]
struct Received {
    messages: u64,
    queue_max: i64,
    times: Times,
    /// When the messages on their way were sent, the oldest first.
    on_their_way: VecDeque<i64>,
}

#[derive(Default)]
struct Latency {
    receivers: BTreeMap<Process, Received>,
    /// Whether the last message that a thread sent, by pid and thread, was to another process and is not queued yet.
    have_sent: HashMap<(u64, u64), bool>,
}

impl Printer for Latency {
    fn event(&mut self, event: &Event<'_>, _out: &mut Vec<u8>) {
        let process = event.process.pid;
        let receiver = self.receivers.entry(operation::process(event, "receiver")).or_default();
        let queue_len = number(event, "queue_len");
        receiver.queue_max = receiver.queue_max.max(queue_len);
        match event.class.probe() {
            "message-send" => {
                let to_another = text(event, "sender") != text(event, "receiver");
                self.have_sent.insert((process, event.tid), to_another);
                receiver.on_their_way.push_back(event.time);
            }
            "message-queued" => {
                let is_of_another_node = self.have_sent.insert((process, event.tid), false) != Some(true);
                if is_of_another_node {
                    receiver.on_their_way.push_back(event.time);
                }
            }
            "message-receive" => {
                receiver.messages += 1;
                // If the queue holds all known messages, this one was sent before the recording began.
                if receiver.on_their_way.len() as i64 > queue_len
                    && let Some(sent) = receiver.on_their_way.pop_front()
                {
                    receiver.times.add(event.time.saturating_sub(sent).max(0));
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        let titles = format!(
            "{:>7} {:<12} {:>9} {:>9} {:>9} {:>9} {:>9} {TITLES}\n",
            "process", "receiver", "messages", "timed", "mean_us", "max_us", "queue_max"
        );
        out.extend_from_slice(titles.as_bytes());
        let mut rows: Vec<_> = self.receivers.iter().filter(|(_, received)| received.messages > 0).collect();
        rows.sort_by_key(|(_, received)| received.messages);
        for ((process, receiver), Received { messages, queue_max, times, .. }) in rows {
            let row = format!(
                "{process:>7} {:<12} {messages:>9} {:>9} {:>9} {:>9} {queue_max:>9}{}\n",
                escape::name(receiver),
                times.count,
                times.mean_us(),
                times.max_us,
                times.columns()
            );
            out.extend_from_slice(row.as_bytes());
        }
    }
}
