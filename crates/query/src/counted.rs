//! The files of a data set as the engine reads them, with a count of the bytes that it reads.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt as _;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

/// A store that counts the bytes of the answers, and refuses to write.
#[derive(Debug)]
pub struct Counted<S> {
    inner: S,
    read: Arc<AtomicU64>,
}

impl<S> Counted<S> {
    /// Counts the bytes that are read from `inner` in `read`.
    pub fn new(inner: S, read: Arc<AtomicU64>) -> Counted<S> {
        Counted { inner, read }
    }

    fn count(&self, bytes: u64) {
        self.read.fetch_add(bytes, Ordering::Relaxed);
    }

    fn refuse<T>(&self) -> Result<T> {
        Err(Error::NotSupported { source: "queries only read a data set".into() })
    }
}

impl<S: fmt::Display> fmt::Display for Counted<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

#[async_trait]
impl<S: ObjectStore> ObjectStore for Counted<S> {
    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let has_content = !options.head;
        let got = self.inner.get_opts(location, options).await?;
        if has_content {
            self.count(got.range.end - got.range.start);
        }
        Ok(got)
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let got = self.inner.get_ranges(location, ranges).await?;
        self.count(got.iter().map(|bytes| bytes.len() as u64).sum());
        Ok(got)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn put_opts(&self, _: &Path, _: PutPayload, _: PutOptions) -> Result<PutResult> {
        self.refuse()
    }

    async fn put_multipart_opts(&self, _: &Path, _: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        self.refuse()
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let refuse = |_| Err(Error::NotSupported { source: "queries only read a data set".into() });
        locations.map(refuse).boxed()
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        self.refuse()
    }
}
