//! dial9's trace format: each thread encodes its events into a buffer, and another thread writes full buffers to a file. Strings are
//! interned in each buffer, as dial9's own are.

use std::cell::RefCell;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use dial9_trace_format::encoder::Encoder;
use dial9_trace_format::{InternedString, TraceEvent};

use crate::payload::{self, Fire};

const BUFFER: u64 = 64 << 10;

static WRITER: OnceLock<(Sender<Vec<u8>>, Instant)> = OnceLock::new();

pub struct Events;

/// The thread that writes. Dropping it waits until the buffers of all other threads are written; those have ended.
pub struct Writer(Option<JoinHandle<()>>, Sender<Vec<u8>>);

impl Writer {
    pub fn start(directory: &Path) -> Writer {
        let mut file = File::create(directory.join("dial9.trace")).expect("a file for the trace");
        let (sender, buffers) = mpsc::channel::<Vec<u8>>();
        WRITER.set((sender.clone(), Instant::now())).expect("it starts once");
        let writes = move || {
            for buffer in buffers.iter().take_while(|buffer| !buffer.is_empty()) {
                file.write_all(&buffer).expect("room for the trace");
            }
        };
        Writer(Some(thread::spawn(writes)), sender)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // An empty buffer is the end.
        let _ = self.1.send(Vec::new());
        if let Some(thread) = self.0.take() {
            thread.join().expect("it writes");
        }
    }
}

#[derive(Default)]
struct Buffer(Encoder<Vec<u8>>);

impl Buffer {
    fn hand_over(&mut self) {
        let full = self.0.reset_to_infallible(Vec::with_capacity(BUFFER as usize));
        let (writer, _) = WRITER.get().expect("it was started");
        let _ = writer.send(full);
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.hand_over();
    }
}

thread_local! {
    static EVENTS: RefCell<Buffer> = RefCell::default();
}

#[derive(TraceEvent)]
struct One {
    #[traceevent(timestamp)]
    time: u64,
    value: i64,
}

#[derive(TraceEvent)]
struct Entry {
    #[traceevent(timestamp)]
    time: u64,
    thread_id: u32,
    tag: u32,
    user_tag: InternedString,
    command: u32,
    s1: InternedString,
    s2: InternedString,
    i1: u64,
    i2: u64,
    i3: u64,
    i4: u64,
    port: InternedString,
}

fn record<E: TraceEvent>(event: impl FnOnce(&mut Encoder<Vec<u8>>, u64) -> E) {
    EVENTS.with_borrow_mut(|buffer| {
        let (_, began) = WRITER.get().expect("it was started");
        let event = event(&mut buffer.0, began.elapsed().as_nanos() as u64);
        buffer.0.write_infallible(&event);
        if buffer.0.bytes_written() > BUFFER {
            buffer.hand_over();
        }
    });
}

impl Fire for Events {
    #[inline(always)]
    fn one(value: i64) {
        record(|_, time| One { time, value });
    }

    #[inline(always)]
    fn entry(entry: &payload::Entry<'_>) {
        record(|encoder, time| {
            let [user_tag, s1, s2, port] =
                [entry.user_tag, entry.s1, entry.s2, entry.port].map(|text| encoder.intern_string_infallible(text));
            let [thread_id, tag, command] = [entry.thread_id, entry.tag, entry.command].map(i32::cast_unsigned);
            let [i1, i2, i3, i4] = [entry.i1, entry.i2, entry.i3, entry.i4].map(i64::cast_unsigned);
            Entry { time, thread_id, tag, user_tag, command, s1, s2, i1, i2, i3, i4, port }
        });
    }
}
