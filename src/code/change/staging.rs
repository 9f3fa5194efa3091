//! Steps 3 to 6 of a finish, which every change of the tables takes.

use tokio::task::yield_now;

use super::changing::Abandoned;
use crate::breakpoint::progress::progress;
use crate::code::version::tables::{Change, SLICE, Tables};
use crate::permission::Permission;

/// Stages the changes and commits them. False if the change was abandoned before the commit: then nothing has changed.
pub(crate) async fn put_in_force(
    tables: &Tables,
    permission: &Permission,
    changes: Vec<Change>,
    abandoned: &Abandoned,
) -> bool {
    while tables.refresh(permission) {
        yield_now().await; // 3
    }
    let mut changes = changes.into_iter().peekable();
    while changes.peek().is_some() {
        tables.stage(permission, changes.by_ref().take(SLICE)); // 3
        yield_now().await;
    }
    progress().await; // 5
    if abandoned.is_so() {
        while tables.refresh(permission) {}
        return false;
    }
    tables.commit(permission); // 6
    true
}
