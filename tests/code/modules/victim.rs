//! A module of safe code that keeps `'static` references of callers, and returns references to its own statics.
#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

use std::sync::Mutex;

static KEPT: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

type Text = &'static str;

#[dyntrace::export]
fn keep(text: &'static str) {
    KEPT.lock().unwrap().push(text);
}

/// The same behind an alias that hides the `'static`.
#[dyntrace::export]
fn keep_alias(text: Text) {
    keep(text);
}

#[dyntrace::export]
fn keep_all(texts: Vec<&'static str>) {
    texts.into_iter().for_each(keep);
}

#[dyntrace::export]
async fn keep_later(text: &'static str) {
    keep(text);
}

#[dyntrace::export]
fn kept() -> String {
    KEPT.lock().unwrap().join(" ")
}

/// A string in this library.
#[dyntrace::export]
fn name() -> &'static str {
    "rye bread, of the first version"
}

/// Accepts any lifetime.
#[dyntrace::export]
fn length(text: &str) -> usize {
    text.len()
}

dyntrace::module!("victim", version = "1.0.0");
