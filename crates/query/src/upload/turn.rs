//! One turn of an upload.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use anyhow::Context as _;
use dyntrace_terminal::escape;
use futures::{StreamExt as _, TryStreamExt as _, stream};
use object_store::path::Path;
use object_store::{Error, ObjectStore as _, ObjectStoreExt as _};
use serde::Deserialize;

use super::Summary;
use super::carrier::{Carrier, Copied, FileKind, Trouble};
use super::inventory::{Inventory, Item, Version};
use crate::store::Store;

/// The most files that are copied at once. Each has at most one part in memory.
const AT_ONCE: usize = 8;
/// The most files whose sizes are asked for at once.
const ASKED_AT_ONCE: usize = 32;
/// Up to this many new files the store is asked for each. A list of the whole store costs a request for each thousand files.
const FEW: usize = 1000;

/// An upload.
#[derive(Debug)]
pub struct Uploader {
    folder: PathBuf,
    store: Store,
    pub carrier: Carrier,
    /// The files that the store has, as they were here. Replaced tables are compared in each turn.
    known: HashMap<String, Version>,
    few: usize,
    pub summary: Summary,
}

/// A file that was not copied.
struct LeftOut {
    key: String,
    /// A sentence for people.
    reason: String,
}

impl LeftOut {
    fn of(item: &Item, reason: &dyn Display) -> LeftOut {
        let reason = format!("left out {}: {reason}", escape::path(&item.path));
        LeftOut { key: item.key.clone(), reason }
    }
}

/// The list that a converter writes when a range is done.
#[derive(Deserialize)]
struct List {
    files: Vec<String>,
}

impl Uploader {
    pub fn new(folder: PathBuf, store: Store) -> Uploader {
        let carrier = Carrier::new(store.objects.clone());
        Uploader { folder, store, carrier, known: HashMap::new(), few: FEW, summary: Summary::default() }
    }

    #[cfg(test)]
    pub fn with_limits(self, part: u64, few: usize) -> Uploader {
        Uploader { carrier: self.carrier.with_part(part), few, ..self }
    }

    /// Copies what the store lacks. Returns the files that were left out, each with the reason.
    pub async fn turn(&mut self) -> anyhow::Result<Vec<String>> {
        self.carrier.halt.store(false, Ordering::Relaxed);
        let local = Inventory::read(&self.folder)?;
        let stored = self.stored(&local).await?;

        let (there, new): (Vec<_>, Vec<_>) =
            local.plans.iter().cloned().partition(|plan| stored.contains_key(&plan.key));
        let mut left_out = self.copy(&there, FileKind::Plan, &stored).await?;
        let refused: BTreeSet<_> = left_out.iter().filter_map(|plan| source_of(&plan.key)).map(str::to_owned).collect();
        // A plan in the store binds every upload, so none may come from a conversion that is left out.
        let new: Vec<_> = new.into_iter().filter(|plan| !is_in(&refused, source_of(&plan.key))).collect();
        let late = self.copy(&new, FileKind::Plan, &stored).await?;
        let refused: BTreeSet<_> =
            refused.into_iter().chain(late.iter().filter_map(|plan| Some(source_of(&plan.key)?.to_owned()))).collect();
        left_out.extend(late);

        let rows = local.rows.iter().filter(|item| !is_in(&refused, source_of_rows(&item.key)));
        left_out.extend(self.copy(&rows.cloned().collect::<Vec<_>>(), FileKind::Rows, &stored).await?);
        left_out.extend(self.copy(&local.singles, FileKind::Single, &stored).await?);
        let lists = local.lists.iter().filter(|list| !is_in(&refused, source_of(&list.key)));
        let (complete, incomplete) = self.complete(lists).await?;
        left_out.extend(incomplete);
        left_out.extend(self.copy(&complete, FileKind::List, &stored).await?);
        Ok(local.left_out.into_iter().chain(left_out.into_iter().map(|item| item.reason)).collect())
    }

    /// Returns the lists of which the store has all files, and the others.
    async fn complete(&self, lists: impl Iterator<Item = &Item>) -> anyhow::Result<(Vec<Item>, Vec<LeftOut>)> {
        let (mut complete, mut incomplete) = (Vec::new(), Vec::new());
        for list in lists {
            if self.carrier.is_stopped() {
                break;
            }
            match self.missing(list).await? {
                None => complete.push(list.clone()),
                Some(reason) => incomplete.push(LeftOut::of(list, &reason)),
            }
        }
        Ok((complete, incomplete))
    }

    fn is_known(&self, item: &Item) -> bool {
        self.known.get(&item.key) == Some(&item.version)
    }

    /// Returns the sizes of the files in the store, of those whose state is not known.
    async fn stored(&self, local: &Inventory) -> anyhow::Result<HashMap<String, u64>> {
        let error = |error| self.store.error("cannot read", error);
        let singles = local.singles.iter().filter(|item| self.is_known(item));
        let wanted: Vec<&Item> = local.items().filter(|item| !self.is_known(item)).chain(singles).collect();
        if self.known.is_empty() {
            // A question about one file has the same answer whether the file is missing or the bucket.
            self.store.objects.list_with_delimiter(None).await.map_err(error)?;
        }
        if wanted.len() > self.few {
            let names: BTreeSet<&str> = wanted.iter().map(|item| item.key.as_str()).collect();
            let found = self.store.objects.list(None);
            let found = found.try_filter(|file| std::future::ready(names.contains(file.location.as_ref())));
            return found.map_ok(|file| (file.location.to_string(), file.size)).try_collect().await.map_err(error);
        }
        let sizes = wanted.into_iter().map(|item| async { Ok((item.key.clone(), self.size(&item.key).await?)) });
        let sizes = stream::iter(sizes).buffer_unordered(ASKED_AT_ONCE);
        let found = sizes.try_filter_map(|(key, size)| std::future::ready(Ok(size.map(|size| (key, size)))));
        found.try_collect().await.map_err(error)
    }

    /// Returns the size of a file in the store, if there is one.
    async fn size(&self, key: &str) -> Result<Option<u64>, Error> {
        match self.store.objects.head(&Path::parse(key)?).await {
            Ok(file) => Ok(Some(file.size)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns why the list must not be in the store: the store lacks one of its files.
    async fn missing(&self, list: &Item) -> anyhow::Result<Option<String>> {
        if self.is_known(list) {
            return Ok(None);
        }
        let text = match list.read() {
            Ok(text) => text,
            Err(error) => return Ok(Some(format!("it cannot be read: {error}"))),
        };
        let files = match serde_json::from_slice::<List>(&text) {
            Ok(List { files }) => files,
            Err(error) => return Ok(Some(format!("it is no list of files: {error}"))),
        };
        for file in files.iter().filter(|file| !self.known.contains_key(*file)) {
            // It may have gone from the folder after an earlier upload.
            if self.size(file).await.map_err(|error| self.store.error("cannot read", error))?.is_none() {
                let file = escape::path(std::path::Path::new(file));
                return Ok(Some(format!(
                    "it names {file}, which the store lacks; if it is gone here, too, convert again"
                )));
            }
        }
        Ok(None)
    }

    /// Copies files, some at once. Returns those that were left out, when all requests have ended.
    async fn copy(
        &mut self,
        items: &[Item],
        kind: FileKind,
        stored: &HashMap<String, u64>,
    ) -> anyhow::Result<Vec<LeftOut>> {
        let new: Vec<&Item> = items.iter().filter(|item| kind == FileKind::Single || !self.is_known(item)).collect();
        let Uploader { carrier, known, summary, store, .. } = self;
        let copies = new.into_iter().map(|item| {
            let carrier = &*carrier;
            async move { (item, carrier.copy(item, kind, stored.get(&item.key).copied()).await) }
        });
        let mut copies = stream::iter(copies).buffer_unordered(AT_ONCE);
        let mut left_out = Vec::new();
        let mut failed = None;
        while let Some((item, copied)) = copies.next().await {
            match copied {
                Ok(Copied::Uploaded(size)) => {
                    summary.uploaded.add(size);
                    known.insert(item.key.clone(), Version { size, ..item.version });
                }
                Ok(Copied::Present) => {
                    if known.insert(item.key.clone(), item.version).is_none() {
                        summary.present.add(item.version.size);
                    }
                }
                Err(Trouble::Stopped) => {}
                Err(Trouble::Local(error)) => left_out.push(LeftOut::of(item, &error)),
                Err(Trouble::OtherPlan) => {
                    let shown = &store.shown;
                    let reason = format!(
                        "{shown} has its source from another conversion, and both would have rows twice; upload this data set to another place"
                    );
                    left_out.push(LeftOut::of(item, &reason));
                }
                Err(Trouble::Store(error)) => {
                    carrier.halt.store(true, Ordering::Relaxed);
                    failed.get_or_insert((item, error));
                }
            }
        }
        match failed {
            Some((item, error)) => Err(store.error("cannot write to", error))
                .with_context(|| format!("cannot upload {}", escape::path(&item.path))),
            None => Ok(left_out),
        }
    }
}

/// Returns the name of the source of a plan or a list: `_sources/UUID/RANGE.plan`.
fn source_of(key: &str) -> Option<&str> {
    key.split('/').nth(1)
}

/// Returns the name of the source of a file with rows: `.../UUID-RANGE-PART.parquet`.
fn source_of_rows(key: &str) -> Option<&str> {
    key.rsplit('/').next()?.rsplitn(3, '-').nth(2)
}

fn is_in(sources: &BTreeSet<String>, source: Option<&str>) -> bool {
    source.is_some_and(|source| sources.contains(source))
}
