//! A module in two versions, `--cfg v1` and `--cfg v2`: compiled by the tests.

use std::error::Error as _;
use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// A provider of the module's own.
mod shop {
    use dyntrace::sdt as __sdt;

    include!("../../crates/build/tests/golden/shop.rs");
}

#[dyntrace::traced]
fn weigh(name: &str, grams: u32) -> u32 {
    if cfg!(v1) { grams } else { grams + name.len() as u32 }
}

#[dyntrace::traced]
fn look_up(number: u32) -> Result<u32, String> {
    if number < 10 { Ok(number) } else { Err(format!("no {number}")) }
}

#[dyntrace::traced]
fn shatter(number: u32) -> u32 {
    panic!("shattered {number}")
}

#[dyntrace::traced(caller)]
fn told(_number: u32) {}

#[dyntrace::export]
fn telling(number: u32) {
    told(number);
}

struct Spiny;

impl fmt::Debug for Spiny {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("half")?;
        panic!("nobody prints this")
    }
}

#[dyntrace::traced]
fn touch(_spiny: &Spiny) {}

#[dyntrace::traced]
async fn wait(number: u32) -> u32 {
    let mut is_polled = false;
    poll_fn(|cx| {
        cx.waker().wake_by_ref();
        if std::mem::replace(&mut is_polled, true) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    number
}

#[cfg(v2)]
#[dyntrace::traced]
fn label(number: u32) -> String {
    format!("no. {number}")
}

#[dyntrace::export]
fn weighed(number: u32) -> u32 {
    #[cfg(v2)]
    label(number);
    weigh("rye", number)
}

#[dyntrace::export]
fn looked_up(number: u32) -> u32 {
    look_up(number).unwrap_or_default()
}

#[dyntrace::export]
fn shattered(number: u32) -> u32 {
    shatter(number)
}

#[dyntrace::export]
fn touched() {
    touch(&Spiny);
}

#[dyntrace::export]
async fn waited(number: u32) -> u32 {
    wait(number).await
}

#[dyntrace::export]
fn tag() -> Option<String> {
    dyntrace::get_tag_data().map(|tag| tag.to_string())
}

#[dyntrace::export]
fn put_tag(tag: &str) -> Option<String> {
    dyntrace::put_tag(tag).ok()?.map(|tag| tag.to_string())
}

/// Returns the process, and the thread's number of a new operation.
#[dyntrace::export]
fn process() -> (String, i32, i32) {
    let operation = dyntrace::process::next_operation();
    (dyntrace::process::current().to_string(), operation.thread, operation.tag)
}

#[dyntrace::export]
fn fire(number: u32) {
    dyntrace::p!(number, "from the module");
    shop::order::paid(|| ("eve", number));
}

#[dyntrace::export]
fn read_file() -> String {
    at_once(dyntrace::fs::read("/proc/self/comm")).unwrap_err().to_string()
}

/// Returns the output of a future that is ready at once.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => panic!("it waits"),
    }
}

fn in_full(error: dyntrace::code::Error) -> String {
    format!("{error}: {}", error.source().unwrap())
}

#[dyntrace::export]
fn load_module() -> String {
    in_full(at_once(dyntrace::code::prepare("/nowhere")).unwrap_err())
}

#[dyntrace::export]
fn purge_module() -> String {
    in_full(at_once(dyntrace::code::purge("shelf")).unwrap_err())
}

#[dyntrace::export]
fn find_export() -> String {
    in_full(dyntrace::code::lookup::<fn(u32)>("shelf", "fire").unwrap_err())
}

#[dyntrace::export]
fn start_recording() -> String {
    let options = dyntrace::recorder::Options::new("/nowhere");
    dyntrace::recorder::Session::start(options).unwrap_err().to_string()
}

#[dyntrace::export]
fn start_tracing() -> String {
    dyntrace::trace::Session::start(dyntrace::trace::Limits::default(), |_| ()).unwrap_err().to_string()
}

#[dyntrace::export]
fn open_control() -> String {
    dyntrace::recorder::control().unwrap_err().to_string()
}

dyntrace::module!(
    "shelf",
    version = if cfg!(v1) { "1" } else { "2" },
    // SAFETY: no thread, no reference into it and no code of it outlives a call of its exports.
    unloadable = unsafe { dyntrace::code::Unloadable::new() }
);
