//! Spans around operations: one for each user tag, and one for each sequential trace of operations without a tag.

use std::collections::HashMap;
use std::io;
use std::ptr;

use dyntrace_reader::{FileOperation, Process};

use super::ids::{SpanId, TraceId};
use super::span;
use super::writer::Writer;

/// How many groups are open at once. Beyond it, all are ended; a group that goes on has a second span.
const OPEN: usize = 1 << 16;

/// Where an operation is among the spans.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub trace: TraceId,
    pub span: SpanId,
    pub parent: Option<SpanId>,
}

/// The properties that all operations of a group share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Name<'t> {
    Tag(&'t [u8]),
    /// The label of a sequential trace.
    Label(i32),
}

/// The operations of a process with the same name, up to now.
#[derive(Debug)]
pub struct Group<'t> {
    pub process: &'t Process,
    pub name: Name<'t>,
    pub trace: TraceId,
    pub span: SpanId,
    /// The span of another program that the tag names.
    pub parent: Option<SpanId>,
    pub first: i64,
    pub last: i64,
    pub operations: u64,
    pub errors: u64,
    kept: u64,
}

#[derive(Default)]
pub struct Groups<'t> {
    open: HashMap<Key<'t>, Group<'t>>,
    /// How many groups were begun.
    begun: u64,
}

/// The address of a process, and a name in it.
type Key<'t> = (usize, Name<'t>);

impl<'t> Groups<'t> {
    /// Counts the operation in its group, and returns its place. An operation in flight ends at `end`.
    pub fn place(&mut self, operation: &FileOperation<'t>, end: i64, writer: &mut Writer<'t>) -> io::Result<Place> {
        let process = operation.process;
        let id = [operation.id.thread.to_le_bytes(), operation.id.tag.to_le_bytes()].concat();
        let parts = [operation.driver.as_bytes(), &id, &operation.entered.to_le_bytes()];
        let span = SpanId::derive(process, &parts);
        let Some(key) = key(operation) else {
            return Ok(Place { trace: TraceId::derive(process, &parts), span, parent: None });
        };
        if self.open.len() == OPEN && !self.open.contains_key(&key) {
            self.finish(writer)?;
        }
        let begun = &mut self.begun;
        let group = self.open.entry(key).or_insert_with(|| {
            *begun += 1;
            Group::new(process, key.1, operation.entered, *begun)
        });
        group.first = group.first.min(operation.entered);
        group.last = group.last.max(operation.completion.map_or(end, |answer| answer.time));
        group.operations += 1;
        group.errors += u64::from(operation.completion.is_some_and(|answer| !answer.success));
        Ok(Place { trace: group.trace, span, parent: Some(group.span) })
    }

    /// The operation that was placed last is kept.
    pub fn keep(&mut self, operation: &FileOperation<'t>) {
        if let Some(group) = key(operation).and_then(|key| self.open.get_mut(&key)) {
            group.kept += 1;
        }
    }

    /// Ends all groups. Those without a kept operation have no span.
    pub fn finish(&mut self, writer: &mut Writer<'t>) -> io::Result<()> {
        let mut groups: Vec<Group<'t>> =
            self.open.drain().map(|(_, group)| group).filter(|group| group.kept > 0).collect();
        groups.sort_by_key(|group| (group.first, group.span.0));
        groups.iter().try_for_each(|group| writer.push(group.process, &span::of_group(group)))
    }
}

impl<'t> Group<'t> {
    fn new(process: &'t Process, name: Name<'t>, time: i64, number: u64) -> Group<'t> {
        let label;
        let parts: [&[u8]; 2] = match name {
            Name::Tag(tag) => [b"tag", tag],
            Name::Label(number) => {
                label = number.to_le_bytes();
                [b"label", &label]
            }
        };
        let (trace, parent) = match name {
            Name::Tag(tag) => TraceId::in_tag(tag),
            Name::Label(_) => None,
        }
        .unwrap_or_else(|| (TraceId::derive(process, &parts), None));
        let span = SpanId::derive(process, &[parts[0], parts[1], &number.to_le_bytes()]);
        Group { process, name, trace, span, parent, first: time, last: time, operations: 0, errors: 0, kept: 0 }
    }
}

fn key<'t>(operation: &FileOperation<'t>) -> Option<Key<'t>> {
    let name = match (operation.request.user_tag, operation.requester) {
        ([], None) => return None,
        ([], Some(requester)) => Name::Label(requester.label),
        (tag, _) => Name::Tag(tag),
    };
    Some((ptr::from_ref(operation.process).addr(), name))
}
