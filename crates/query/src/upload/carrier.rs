//! Copies one file. It appears in the store whole.

use std::fs::File;
use std::io::{self, Read as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use object_store::path::Path;
use object_store::{Error, MultipartUpload, ObjectStore, ObjectStoreExt as _, PutMode};

use super::inventory::Item;

/// The bytes of a part. A larger file is copied by parts; S3 takes at least 5 MiB for each but the last.
const PART: u64 = 8 << 20;
/// The most parts that S3 takes for one file.
const MOST_PARTS: u64 = 10_000;

/// How a file is compared with the one in the store, and put there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Never changes: the first one stays, and another one is an error.
    Plan,
    /// Never changes: the size tells whether the store has it.
    Rows,
    /// Is replaced: the content tells.
    Single,
    /// Is replaced by an equal one: the content tells.
    List,
}

/// A copy that succeeded.
#[derive(Debug)]
pub enum Copied {
    /// So many bytes were sent.
    Uploaded(u64),
    /// The store had the file.
    Present,
}

/// A copy that failed.
#[derive(Debug)]
pub enum Trouble {
    Store(Error),
    Local(io::Error),
    /// The store has another plan of this name.
    OtherPlan,
    /// The upload ends.
    Stopped,
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Trouble {
        Trouble::Store(error)
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Trouble {
        Trouble::Local(error)
    }
}

/// Copies files into a store.
#[derive(Debug)]
pub struct Carrier {
    objects: Arc<dyn ObjectStore>,
    part: u64,
    /// Set by an interrupt: no further request begins a file or a part.
    pub stop: Arc<AtomicBool>,
    /// The same for one turn, after an error of the store.
    pub halt: AtomicBool,
}

impl Carrier {
    pub fn new(objects: Arc<dyn ObjectStore>) -> Carrier {
        Carrier { objects, part: PART, stop: Arc::default(), halt: AtomicBool::new(false) }
    }

    #[cfg(test)]
    pub fn with_part(self, part: u64) -> Carrier {
        Carrier { part, ..self }
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.halt.load(Ordering::Relaxed)
    }

    /// Copies the file unless the store has it. `stored` is the size of the file of this name in the store.
    pub async fn copy(&self, item: &Item, kind: FileKind, stored: Option<u64>) -> Result<Copied, Trouble> {
        if self.is_stopped() {
            return Err(Trouble::Stopped);
        }
        let location = Path::parse(&item.key).map_err(Error::from)?;
        match kind {
            FileKind::Rows if stored == Some(item.version.size) => Ok(Copied::Present),
            FileKind::Rows => self.send(item, &location).await,
            FileKind::Plan | FileKind::Single | FileKind::List => self.compare(item, &location, kind, stored.is_some()).await,
        }
    }

    /// Copies a small file unless the store has an equal one.
    async fn compare(&self, item: &Item, location: &Path, kind: FileKind, is_stored: bool) -> Result<Copied, Trouble> {
        let content = item.read()?;
        // Each conversion begins the table for those that have none. It must not replace one with rows.
        let is_empty = kind == FileKind::Single && is_without_rows(&content);
        if is_stored {
            let is_equal = self.objects.get(location).await?.bytes().await? == content;
            match kind {
                _ if is_equal || is_empty => return Ok(Copied::Present),
                FileKind::Plan => return Err(Trouble::OtherPlan),
                _ => {}
            }
        }
        let size = content.len() as u64;
        if kind == FileKind::Plan || is_empty {
            match self.objects.put_opts(location, content.clone().into(), PutMode::Create.into()).await {
                Ok(_) => return Ok(Copied::Uploaded(size)),
                Err(Error::AlreadyExists { .. }) if is_empty => return Ok(Copied::Present),
                // Of another upload, which was faster.
                Err(Error::AlreadyExists { .. }) => {
                    let is_equal = self.objects.get(location).await?.bytes().await? == content;
                    return if is_equal { Ok(Copied::Present) } else { Err(Trouble::OtherPlan) };
                }
                // A server without conditions: AWS_CONDITIONAL_PUT=disabled.
                Err(Error::NotImplemented { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.objects.put(location, content.into()).await?;
        Ok(Copied::Uploaded(size))
    }

    /// Copies a file of any size.
    async fn send(&self, item: &Item, location: &Path) -> Result<Copied, Trouble> {
        let mut file = item.open()?;
        let size = file.metadata()?.len();
        if size <= self.part {
            self.objects.put(location, read(&mut file, size)?.into()).await?;
            return Ok(Copied::Uploaded(size));
        }
        let mut parts = self.objects.put_multipart(location).await?;
        let sent = match self.send_parts(&mut file, size, &mut *parts).await {
            Ok(()) => parts.complete().await.map_err(Trouble::from),
            Err(trouble) => Err(trouble),
        };
        if let Err(trouble) = sent {
            // Parts cost money until they are removed. If this fails, a rule of the bucket must do it.
            let _ = parts.abort().await;
            return Err(trouble);
        }
        Ok(Copied::Uploaded(size))
    }

    async fn send_parts(&self, file: &mut File, size: u64, parts: &mut dyn MultipartUpload) -> Result<(), Trouble> {
        let part = self.part.max(size.div_ceil(MOST_PARTS));
        let mut left = size;
        while left > 0 {
            if self.is_stopped() {
                return Err(Trouble::Stopped);
            }
            let next = left.min(part);
            parts.put_part(read(file, next)?.into()).await?;
            left -= next;
        }
        Ok(())
    }
}

/// Reads the next bytes of a file, all of them.
fn read(file: &mut File, size: u64) -> io::Result<Bytes> {
    let mut content = vec![0; usize::try_from(size).map_err(io::Error::other)?];
    file.read_exact(&mut content)?;
    Ok(content.into())
}

fn is_without_rows(content: &Bytes) -> bool {
    let file = ParquetRecordBatchReaderBuilder::try_new(content.clone());
    file.is_ok_and(|file| file.metadata().file_metadata().num_rows() == 0)
}
