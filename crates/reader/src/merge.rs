//! The events of all files in the order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::iter::FusedIterator;

use crate::event::Event;
use crate::stream::{Position, Stream};

/// The events of a trace in the order of time, by [`Trace::events`](crate::Trace::events). Events of one time come in
/// the order of their files, those of one file as they were written.
pub struct Events<'t> {
    streams: Vec<Stream<'t>>,
    /// The first event of each stream that is not at its end.
    first: Vec<Option<Event<'t>>>,
    /// Whose turn it is. It is not in the heap: as long as it stays the earliest, nothing is moved.
    current: usize,
    /// The other streams by the times of their first events.
    heap: BinaryHeap<Reverse<(i64, usize)>>,
}

impl<'t> Events<'t> {
    pub(crate) fn new(mut streams: Vec<Stream<'t>>) -> Self {
        let first: Vec<_> = streams.iter_mut().map(Stream::read).collect();
        let times = first.iter().enumerate();
        let mut heap: BinaryHeap<_> =
            times.filter_map(|(stream, event)| Some(Reverse((event.as_ref()?.time, stream)))).collect();
        let current = heap.pop().map_or(usize::MAX, |Reverse((_, stream))| stream);
        Self { streams, first, current, heap }
    }

    /// The next event, without taking it.
    pub fn peek(&self) -> Option<&Event<'t>> {
        self.first.get(self.current)?.as_ref()
    }

    /// Where each stream goes on, the events not yet taken being before it.
    pub(crate) fn positions(&self) -> impl Iterator<Item = Position> {
        self.streams.iter().zip(&self.first).map(|(stream, first)| stream.position(first.as_ref()))
    }

    /// How many bytes have been read of how many there are, to show how far one has got.
    pub fn progress(&self) -> (u64, u64) {
        self.streams.iter().fold((0, 0), |(read, all), stream| (read + stream.offset(), all + stream.limit()))
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
