//! Recorded events of messages.

use std::future::Future;
use std::sync::{Mutex, PoisonError};

use dyntrace::mailbox::{self, Mailbox, Options, Size, channel};
use dyntrace::process;
use dyntrace::recorder::{Options as Recording, Session};
use dyntrace::seq_trace::{self, Flags};
use dyntrace::{put_tag, spread_tag, take_tag};
use dyntrace_reader::{Trace, Value};

use crate::runtime;

/// One test at a time, as a session records the whole program.
static ALONE: Mutex<()> = Mutex::new(());

/// Returns the events of `body` that involve one of the processes it returns, as `probe field field ...`.
fn seen<F: Future<Output = Vec<process::Pid>>>(probes: &[&str], body: F) -> Vec<String> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = tempfile::tempdir().unwrap();
    let session = Session::start(Recording::new(directory.path())).unwrap();
    let pids: Vec<String> = runtime().block_on(body).iter().map(ToString::to_string).collect();
    session.stop().unwrap();
    let trace = Trace::open(directory.path()).unwrap();
    let mut lines = Vec::new();
    for event in trace.events() {
        let Some(probe) = event.class.name.strip_prefix("dyntrace:") else { continue };
        if !probes.iter().any(|asked| probe.starts_with(asked)) {
            continue;
        }
        let show = |value| match value {
            Value::Signed(number) => number.to_string(),
            Value::Unsigned(number) => number.to_string(),
            Value::Text(text) => String::from_utf8_lossy(&text).into_owned(),
        };
        let fields: Vec<String> = event.fields().map(|(_, value)| show(value)).collect();
        if pids.is_empty() || fields.iter().any(|field| pids.contains(field)) {
            let mut line = format!("{probe} {}", fields.join(" "));
            for (number, pid) in pids.iter().enumerate() {
                line = line.replace(pid, ["A", "B", "C"][number]);
            }
            lines.push(line);
        }
    }
    lines
}

/// Erlang's `dyntrace:p` has the process's own tag only; file operations have this one there, too.
#[test]
fn an_annotation_has_the_tag_that_came_with_a_message() {
    let lines = seen(&["user_trace"], async {
        let (sender, mut mailbox) = mailbox::unbounded_channel();
        let receiver = dyntrace::spawn(async move {
            mailbox.recv().await.unwrap();
            dyntrace::p!("annotation");
            process::current()
        });
        put_tag("request").unwrap();
        spread_tag(true);
        sender.send(()).unwrap();
        spread_tag(false);
        take_tag();
        vec![receiver.await.unwrap()]
    });
    assert_eq!(lines, ["user_trace-i4s4 A request 0 0 0 0 annotation   "]);
}

/// Four words.
struct Job([usize; 4]);

#[test]
fn each_step_with_token_size_and_length_after_it() {
    let lines = seen(&["message"], async {
        let (pid, mut mailbox) = channel(8);
        let worker = async |mut mailbox: Mailbox<Job>| {
            while let Some(Job([number, ..])) = mailbox.recv().await {
                if number == 2 {
                    break;
                }
            }
        };
        let (worker, task) = mailbox::spawn(worker);
        seq_trace::set_token(42, Flags::SEND | Flags::RECEIVE).unwrap();
        worker.send(Job([1; 4])).await.unwrap();
        seq_trace::take_token();
        worker.send(Job([2; 4])).await.unwrap();
        task.await.unwrap();
        // To itself.
        pid.send(3_u8).await.unwrap();
        mailbox.recv().await;
        vec![process::current(), worker.id()]
    });
    assert_eq!(
        lines,
        [
            "message-send A B 4 42 0 1",
            "message-queued B 4 1 42 0 1",
            "message-send A B 4 0 0 0",
            "message-queued B 4 2 0 0 0",
            "message-receive B 4 1 42 0 1",
            "message-receive B 4 0 0 0 0",
            "message-send A A 1 0 0 0",
            "message-receive A 1 0 0 0 0",
        ]
    );
}

/// As documented, `dyntrace::spawn` gives a pid.
#[test]
fn tasks_of_tokio_alone_are_their_thread() {
    let lines = seen(&["message"], async {
        let (sender, mut mailbox) = channel(8);
        let receiver = tokio::spawn(async move { mailbox.recv().await });
        let sender = tokio::spawn(async move { sender.send(7_u8).await });
        sender.await.unwrap().unwrap();
        assert_eq!(receiver.await.unwrap(), Some(7));
        vec![process::current()]
    });
    assert_eq!(lines, ["message-send A A 1 0 0 0", "message-receive A 1 0 0 0 0"]);
}

struct Page(Vec<u8>);

impl Size for Page {
    fn words(&self) -> usize {
        self.0.len() / size_of::<usize>()
    }
}

#[test]
fn lengths_count_what_was_passed_over_and_messages_say_their_size() {
    let lines = seen(&["message"], async {
        let (body, measured) = (
            async |mut mailbox: Mailbox<Page>| {
                mailbox.recv_matching(|page| page.0.len() == 32).await;
                mailbox.address().unwrap().send(Page(vec![0; 40])).await.unwrap();
                mailbox.recv().await;
            },
            Options::new().bounded(8).measured(),
        );
        let (pid, task) = measured.spawn(body);
        seq_trace::set_token(1_i64 << 40, Flags::empty()).unwrap();
        for size in [16, 24, 32] {
            pid.send(Page(vec![0; size])).await.unwrap();
        }
        seq_trace::take_token();
        task.await.unwrap();
        vec![process::current(), pid.id()]
    });
    let words = |bytes: usize| bytes / size_of::<usize>();
    let (two, three, four, five) = (words(16), words(24), words(32), words(40));
    let hidden = i32::MIN;
    assert_eq!(
        lines,
        [
            format!("message-send A B {two} {hidden} 0 1"),
            format!("message-queued B {two} 1 {hidden} 0 1"),
            format!("message-send A B {three} {hidden} 0 2"),
            format!("message-queued B {three} 2 {hidden} 0 2"),
            format!("message-send A B {four} {hidden} 0 3"),
            format!("message-queued B {four} 3 {hidden} 0 3"),
            format!("message-receive B {four} 2 {hidden} 0 3"),
            format!("message-send B B {five} {hidden} 3 4"),
            format!("message-receive B {two} 2 {hidden} 0 1"),
        ]
    );
}

#[test]
fn file_operations_of_who_receives_have_the_tag() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let lines = seen(&["efile_drv-entry"], async {
        let (pid, task) = mailbox::spawn(async |mut mailbox: Mailbox<std::path::PathBuf>| {
            let path = mailbox.recv().await.unwrap();
            dyntrace::fs::write(path, "text").await.unwrap();
        });
        put_tag("on behalf of 7").unwrap();
        spread_tag(true);
        pid.send(path).await.unwrap();
        task.await.unwrap();
        Vec::new()
    });
    assert!(lines.iter().any(|line| line.contains("on behalf of 7")), "{lines:?}");
}

#[test]
fn each_message_of_many_has_the_length_after_it() {
    let lines = seen(&["message-receive"], async {
        let (address, mut mailbox) = channel(8);
        for number in 0..4_u64 {
            address.send(number).await.unwrap();
        }
        let mut received = Vec::new();
        // The first two stay in front of the others.
        assert_eq!(mailbox.recv_matching(|number| *number == 2).await, Some(2));
        assert_eq!(mailbox.recv_many(&mut received, 9).await, 3);
        assert_eq!(received, [0, 1, 3]);
        vec![process::current()]
    });
    assert_eq!(lines, [3, 2, 1, 0].map(|left| format!("message-receive A 1 {left} 0 0 0")));
}
