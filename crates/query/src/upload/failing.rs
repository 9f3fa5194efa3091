//! A store that fails: for tests, as if the upload were killed.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;
use futures::FutureExt as _;
use futures::stream::BoxStream;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result, UploadPart,
};

/// A store whose writes fail after some.
#[derive(Debug)]
pub struct Failing<S> {
    inner: S,
    left: Arc<AtomicI64>,
    /// Uploads by parts that were neither completed nor aborted.
    open: Arc<AtomicI64>,
}

impl<S> Failing<S> {
    /// Fails all writes after so many.
    pub fn after(writes: i64, inner: S) -> Failing<S> {
        Failing { inner, left: Arc::new(writes.into()), open: Arc::default() }
    }

    pub fn left_parts(&self) -> i64 {
        self.open.load(Ordering::Relaxed)
    }
}

fn write(left: &AtomicI64) -> Result<()> {
    if left.fetch_sub(1, Ordering::Relaxed) > 0 {
        return Ok(());
    }
    Err(Error::Generic { store: "failing", source: "no more writes".into() })
}

impl<S> fmt::Display for Failing<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("failing")
    }
}

#[async_trait]
impl<S: ObjectStore> ObjectStore for Failing<S> {
    async fn put_opts(&self, location: &Path, content: PutPayload, options: PutOptions) -> Result<PutResult> {
        write(&self.left)?;
        self.inner.put_opts(location, content, options).await
    }

    async fn put_multipart_opts(&self, at: &Path, options: PutMultipartOptions) -> Result<Box<dyn MultipartUpload>> {
        write(&self.left)?;
        let inner = self.inner.put_multipart_opts(at, options).await?;
        self.open.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(Parts { inner, left: Arc::clone(&self.left), open: Arc::clone(&self.open) }))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.inner.get_opts(location, options).await
    }

    fn delete_stream(&self, _: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        unreachable!("an upload deletes nothing")
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> Result<()> {
        unreachable!("an upload copies nothing within the store")
    }
}

#[derive(Debug)]
struct Parts {
    inner: Box<dyn MultipartUpload>,
    left: Arc<AtomicI64>,
    open: Arc<AtomicI64>,
}

#[async_trait]
impl MultipartUpload for Parts {
    fn put_part(&mut self, content: PutPayload) -> UploadPart {
        match write(&self.left) {
            Ok(()) => self.inner.put_part(content),
            Err(error) => std::future::ready(Err(error)).boxed(),
        }
    }

    async fn complete(&mut self) -> Result<PutResult> {
        write(&self.left)?;
        self.open.fetch_sub(1, Ordering::Relaxed);
        self.inner.complete().await
    }

    async fn abort(&mut self) -> Result<()> {
        self.open.fetch_sub(1, Ordering::Relaxed);
        self.inner.abort().await
    }
}
