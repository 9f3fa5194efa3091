//! Spans around operations: one for each user tag, and one for each sequential trace of operations without a tag.

use std::collections::HashMap;
use std::io;

use dyntrace_reader::{FileOperation, Process};

use super::ids::{SpanId, TraceId};
use super::span;
use super::writer::{Owner, Receiver, Writer};

/// How many groups are open at once. Beyond it, all are ended; a group that goes on has a second span.
const OPEN: usize = 1 << 16;

/// Where an operation is among the spans.
#[derive(Clone, Copy, Debug)]
pub struct SpanPlace {
    pub trace: TraceId,
    pub span: SpanId,
    pub parent: Option<SpanId>,
}

/// The properties that all operations of a group share.
#[derive(Clone, Debug)]
pub enum Name {
    Tag(Vec<u8>),
    /// The label of a sequential trace.
    Label(i32),
}

/// The operations of a process with the same name, up to now.
#[derive(Debug)]
pub struct Group {
    pub owner: Owner,
    pub name: Name,
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
pub struct Groups {
    /// By the owner and the name.
    open: HashMap<Vec<u8>, Group>,
    /// The key of the operation that was placed last.
    key: Vec<u8>,
    /// How many groups were begun.
    begun: u64,
}

impl Groups {
    /// Counts the operation in its group, and returns its place. An operation in flight ends at `end`.
    pub fn place<R: Receiver>(
        &mut self,
        operation: &FileOperation<'_>,
        owner: Owner,
        end: i64,
        writer: &mut Writer<R>,
    ) -> io::Result<SpanPlace> {
        let process = operation.process;
        let id = [operation.id.thread.to_le_bytes(), operation.id.tag.to_le_bytes()].concat();
        let parts = [operation.driver.as_bytes(), &id, &operation.entered.to_le_bytes()];
        let span = SpanId::derive(process, &parts);
        if !has_group(operation) {
            return Ok(SpanPlace { trace: TraceId::derive(process, &parts), span, parent: None });
        }
        self.set_key(operation, owner);
        if !self.open.contains_key(&self.key) {
            if self.open.len() == OPEN {
                self.end(i64::MAX, writer)?;
            }
            self.begun += 1;
            let group = Group::new(process, owner, name(operation), operation.entered, self.begun);
            self.open.insert(self.key.clone(), group);
        }
        let group = self.open.get_mut(&self.key).expect("it was inserted");
        group.first = group.first.min(operation.entered);
        group.last = group.last.max(operation.completion.map_or(end, |answer| answer.time));
        group.operations += 1;
        group.errors += u64::from(operation.completion.is_some_and(|answer| !answer.success));
        Ok(SpanPlace { trace: group.trace, span, parent: Some(group.span) })
    }

    /// The operation, which was placed last, is kept.
    pub fn keep(&mut self, operation: &FileOperation<'_>) {
        if has_group(operation)
            && let Some(group) = self.open.get_mut(&self.key)
        {
            group.kept += 1;
        }
    }

    /// Ends the groups whose last operation ended before the time `before`. Those without a kept operation have no span.
    pub fn end<R: Receiver>(&mut self, before: i64, writer: &mut Writer<R>) -> io::Result<()> {
        let ended = self.open.extract_if(|_, group| group.last < before);
        let mut groups: Vec<Group> = ended.map(|(_, group)| group).filter(|group| group.kept > 0).collect();
        groups.sort_by_key(|group| (group.first, group.span.0));
        groups.iter().try_for_each(|group| writer.push(group.owner, &span::of_group(group)))
    }

    /// Sets the key without an allocation for each operation.
    fn set_key(&mut self, operation: &FileOperation<'_>, Owner(owner): Owner) {
        self.key.clear();
        self.key.extend_from_slice(&owner.to_le_bytes());
        match operation.requester.filter(|_| operation.request.user_tag.is_empty()) {
            Some(requester) => {
                self.key.push(0);
                self.key.extend_from_slice(&requester.label.to_le_bytes());
            }
            None => {
                self.key.push(1);
                self.key.extend_from_slice(operation.request.user_tag);
            }
        }
    }
}

impl Group {
    fn new(process: &Process, owner: Owner, name: Name, time: i64, number: u64) -> Group {
        let label;
        let parts: [&[u8]; 2] = match &name {
            Name::Tag(tag) => [b"tag", tag],
            Name::Label(number) => {
                label = number.to_le_bytes();
                [b"label", &label]
            }
        };
        let (trace, parent) = match &name {
            Name::Tag(tag) => TraceId::in_tag(tag),
            Name::Label(_) => None,
        }
        .unwrap_or_else(|| (TraceId::derive(process, &parts), None));
        let span = SpanId::derive(process, &[parts[0], parts[1], &number.to_le_bytes()]);
        Group { owner, name, trace, span, parent, first: time, last: time, operations: 0, errors: 0, kept: 0 }
    }
}

fn has_group(operation: &FileOperation<'_>) -> bool {
    !operation.request.user_tag.is_empty() || operation.requester.is_some()
}

/// The name of the group of an operation that has one.
fn name(operation: &FileOperation<'_>) -> Name {
    match operation.requester.filter(|_| operation.request.user_tag.is_empty()) {
        Some(requester) => Name::Label(requester.label),
        None => Name::Tag(operation.request.user_tag.to_owned()),
    }
}
