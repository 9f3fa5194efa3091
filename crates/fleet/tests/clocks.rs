//! Clocks with made-up offsets and drifts: after alignment no message goes backwards, and the error bars hold the truth.

use dyntrace_fleet::clocks::{Alignment, Message, Piece, align};
use proptest::prelude::*;

/// The most that clocks of these tests drift, in parts in a million, and the limit that alignment assumes.
const DRIFT: i64 = 150;
const LIMIT: u32 = 200;

/// A clock that shows `offset` at time 0 and drifts.
#[derive(Clone, Copy, Debug)]
struct Clock {
    offset: i64,
    /// Parts in a million.
    drift: i64,
}

impl Clock {
    fn at(self, time: i64) -> i64 {
        let drifted = i128::from(time) * i128::from(self.drift) / 1_000_000;
        time + self.offset + drifted as i64
    }
}

/// A message as a test makes it up: hosts, when it was sent, and how long it took.
type Sent = (usize, usize, i64, i64);

fn clock() -> impl Strategy<Value = Clock> {
    (-5_000_000_000..5_000_000_000_i64, -DRIFT..=DRIFT).prop_map(|(offset, drift)| Clock { offset, drift })
}

/// Up to this many messages between hosts, over an hour. Some take no time.
fn messages(hosts: usize, count: usize) -> impl Strategy<Value = Vec<Sent>> {
    let latency = prop_oneof![Just(0), 0..100_000_i64, 0..50_000_000_i64];
    prop::collection::vec((0..hosts, 0..hosts, 0..3_600_000_000_000_i64, latency), 0..count)
}

fn shown(clocks: &[Clock], sent: &[Sent]) -> Vec<Message> {
    let message = |&(from, to, time, took): &Sent| Message {
        from,
        sent: clocks[from].at(time),
        to,
        received: clocks[to].at(time + took),
    };
    sent.iter().map(message).collect()
}

/// Checks that each message between aligned hosts goes forwards.
fn all_forwards(alignment: &Alignment, messages: &[Message]) -> Result<usize, TestCaseError> {
    let mut count = 0;
    for message in messages {
        let ends = (alignment.time(message.from, message.sent), alignment.time(message.to, message.received));
        if let (Some(sent), Some(received)) = ends {
            prop_assert!(sent.time <= received.time, "{message:?} {sent:?} {received:?}");
            count += 1;
        }
    }
    Ok(count)
}

proptest! {
    #[test]
    fn no_message_goes_backwards(
        mut clocks in prop::collection::vec(clock(), 5),
        sent in messages(5, 120),
        times in prop::collection::vec((0..5_usize, -1_000_000_000_000..5_000_000_000_000_i64), 20),
    ) {
        clocks[0] = Clock { offset: 0, drift: 0 };
        let messages = shown(&clocks, &sent);
        let alignment = align(0, &messages, LIMIT).expect("there are clocks with these messages");
        all_forwards(&alignment, &messages)?;
        // At any time the truth is within the error bar. Clocks show whole nanoseconds, so each bound may be wrong by some.
        for (host, time) in times {
            if let Some((aligned, error)) = alignment.time(host, clocks[host].at(time)).and_then(|at| Some((at, at.error?))) {
                prop_assert!((aligned.time - time).abs() <= error + 200, "{host} {time} {aligned:?}");
            }
        }
    }

    #[test]
    fn messages_both_ways_give_each_host_an_error_bar(
        clocks in prop::collection::vec(clock(), 4),
        took in prop::collection::vec((1_000..100_000_i64, 1_000..100_000_i64), 200),
    ) {
        // Each host talks with the next one, every second.
        let clocks = [&[Clock { offset: 0, drift: 0 }], &clocks[..]].concat();
        let sent: Vec<Sent> = took.iter().zip(0..).flat_map(|(&(there, back), at)| {
            let (one, other, time) = (at % 4, at % 4 + 1, at as i64 * 1_000_000_000);
            [(one, other, time, there), (other, one, time + there, back)]
        }).collect();
        let messages = shown(&clocks, &sent);
        let alignment = align(0, &messages, LIMIT).expect("there are clocks with these messages");
        prop_assert_eq!(all_forwards(&alignment, &messages)?, messages.len());
        for (message, (from, _, time, _)) in messages.iter().zip(&sent) {
            let aligned = alignment.time(*from, message.sent).expect("it is connected");
            let error = aligned.error.expect("it is bounded from both sides");
            // Half a round trip for each of four hops, and the drift until the next one at either side.
            prop_assert!(error <= 4 * (100_000 + 4_000 * i64::from(LIMIT) + 10), "{error}");
            prop_assert!((aligned.time - time).abs() <= error + 200, "{aligned:?} {time}");
        }
    }

    #[test]
    fn any_messages_end(
        messages in prop::collection::vec((0..4_usize, any::<i64>(), 0..4_usize, any::<i64>()), 0..60),
        drift in any::<u32>(),
        time in any::<i64>(),
    ) {
        let message = |&(from, sent, to, received): &(usize, i64, usize, i64)| Message { from, sent, to, received };
        let messages: Vec<Message> = messages.iter().map(message).collect();
        match align(0, &messages, drift) {
            Ok(alignment) => {
                let times: Vec<_> = (0..5).map(|host| alignment.time(host, time)).collect();
                prop_assert!(times[4].is_none());
            }
            Err(contradiction) => {
                prop_assert!(!contradiction.messages.is_empty());
                // The messages that it names contradict each other without the others.
                let named: Vec<Message> = contradiction.messages.iter().map(|&at| messages[at]).collect();
                let is_of_reference = named.iter().any(|message| [message.from, message.to].contains(&0));
                let reference = if is_of_reference { 0 } else { named[0].from };
                prop_assert!(align(reference, &named, drift).is_err());
            }
        }
    }
}

/// The time that an engine computes from the row of a piece, as the questions in fleet/ do.
fn by_engine(piece: &Piece, time: i64) -> i64 {
    time - piece.ahead - ((time - piece.from) as f64 * piece.drift).floor() as i64
}

/// The piece that an engine joins with a time.
fn joined(alignment: &Alignment, host: usize, time: i64) -> Option<Piece> {
    let mut pieces = alignment.pieces(host).iter().filter(|piece| piece.from <= time && time < piece.until);
    let piece = pieces.next().copied();
    assert!(pieces.next().is_none(), "{host} {time}: two pieces");
    piece
}

proptest! {
    #[test]
    fn engines_align_alike(
        mut clocks in prop::collection::vec(clock(), 5),
        sent in messages(5, 200),
        mut times in prop::collection::vec(-1_000_000_000_000..5_000_000_000_000_i64, 20),
    ) {
        clocks[0] = Clock { offset: 0, drift: 0 };
        let messages = shown(&clocks, &sent);
        let alignment = align(0, &messages, LIMIT).expect("there are clocks with these messages");
        for message in &messages {
            let ends = [(message.from, message.sent), (message.to, message.received)];
            let [sent, received] = ends.map(|(host, time)| Some(by_engine(&joined(&alignment, host, time)?, time)));
            if let (Some(sent), Some(received)) = (sent, received) {
                prop_assert!(sent <= received, "{message:?} {sent} {received}");
            }
        }
        times.sort_unstable();
        for (host, clock) in clocks.iter().enumerate() {
            let pieces = alignment.pieces(host);
            prop_assert!(pieces.windows(2).all(|pair| pair[0].until == pair[1].from), "{pieces:?}");
            let mut before = i64::MIN;
            for truth in &times {
                let time = clock.at(*truth);
                let Some(aligned) = alignment.time(host, time) else {
                    prop_assert!(pieces.is_empty());
                    continue;
                };
                let piece = joined(&alignment, host, time).expect("pieces are for all times");
                let by_piece = by_engine(&piece, time);
                prop_assert_eq!((by_piece, piece.time(time)), (aligned.time, aligned.time));
                prop_assert_eq!(piece.error.is_some(), aligned.error.is_some());
                prop_assert!(piece.error >= aligned.error, "{piece:?} {aligned:?}");
                // Clocks show whole nanoseconds, so each bound may be wrong by some.
                if let Some(error) = piece.error {
                    prop_assert!((by_piece - truth).abs() <= error + 200, "{host} {truth} {piece:?}");
                }
                // The order of a host's own events stays.
                prop_assert!(before <= by_piece, "{host} {truth} {piece:?}");
                before = by_piece;
            }
        }
    }
}

#[test]
fn a_clock_that_drifts_evenly_has_few_pieces() {
    // An hour of requests, ten a second, whose times vary; they end an hour before the last time that is asked.
    let clocks = [Clock { offset: 0, drift: 0 }, Clock { offset: 3_000_000_000, drift: 40 }];
    let mut random = 1_u64;
    let mut latency = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        100_000 + (random >> 33) as i64 % 400_000
    };
    let sent: Vec<Sent> = (0..36_000_i64)
        .flat_map(|at| {
            let (time, there) = (at * 100_000_000, latency());
            [(0, 1, time, there), (1, 0, time + there, latency())]
        })
        .collect();
    let messages = shown(&clocks, &sent);
    let alignment = align(0, &messages, LIMIT).unwrap();
    let pieces = alignment.pieces(1);
    let within: Vec<_> =
        pieces.iter().filter(|piece| piece.until > 3_000_000_000 && piece.from < 3_600_000_000_000).collect();
    assert!(within.len() < 1_000, "{} pieces for {} messages", within.len(), messages.len());
    let worst = within.iter().filter_map(|piece| piece.error).max().unwrap();
    assert!(worst < 1_000_000, "{worst}");
    assert_eq!(alignment.pieces(0).len(), 1);
    assert!(alignment.pieces(2).is_empty());
    // An hour after the last message the error has grown by the drift.
    let late = clocks[1].at(7_200_000_000_000);
    let error = joined(&alignment, 1, late).unwrap().error.unwrap();
    assert!((720_000_000..4 * 720_000_000 + 1_000_000).contains(&error), "{error}");
}

#[test]
fn a_clock_that_was_set_is_told() {
    let message = |from, sent, to, received| Message { from, sent, to, received };
    // Host 1 is set back by 1 s between its answers.
    let mut messages = vec![
        message(0, 1_000, 1, 1_010),
        message(1, 1_010, 0, 1_020),
        message(0, 2_000, 1, 2_010 - 1_000_000_000),
        message(1, 2_010 - 1_000_000_000, 0, 2_020),
    ];
    let contradiction = align(0, &messages, LIMIT).unwrap_err();
    assert_eq!(contradiction.messages.len(), 2, "{contradiction:?}");
    assert!(contradiction.to_string().contains("2 messages"), "{contradiction}");
    messages.truncate(2);
    assert_eq!(align(0, &messages, LIMIT).unwrap().time(1, 1_010).unwrap().error, Some(10));
}

#[test]
fn hosts_without_answers_get_the_bound_and_no_error_bar() {
    let message = |from, sent, to, received| Message { from, sent, to, received };
    // 1 only listens, 2 only talks, 3 talks to 1, 4 and 5 only with each other.
    let messages =
        [message(0, 100, 1, 1_150), message(2, 5_000, 0, 200), message(3, 70, 1, 1_160), message(4, 1, 5, 2)];
    let alignment = align(0, &messages, 0).unwrap();
    let at = |host, time| alignment.time(host, time).map(|at| (at.time, at.error));
    assert_eq!(at(1, 1_150), Some((100, None)));
    assert_eq!(at(2, 5_000), Some((200, None)));
    assert_eq!(at(3, 70), Some((110, None)));
    assert_eq!((at(4, 1), at(5, 2), at(6, 0)), (None, None, None));
    assert_eq!(at(0, 12_345), Some((12_345, Some(0))));
}
