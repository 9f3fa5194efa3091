//! File descriptors in values, and the kernel's descriptions of them.

use std::collections::HashSet;

use crate::dwarf::Shape;
use crate::future::{Value, Walk, limits};
use crate::listing::{Ready, WaitsFor};

/// Returns the file descriptor in one of a coroutine's variables.
pub(super) fn among(walk: &Walk<'_, '_>, variables: &Value) -> Option<i32> {
    let mut search = Search::default();
    let members = variables.kind.members.iter().filter(|member| member.name != "__awaitee");
    members
        .filter_map(|member| walk.steady.member(variables, member))
        .find_map(|value| in_value(walk, &value, &mut search, 0))
}

/// Returns the file descriptor in a part of a value.
pub(super) fn within(walk: &Walk<'_, '_>, value: &Value) -> Option<i32> {
    in_value(walk, value, &mut Search::default(), 0)
}

pub(super) fn describe(walk: &Walk<'_, '_>, descriptor: i32, ready: Option<Ready>) -> WaitsFor {
    let (describes, unread) = walk.reader.descriptors.and_then(|descriptors| descriptors.look_up(descriptor)).unzip();
    WaitsFor::Descriptor { descriptor, describes, ready, unread: unread.unwrap_or(0) }
}

#[derive(Default)]
struct Search {
    followed: HashSet<u64>,
    visited: u32,
}

fn in_value(walk: &Walk<'_, '_>, value: &Value, search: &mut Search, depth: u32) -> Option<i32> {
    search.visited += 1;
    if depth > limits::STRUCTS || search.visited > limits::VALUES || value.kind.is_coroutine() {
        return None;
    }
    let values = &walk.live;
    let kind = &*value.kind;
    match kind.shape {
        Shape::Pointer(_) => {
            let target = values.target(value)?;
            let first = search.followed.insert(target.address);
            if first { in_value(walk, &target, search, depth + 1) } else { None }
        }
        Shape::Struct => match kind.bare() {
            "std::os::fd::owned::OwnedFd" => {
                let descriptor = values.low(value, 4)?;
                Some(descriptor as u32 as i32)
            }
            "alloc::sync::Arc" => in_value(walk, &values.follow(value, &["arc"])?, search, depth + 1),
            bare if ["core::task::", "core::marker::", "core::sync::", "tokio::runtime::"]
                .iter()
                .any(|m| bare.starts_with(m)) =>
            {
                None
            }
            _ if kind.variants.is_some() => in_value(walk, &values.variant(value)?.1, search, depth + 1),
            _ => {
                let members = kind.members.iter().filter_map(|member| values.member(value, member));
                members.into_iter().find_map(|member| in_value(walk, &member, search, depth + 1))
            }
        },
        _ => None,
    }
}
