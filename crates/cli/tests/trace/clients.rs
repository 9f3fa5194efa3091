//! Clients that disconnect, are silent, send garbage or do not read: the program goes on, and their traces end.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;

use dyntrace::recorder::control::Connection;
use dyntrace::recorder::control::protocol::{GREETING, Record, Request, frame};
use dyntrace::trace::remote::TraceRequest;

use crate::shop::Shop;

fn wish(pattern: &str) -> TraceRequest {
    TraceRequest { patterns: vec![pattern.to_owned()], ..TraceRequest::default() }
}

/// A running trace.
fn begin(shop: &Shop, wish: &TraceRequest) -> Connection {
    let mut connection = Connection::open(shop.child.id()).unwrap();
    let set = connection.request(&Request::Trace(wish.record())).unwrap();
    assert_eq!(set[0].number("functions"), Some(1));
    connection
}

/// The same, of a client that sends raw text.
fn begin_raw(shop: &Shop) -> UnixStream {
    let mut stream = shop.connect();
    let request = Request::Trace(wish("trace::price").record()).to_string();
    stream.write_all(&[frame(GREETING).unwrap(), frame(&request).unwrap()].concat()).unwrap();
    assert_eq!(message(&mut stream), "ok");
    let answer = message(&mut stream);
    assert!(answer.contains("\tfunctions=1\tlater=0\tpattern=trace::price"), "{answer}");
    stream
}

fn message(stream: &mut UnixStream) -> String {
    let mut length = [0; 4];
    stream.read_exact(&mut length).unwrap();
    let mut text = vec![0; u32::from_le_bytes(length) as usize];
    stream.read_exact(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// Waits until no trace is left: a tracer's thread ends when no breakpoint has its session any more.
fn wait_for_ends(shop: &Shop) {
    while shop.tracing_threads() > 0 {}
}

fn last_words(mut connection: Connection) -> Record {
    loop {
        let mut records = connection.hear().unwrap();
        if records[0].get("told") == Some("end") {
            return records.remove(0);
        }
    }
}

#[test]
fn clients_that_go() {
    let mut shop = Shop::open();
    for orders in 0..50 {
        let connection = begin(&shop, &wish("**::price do return, count"));
        shop.sell(orders % 7);
        drop(connection);
    }
    wait_for_ends(&shop);
}

#[test]
fn clients_that_say_nothing_or_garbage() {
    let mut shop = Shop::open();
    let silent: Vec<_> = (0..30).map(|_| shop.connect()).collect();
    let traces: Vec<_> = (0..4).map(|_| begin_raw(&shop)).collect();
    let connection = begin(&shop, &wish("trace::pack"));
    for (number, mut stream) in traces.iter().chain(&silent[15..]).enumerate() {
        let garbage = [vec![0xff; 9], b"\n\n".to_vec(), frame("trace").unwrap(), vec![0; 5000]];
        // It may be closed already.
        let _ = stream.write_all(&garbage[number % garbage.len()]);
    }
    for mut stream in traces {
        let mut said = Vec::new();
        // The process does not read all of the garbage, so that this ends by an error.
        let _ = stream.read_to_end(&mut said);
        let said = String::from_utf8_lossy(&said);
        assert!(said.contains("told=end\tpatterns=1\tfunctions=1\tevents=0\t"), "garbage ends a trace: {said}");
    }
    shop.sell(1);
    connection.ender().unwrap().end();
    assert_eq!(last_words(connection).number("events"), Some(1));
    wait_for_ends(&shop);
}

#[test]
fn clients_that_do_not_read() {
    let mut shop = Shop::open();
    let stays = begin_raw(&shop);
    let goes = begin_raw(&shop);
    // More than fits into the socket and the queue.
    shop.sell(20_000);
    drop(goes);
    stays.shutdown(std::net::Shutdown::Write).unwrap();
    wait_for_ends(&shop);
    shop.sell(1);
}

#[test]
fn there_is_an_end_to_how_many() {
    let shop = Shop::open();
    let mut connections: Vec<_> = (0..16).map(|_| begin(&shop, &wish("trace::price"))).collect();
    let request = Request::Trace(wish("trace::price").record());
    let refused = |shop: &Shop| Connection::open(shop.child.id()).unwrap().request(&request).err();
    assert!(refused(&shop).unwrap().to_string().contains("16 traces are running already: end one of them"));
    connections.pop();
    while refused(&shop).is_some() {}
    drop(connections);
    wait_for_ends(&shop);
}

#[test]
fn answers_that_are_too_long() {
    let shop = Shop::open();
    let text = "a".repeat(485);
    // The most patterns that two functions can have. The answer is longer than the request.
    let patterns = (0..64).flat_map(|_| [format!("trace::price(\"{text}\", _)"), format!("trace::pack(\"{text}\")")]);
    let unknown = "a".repeat(65_500);
    for patterns in [patterns.collect(), vec![unknown]] {
        let request = Request::Trace(TraceRequest { patterns, ..TraceRequest::default() }.record());
        let error = Connection::open(shop.child.id()).unwrap().request(&request).unwrap_err().to_string();
        assert!(error.contains("the answer would be a message of "), "{error}");
    }
    wait_for_ends(&shop);
}
