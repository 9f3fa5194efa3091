//! Executes orders.

use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use super::order::Order;
use crate::code::change::finish::finish;
use crate::code::change::history::{Event, EventKind, history};
use crate::code::change::purge::{Purged, delete, purge, soft_purge};
use crate::code::load::policy;
use crate::code::load::prepare::prepare;
use crate::code::lookup::list::{ModuleInfo, VersionInfo, list};
use crate::code::version::inside::{Inside, check};
use crate::code::version::prepared::Prepared;
use crate::code::version::still_mapped::kept;
use crate::recorder::control::protocol::Record;

/// The answer to a client.
type Answer = Result<Vec<Record>, String>;

/// Executes an order.
pub(super) async fn perform(order: Order) -> Answer {
    if order.changes() && !policy::is_remote() {
        let how = "dyntrace::code::allow(Policy::new().directory(...).remote(true))";
        return Err(format!("its policy does not let other processes change its code: let it call {how}"));
    }
    match order {
        Order::List => Ok(versions()),
        Order::History => Ok(events()),
        Order::Check(module) => inside(&module),
        Order::Load(files) => load(files, false).await,
        Order::Upgrade(files) => load(files, true).await,
        Order::Delete(module) => {
            let version = info(&module).and_then(|info| info.current);
            delete(&module).await.map_err(text)?;
            Ok(version.iter().map(|version| of(&module, version)).collect())
        }
        Order::Purge(module) => {
            let version = info(&module).and_then(|info| info.old);
            purged(&module, version, purge(&module).await.map_err(text)?)
        }
        Order::SoftPurge(module) => {
            let version = info(&module).and_then(|info| info.old);
            purged(&module, version, soft_purge(&module).await.map_err(text)?)
        }
    }
}

fn versions() -> Vec<Record> {
    let mut records = Vec::new();
    for ModuleInfo { name, current, old, .. } in list() {
        for (state, version) in [("current", current), ("old", old)] {
            let row = |version: VersionInfo| {
                of(&name, &version)
                    .with("state", state)
                    .with("file", version.file.display())
                    .with("start", version.range.start)
                    .with("size", version.range.len())
                    .with("exports", version.exports)
            };
            records.extend(version.map(row));
        }
    }
    records.push(Record::default().with("kept", kept()));
    records
}

fn events() -> Vec<Record> {
    let row = |event: Event| {
        let what = match event.kind {
            EventKind::Load => "load",
            EventKind::Upgrade => "upgrade",
            EventKind::Delete => "delete",
            EventKind::Purge => "purge",
        };
        let time = event.at.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        Record::default()
            .with("time", time)
            .with("what", what)
            .with("module", event.module)
            .with("version", event.version)
    };
    history().into_iter().map(row).collect()
}

fn inside(module: &str) -> Answer {
    let old = info(module).ok_or_else(|| format!("there is no module {module}"))?.old;
    let (Some(old), Some(Inside { threads, holds, .. })) = (old, check(module)) else { return Ok(Vec::new()) };
    let mut records: Vec<Record> =
        threads.iter().map(|(thread, name)| of(module, &old).with("thread", thread).with("name", name)).collect();
    if holds > 0 {
        records.push(of(module, &old).with("holds", holds));
    }
    Ok(records)
}

/// Loads all files or none. Upgraded modules must have a current version, others must not.
async fn load(files: Vec<PathBuf>, upgrades: bool) -> Answer {
    let mut prepared = Vec::new();
    for file in files {
        prepared.push(prepare(file).await.map_err(text)?);
    }
    let mut names = Vec::new();
    for module in prepared.iter().map(Prepared::module) {
        let current = info(module).and_then(|info| info.current);
        match &current {
            Some(current) if !upgrades => {
                let version = &current.version;
                return Err(format!("module {module} is already loaded, in version {version}: upgrade it instead"));
            }
            None if upgrades => return Err(format!("module {module} is not loaded: load it instead")),
            _ => names.push((module.to_owned(), current)),
        }
    }
    finish(prepared).await.map_err(text)?;
    let row = |(module, before): &(String, Option<VersionInfo>)| {
        let now = info(module)?.current?;
        let record = of(module, &now).with("file", now.file.display());
        Some(before.iter().fold(record, |record, before| record.with("old", &before.version)))
    };
    Ok(names.iter().filter_map(row).collect())
}

fn purged(module: &str, version: Option<VersionInfo>, purged: Purged) -> Answer {
    let fate = match purged {
        Purged::Nothing => return Ok(Vec::new()),
        Purged::Kept => "kept",
        Purged::Unloaded => "unloaded",
    };
    Ok(version.iter().map(|version| of(module, version).with("fate", fate)).collect())
}

fn info(module: &str) -> Option<ModuleInfo> {
    list().into_iter().find(|info| *info.name == *module)
}

fn of(module: &str, version: &VersionInfo) -> Record {
    Record::default().with("module", module).with("version", &version.version)
}

/// An error and its causes, on one line.
fn text(error: impl std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text += &format!(": {cause}");
        source = cause.source();
    }
    text
}
