//! `dyntrace trace` on this test's own program: run with `ROLE` set, it is a shop whose functions are traced.
#![cfg(target_os = "linux")]

/// For --memory.
#[global_allocator]
static ALLOCATOR: dyntrace::alloc::Counting = dyntrace::alloc::Counting::system();

mod clients;
#[path = "../common/interrupts.rs"]
mod interrupts;
#[path = "../../../../tests/common/missing.rs"]
mod missing;
mod orders;
mod shop;
mod unprepared;

use std::env;
use std::io::{BufRead as _, BufReader};
use std::panic::catch_unwind;

use nix::sys::signal::Signal;
use serde_json::Value;
use tokio::runtime::Builder;

use shop::Shop;

#[derive(Debug)]
#[expect(dead_code, reason = "it is printed")]
struct Order {
    id: u32,
}

#[dyntrace::traced]
fn price(order: &Order, quantity: u32) -> Result<u32, String> {
    assert!(quantity > 0, "{order:?} of nothing");
    Ok(quantity * 5)
}

#[dyntrace::traced]
fn order(id: u32) -> Result<Order, String> {
    Err(format!("{id} is sold"))
}

#[dyntrace::traced]
async fn ship(id: u32) {
    hand_over(id);
}

#[dyntrace::traced]
fn hand_over(id: u32) {
    std::hint::black_box(vec![id; 10]);
}

async fn deliver(id: u32) {
    ship(id).await;
}

#[dyntrace::traced(caller)]
fn pack(order: &Order) -> usize {
    std::mem::size_of_val(order)
}

/// The program in its role. For each number that it reads, it prices that many orders, one more, and one without a price, delivers one,
/// and orders a sold one.
#[test]
fn role() {
    match env::var("ROLE").as_deref() {
        Ok("shop") => {}
        Ok("parent") => return unprepared::parent(),
        Ok("own session") => return unprepared::own_session(),
        _ => return,
    }
    dyntrace::put_tag("req-81").unwrap();
    let runtime = Builder::new_current_thread().build().unwrap();
    println!("\nopen");
    for line in std::io::stdin().lines() {
        for id in 0..line.unwrap().parse().unwrap() {
            price(&Order { id }, 50).unwrap();
        }
        price(&Order { id: 7 }, 250).unwrap();
        pack(&Order { id: 7 });
        runtime.block_on(deliver(7));
        catch_unwind(|| price(&Order { id: 8 }, 0)).unwrap_err();
        order(9).unwrap_err();
        println!("sold");
    }
}

#[test]
fn calls_and_returns_until_an_interrupt() {
    let mut shop = Shop::open();
    let trace = shop.trace(&["**::price(_, qty) if qty > 100", "--return"]);
    shop.sell(3);
    let (status, out, last) = trace.interrupt();
    assert_eq!((status, last.as_str()), (0, "1 pattern removed, 2 events, 0 dropped"));
    let lines: Vec<(&str, &str)> = out.lines().map(|line| line.split_once("] ").unwrap()).collect();
    assert_eq!(lines[0].1, "call   trace::price(Order { id: 7 }, 250)");
    let took = lines[1].1.strip_prefix("return trace::price -> Ok(1250)  ").unwrap().strip_suffix(" us").unwrap();
    assert!(took.parse::<u64>().is_ok(), "{took}");
    for (who, _) in lines {
        let (time, thread) = who.split_once(" [role ").unwrap();
        assert_eq!((time.len(), &time[2..3], &time[8..9]), ("12:00:01.204311".len(), ":", "."));
        assert!(thread.starts_with("<0.") && thread.ends_with(".0> req-81"), "{thread}");
    }
    shop.sell(1);
    let (_, out, last) = shop.trace(&["**::price"]).interrupt();
    assert_eq!((out.as_str(), last.as_str()), ("", "1 pattern removed, 0 events, 0 dropped"));
}

#[test]
fn panics_callers_and_several_patterns() {
    let mut shop = Shop::open();
    let trace = shop.trace(&[
        "**::price do silent",
        "trace::pack",
        "**::order(9) do silent",
        "--panic",
        "--error",
        "--caller",
        "--json",
    ]);
    shop.sell(0);
    let (status, out, last) = trace.interrupt();
    assert_eq!((status, last.as_str()), (0, "3 patterns removed, 3 events, 0 dropped"));
    let events: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&events[0]["event"], &events[0]["function"]), (&"call".into(), &"trace::pack".into()));
    assert!(events[0]["caller"].as_str().unwrap().contains("tests/trace/main.rs:"), "{out}");
    assert_eq!((&events[1]["event"], &events[1]["text"]), (&"panic".into(), &"Order { id: 8 } of nothing".into()));
    assert_eq!((&events[1]["tag"], &events[1]["thread_name"]), (&"req-81".into(), &"role".into()));
    assert_eq!((&events[2]["event"], &events[2]["text"]), (&"error".into(), &"Err(\"9 is sold\")".into()));
    assert!(events[1]["took_ns"].is_u64() && events[1]["time_ns"].is_u64(), "{out}");
}

/// Without debug information there are no lines, and the output says that inlined functions are unknown.
#[test]
fn callers_are_found_in_the_program() {
    let mut shop = Shop::open();
    let trace = shop.trace(&["**::price(_, 250)", "--caller", "--return-to"]);
    shop.sell(0);
    let (status, out, last) = trace.interrupt();
    assert_eq!((status, last.as_str()), (0, "1 pattern removed, 2 events, 0 dropped"));
    let (call, return_to) = out.split_once('\n').unwrap();
    assert!(call.contains("trace::price(Order { id: 7 }, 250)  from trace::role"), "{out}");
    assert!(return_to.contains("return_to trace::price  to trace::role"), "{out}");
}

/// The stack is below the event, or in it.
#[test]
fn stacks_are_shown() {
    let mut shop = Shop::open();
    let trace = shop.trace(&["**::price(_, 250)", "--stack"]);
    shop.sell(0);
    let (status, out, last) = trace.interrupt();
    assert_eq!((status, last.as_str()), (0, "1 pattern removed, 1 event, 0 dropped"));
    let (call, callers) = out.split_once('\n').unwrap();
    assert!(call.ends_with("trace::price(Order { id: 7 }, 250)"), "{out}");
    let callers: Vec<&str> = callers.lines().map(|line| line.strip_prefix("    ").unwrap()).collect();
    assert!(callers[0].starts_with("trace::role"), "{out}");
    assert!(callers.len() > 4 && callers[1..].iter().any(|caller| caller.contains("test::")), "{out}");

    let trace = shop.trace(&["**::price(_, 250)", "--stack=1", "--json"]);
    shop.sell(0);
    let (_, out, _) = trace.interrupt();
    let event: Value = serde_json::from_str(out.trim()).unwrap();
    let stack: Vec<&str> = event["stack"].as_array().unwrap().iter().map(|caller| caller.as_str().unwrap()).collect();
    assert!(stack[0].starts_with("trace::role") && stack.len() < callers.len(), "{out}");
}

/// dyntrace's own functions between a traced function and its body are no callers.
#[test]
fn stacks_through_traced_functions() {
    let mut shop = Shop::open();
    let trace = shop.trace(&[
        "trace::ship do current_stacktrace(32)",
        "trace::hand_over do current_stacktrace(32)",
        "--return",
    ]);
    shop.sell(0);
    let (_, out, _) = trace.interrupt();
    let mut stacks = out.split(" call   ").skip(1);
    let mut callers_of = |function: &str| -> Vec<&str> {
        let (call, stack) = stacks.next().unwrap().split_once('\n').unwrap();
        assert!(call.starts_with(function), "{out}");
        let callers = stack.lines().map_while(|line| line.strip_prefix("    "));
        callers.map(|caller| caller.split(" at ").next().unwrap()).collect()
    };
    assert_eq!(callers_of("trace::ship(7)")[..1], ["trace::deliver"], "{out}");
    let ways = callers_of("trace::hand_over(7)");
    assert_eq!(ways[..2], ["trace::ship", "trace::deliver"], "{out}");
    assert!(ways.contains(&"trace::role") && !out.contains("breakpoint"), "{out}");
}

#[test]
fn counts_and_times() {
    let mut shop = Shop::open();
    let trace = shop.trace(&["trace::p*", "trace::order", "--count", "--json"]);
    shop.sell(40);
    shop.sell(2);
    let (status, out, last) = trace.interrupt();
    assert_eq!((status, last.as_str()), (0, "2 patterns removed, 0 events, 0 dropped"));
    assert_eq!(
        out,
        "{\"calls\":46,\"function\":\"trace::price/2\"}\n{\"calls\":2,\"function\":\"trace::order/1\"}\n{\"calls\":2,\"function\":\"trace::pack/1\"}\n"
    );

    let trace = shop.trace(&["**::price", "--time"]);
    shop.sell(9);
    let (_, out, _) = trace.interrupt();
    let rows: Vec<Vec<&str>> = out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0], ["calls", "time", "(us)", "own", "(us)", "each", "(us)", "function"]);
    assert_eq!((rows.len(), rows[1].len(), rows[1][0], rows[1][4]), (2, 5, "11", "trace::price/2"));
}

#[test]
fn memory_of_calls() {
    let mut shop = Shop::open();
    let patterns = ["trace::ship", "trace::hand_over", "--memory"];
    let trace = shop.trace(&patterns);
    shop.sell(1);
    shop.sell(1);
    let (status, out, last) = trace.interrupt();
    assert_eq!((status, last.as_str()), (0, "2 patterns removed, 0 events, 0 dropped"));
    assert_eq!(
        out,
        "calls  bytes  own bytes  each  function\n    2     80         80  40.0  trace::hand_over/1\n    2     80          0  40.0  trace::ship/1\n"
    );
    let trace = shop.trace(&[&patterns[..], &["--json"]].concat());
    shop.sell(0);
    let (_, out, _) = trace.interrupt();
    let rows: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows[1], serde_json::json!({"calls": 1, "function": "trace::ship/1", "bytes": 40, "own_bytes": 0}));
}

#[test]
fn counts_of_intervals() {
    let mut shop = Shop::open();
    let mut trace = shop.trace(&["trace::price", "--count", "--interval", "20ms", "--json"]);
    let mut rows = BufReader::new(trace.child.stdout.take().unwrap()).lines();
    for orders in [7, 3] {
        shop.sell(orders);
        let mut calls = 0;
        while calls < orders + 2 {
            let row: Value = serde_json::from_str(&rows.next().unwrap().unwrap()).unwrap();
            assert!(row["until_ns"].is_u64(), "{row}");
            calls += u32::try_from(row["calls"].as_u64().unwrap()).unwrap();
        }
        assert_eq!(calls, orders + 2);
    }
    trace.send(Signal::SIGINT);
    assert!(rows.next().is_none(), "nothing was called any more");
    assert!(trace.child.wait().unwrap().success());

    let trace = shop.trace(&["trace::price", "--count", "--interval", "1h"]);
    shop.sell(1);
    let (_, out, _) = trace.interrupt();
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].starts_with("until ") && lines[0].len() == "until 12:00:01.204311".len(), "{out}");
    assert_eq!(lines[1..], ["calls  function", "    3  trace::price/2", ""]);
}

#[test]
fn traces_that_end_by_themselves() {
    let mut shop = Shop::open();
    let trace = shop.trace(&["**::price", "--max-events", "2"]);
    shop.sell(7);
    let (status, out, last) = trace.wait();
    assert_eq!((status, out.lines().count(), last.as_str()), (0, 2, "1 pattern removed, 2 events, 0 dropped"));

    let (status, _, last) = shop.trace(&["**::price", "--for", "10ms"]).wait();
    assert_eq!((status, last.as_str()), (0, "1 pattern removed, 0 events, 0 dropped"));

    let trace = shop.trace(&["**::price(_, 250)"]);
    shop.sell(0);
    let pid = shop.child.id();
    shop.child.kill().unwrap();
    let (status, _, last) = trace.wait();
    assert_eq!(status, 0);
    assert!(last.starts_with(&format!("process {pid} has ended; ")), "{last}");
}

#[test]
fn a_killed_dyntrace_leaves_no_session() {
    let shop = Shop::open();
    let mut trace = shop.trace(&["**::price", "**::pack"]);
    while shop.tracing_threads() != 2 {}
    trace.child.kill().unwrap();
    trace.child.wait().unwrap();
    // The tracer's thread ends when no breakpoint has the session any more.
    while shop.tracing_threads() > 0 {}
}

#[test]
fn a_dyntrace_that_does_not_read_holds_up_nobody() {
    let mut shop = Shop::open();
    let trace = shop.trace(&["**::price", "--limit", "1000000/s"]);
    trace.send(Signal::SIGSTOP);
    shop.sell(20_000);
    trace.send(Signal::SIGCONT);
    let (status, out, last) = trace.interrupt();
    assert_eq!(status, 3, "{last}");
    let events = out.lines().count();
    let dropped = last.strip_prefix(&format!("1 pattern removed, {events} events, ")).unwrap();
    assert_eq!(dropped, format!("{} dropped", 20_002 - events));
}

#[test]
fn limits_and_processes() {
    let mut shop = Shop::open();
    let trace = shop.trace(&["**::price", "--limit", "1/s"]);
    shop.sell(1000);
    let (status, _, last) = trace.interrupt();
    assert!(status == 0 && last.ends_with(" left out by --limit"), "{last}");
    let trace = shop.trace(&["**::price", "--process", "<0.4711.0>"]);
    shop.sell(10);
    assert_eq!(trace.interrupt().2, "1 pattern removed, 0 events, 0 dropped");
}

/// With `--later`, loaded functions are traced, too. Modules that are loaded later are tested elsewhere.
#[test]
fn functions_that_are_loaded_later() {
    let mut shop = Shop::open();
    let trace = shop.trace(&["nothing::yet", "**::pack", "--later"]);
    shop.sell(0);
    let (status, out, last) = trace.interrupt();
    assert_eq!((status, out.lines().count(), last.as_str()), (0, 1, "2 patterns removed, 1 event, 0 dropped"));
}

#[test]
fn refused_patterns() {
    let shop = Shop::open();
    let mark = "  trace::price(\n               ^\n";
    shop.refuses(&["trace::price("], 2, mark);
    shop.refuses(&["trace::price", "**::pack if"], 2, "cannot read the pattern: expected");
    shop.refuses(&["trace::prise"], 65, "`trace::prise` names none of the 5 traced functions");
    shop.refuses(&["trace::prise"], 65, "near it: trace::price/2");
    shop.refuses(&["**::price", "--process", "57"], 2, "expected one like <0.57.0>");
    shop.refuses(&["**::price", "--limit", "0"], 2, "like 1000/s");
    shop.refuses(&["**::price", "--interval", "10us"], 2, "shorter than 1ms");
    shop.refuses(&[], 2, "no pattern is given: name functions");
    while shop.tracing_threads() > 0 {}
}

#[test]
fn signals_end_a_trace_and_remove_its_patterns() {
    let shop = Shop::open();
    for signal in [Signal::SIGHUP, Signal::SIGTERM, Signal::SIGINT] {
        let trace = shop.trace(&["trace::price"]);
        trace.send(signal);
        let (status, _, last) = trace.wait();
        assert_eq!((status, &*last), (0, "1 pattern removed, 0 events, 0 dropped"), "{signal}");
    }
}
