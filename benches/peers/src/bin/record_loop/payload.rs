//! The two events for every recorder.

use std::hint::black_box;

use clap::ValueEnum;

#[derive(Clone, Copy, ValueEnum)]
pub enum Payload {
    /// One i64.
    One,
    /// The eleven arguments of `efile_drv-entry`.
    Entry,
}

pub struct Entry<'a> {
    pub thread_id: i32,
    pub tag: i32,
    pub user_tag: &'a str,
    pub command: i32,
    pub s1: &'a str,
    pub s2: &'a str,
    pub i1: i64,
    pub i2: i64,
    pub i3: i64,
    pub i4: i64,
    pub port: &'a str,
}

/// A recorder.
pub trait Fire {
    fn one(value: i64);
    fn entry(entry: &Entry<'_>);
}

impl Payload {
    /// Fires `events` events of this kind.
    pub fn fire<F: Fire>(self, events: u64) {
        match self {
            Payload::One => ones::<F>(events),
            Payload::Entry => entries::<F>(events),
        }
    }
}

#[inline(never)]
fn ones<F: Fire>(events: u64) {
    for pass in 0..events {
        black_box(pass);
        F::one(pass as i64);
    }
}

#[inline(never)]
fn entries<F: Fire>(events: u64) {
    // The lengths must not be known at compile time.
    let [user_tag, s1, s2, port] = black_box(["req-1", "/tmp/storm/1/old-name", "/tmp/storm/1/new-name", "#Port<0.1>"]);
    for pass in 0..events {
        black_box(pass);
        let (tag, i1) = (pass as i32, pass as i64);
        F::entry(&Entry { thread_id: 1, tag, user_tag, command: 12, s1, s2, i1, i2: 0, i3: 0, i4: 0, port });
    }
}
