//! Everything that the reader says of the example `leaves_truth` is true.

mod program;

use dyntrace_tasks::listing::{Ready, WaitsFor};
use program::{Program, leaves, roots};

#[test]
fn leaves_are_true() {
    let program = Program::run("leaves_truth");
    let roots = roots(&program);
    let all = |name: &str| leaves(&roots[name]);
    let leaf = |name: &str| {
        let leaves = all(name);
        assert_eq!(leaves.len(), 1, "leaves of {name}");
        leaves[0]
    };
    let printed = |name: &str| {
        let start = format!("between {name} ");
        format!("tcp {}", program.lines.iter().find_map(|line| line.strip_prefix(&start)).unwrap())
    };
    let socket = |waits_for: &WaitsFor| match waits_for {
        WaitsFor::Descriptor { describes: Some(text), ready, .. } => (text.clone(), *ready),
        other => panic!("no descriptor: {other:?}"),
    };
    let channel = |waits_for: &WaitsFor| match waits_for {
        WaitsFor::Channel { channel, address: Some(_) } => *channel,
        other => panic!("no channel: {other:?}"),
    };
    let object = |waits_for: &WaitsFor| match waits_for {
        WaitsFor::Object { object, address } => (*object, *address),
        other => panic!("no object: {other:?}"),
    };
    let (readable, writable) = (Some(Ready::Readable), Some(Ready::Writable));

    // sockets and channels of futures that are no coroutines
    let [read, heard] = all("relays")[..] else { panic!("two leaves of a relay") };
    assert_eq!((socket(read), channel(heard)), ((printed("relays"), readable), "mpsc"));
    assert_eq!(channel(leaf("relay_hears")), "mpsc");
    assert_eq!(channel(leaf("layers")), "mpsc");
    for (name, ready) in [
        ("relay_reads", readable),
        ("relays_joined", readable),
        ("forwarded", readable),
        ("relays_boxed", readable),
        ("frames", readable),
        ("copies", readable),
        ("copies_much", writable),
        ("writes", writable),
        ("is_writable", writable),
        ("halves_by_hand", Some(Ready::Either)),
        ("reads_tunnel", Some(Ready::Either)),
        ("writes_after_reading", writable),
    ] {
        assert_eq!(socket(leaf(name)), (printed(name), ready), "{name}");
    }
    assert!(matches!(leaf("not_forwarded"), WaitsFor::UnknownLeaf), "{:?}", leaf("not_forwarded"));
    let halves: Vec<_> = all("halves").into_iter().map(socket).collect();
    assert_eq!(halves, [(printed("halves"), readable), (printed("halves"), writable)]);
    let both: Vec<_> = all("copies_both").into_iter().map(socket).collect();
    assert_eq!(both, [(printed("copies_both"), readable), (printed("copies_both_far"), readable)]);
    let [read, token] = all("relays_selected")[..] else { panic!("two leaves of a select") };
    assert_eq!((socket(read), object(token).0), ((printed("relays_selected"), readable), "CancellationToken"));
    let mut many: Vec<_> = all("relays_many").into_iter().map(socket).collect();
    many.reverse();
    assert_eq!(many, [(printed("relays_many"), readable), (printed("relays_second"), readable)]);
    let unix = "unix socket without a path".to_owned();
    assert_eq!(socket(leaf("watches_descriptor")), (unix, readable));
    let child = socket(leaf("has_child"));
    assert_eq!(child, (format!("end of process {}", program.printed("child")[0]), readable));

    // primitives that a future only keeps
    assert_eq!(channel(leaf("limited")), "mpsc");
    let permit = &roots["limited"].awaits[0].holds[..];
    let WaitsFor::Semaphore { address, .. } = leaf("wants_permit") else { panic!("no semaphore") };
    assert!(permit.len() == 1 && permit[0].variable == "permit" && permit[0].semaphore == *address, "{permit:?}");
    assert_eq!((channel(leaf("watched")), channel(leaf("asked"))), ("end of watch", "end of oneshot"));

    assert_eq!(channel(leaf("keeps")), "mpsc");
    let [answer, timer, join, notify, channel_leaf] = all("keeps_and_polls")[..] else { panic!("five leaves") };
    assert_eq!((channel(channel_leaf), channel(answer)), ("mpsc", "oneshot"));
    assert!(matches!((timer, join, notify), (WaitsFor::Timer { .. }, WaitsFor::Join { .. }, WaitsFor::Notify { .. })));

    // libraries
    let (name, token) = object(leaf("cancelled"));
    assert_eq!(name, "CancellationToken");
    assert_eq!(object(leaf("cancelled_owned")), (name, token));
    let (child, of_child) = object(leaf("cancelled_child"));
    assert!(child == name && of_child != token);
    let [cancelled, timer] = all("runs_until_cancelled")[..] else { panic!("two leaves") };
    assert!(object(cancelled) == (name, token) && matches!(timer, WaitsFor::Timer { .. }));
    for name in ["futures_receives", "futures_receives_many", "reads_stream", "reads_futures_stream"] {
        assert_eq!(channel(leaf(name)), "futures mpsc", "{name}");
    }
    assert_eq!(channel(leaf("futures_answered")), "futures oneshot");
    let lock = program.printed("lock");
    let (name, address) = object(leaf("futures_locks"));
    assert!(name == "futures Mutex" && (lock[0]..lock[1]).contains(&address));
    assert!(matches!(leaf("delays"), WaitsFor::Timer { due_in } if *due_in > 3_500_000_000_000));
}
