//! Merges the events of all files in order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::iter::FusedIterator;

use crate::event::Event;
use crate::stream::{Position, Stream};

/// The events of a trace in order of time, returned by [`Trace::events`](crate::Trace::events).
///
/// Events with equal times come in the order of their files; events of one file in the order they were written.
pub struct Events<'t> {
    streams: Vec<Stream<'t>>,
    /// The next event of each stream; `None` at its end.
    first: Vec<Option<Event<'t>>>,
    /// The stream with the earliest event. It is not in the heap, so the heap does not change while it stays the earliest.
    current: usize,
    /// The other streams by the times of their next events.
    heap: BinaryHeap<Reverse<(i64, usize)>>,
}

impl<'t> Events<'t> {
    pub(crate) fn new(mut streams: Vec<Stream<'t>>) -> Self {
        let first: Vec<_> = streams.iter_mut().map(Stream::read).collect();
        let mut events = Self { streams, first, current: usize::MAX, heap: BinaryHeap::new() };
        events.sort();
        events
    }

    /// Orders the streams by their next events.
    fn sort(&mut self) {
        let times = self.first.iter().enumerate();
        self.heap = times.filter_map(|(stream, event)| Some(Reverse((event.as_ref()?.time, stream)))).collect();
        self.current = self.heap.pop().map_or(usize::MAX, |Reverse((_, stream))| stream);
    }

    /// Goes on up to these offsets, one for each stream.
    pub(crate) fn go_on(&mut self, upto: impl Iterator<Item = u64>) {
        for ((stream, first), upto) in self.streams.iter_mut().zip(&mut self.first).zip(upto) {
            stream.go_on(upto);
            if first.is_none() {
                *first = stream.read();
            }
        }
        self.sort();
    }

    /// Returns for each stream the offset behind the events that were taken.
    pub(crate) fn offsets(&self) -> impl Iterator<Item = u64> {
        let streams = self.streams.iter().zip(&self.first);
        streams.map(|(stream, next)| if next.is_some() { stream.last_offset() } else { stream.offset() })
    }

    /// Returns the next event without advancing.
    pub fn peek(&self) -> Option<&Event<'t>> {
        self.first.get(self.current)?.as_ref()
    }

    /// Returns for each stream the position before its next event, and the number of packets that were overwritten before it.
    pub(crate) fn positions(&self) -> impl Iterator<Item = (Option<Position>, u64)> {
        let streams = self.streams.iter().zip(&self.first);
        streams.map(|(stream, first)| (stream.position(first.as_ref()), stream.overwritten()))
    }
}

impl<'t> Iterator for Events<'t> {
    type Item = Event<'t>;

    #[inline]
    fn next(&mut self) -> Option<Event<'t>> {
        let first = self.first.get_mut(self.current)?;
        let event = std::mem::replace(first, self.streams[self.current].read());
        match first.as_ref().map(|next| next.time) {
            Some(time) => {
                if let Some(mut other) = self.heap.peek_mut()
                    && other.0 < (time, self.current)
                {
                    let Reverse((_, stream)) = std::mem::replace(&mut *other, Reverse((time, self.current)));
                    self.current = stream;
                }
            }
            None => self.current = self.heap.pop().map_or(usize::MAX, |Reverse((_, stream))| stream),
        }
        event
    }
}

impl FusedIterator for Events<'_> {}
