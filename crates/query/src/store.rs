//! The places that hold data sets: folders, and object stores that speak S3. Both are object stores for this program.
//!
//! A file has the same name in each: its path below the data set. Names are taken as they are, with [`Path::parse`]. `Path::from` would
//! encode the percent signs of `host=a%20b` once more.

use std::fs;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use dyntrace_terminal::escape;
use object_store::aws::AmazonS3Builder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::prefix::PrefixStore;
use object_store::{Error, ObjectStore, RetryConfig};
use url::Url;

use crate::exit::{self, Failure};

/// Variables that say where credentials come from. Without them the machine's own service is asked, which only clouds have.
const CREDENTIALS: [&str; 5] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_SKIP_SIGNATURE",
];

const FORBIDDEN: &str = "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, and what they permit";
const NOT_FOUND: &str =
    "check the name of the bucket, AWS_REGION, and AWS_ENDPOINT_URL for servers other than Amazon's";

/// The place of a data set.
#[derive(Clone, Debug)]
pub struct Store {
    /// The files, by their paths below the data set.
    pub objects: Arc<dyn ObjectStore>,
    /// The place, for people.
    pub shown: String,
    /// Whether each request crosses a network.
    pub is_remote: bool,
}

/// A place as a user names it.
#[derive(Debug, PartialEq, Eq)]
pub enum StorePlace {
    Folder(PathBuf),
    Bucket { bucket: String, prefix: String },
}

impl StorePlace {
    /// Reads `s3://bucket/prefix`, `file:///folder` or the path of a folder.
    pub fn read(text: &FilePath) -> Result<StorePlace, Failure> {
        let wrong = |error: anyhow::Error| Failure::new(exit::USAGE, error);
        let shown = escape::path(text);
        let Some((scheme, rest)) = text.to_str().and_then(|text| text.split_once("://")) else {
            return Ok(StorePlace::Folder(text.to_owned()));
        };
        match scheme {
            // The key is the text itself, as in Amazon's own tools: percent signs encode nothing.
            "s3" => {
                let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
                if bucket.is_empty() {
                    return Err(wrong(anyhow!("{shown} names no bucket: write s3://BUCKET/PREFIX")));
                }
                Ok(StorePlace::Bucket { bucket: bucket.to_owned(), prefix: prefix.to_owned() })
            }
            "file" => {
                let folder = text.to_str().and_then(|text| Url::parse(text).ok()?.to_file_path().ok());
                let folder = folder.ok_or_else(|| wrong(anyhow!("{shown} names no folder: write file:///FOLDER")))?;
                Ok(StorePlace::Folder(folder))
            }
            _ => Err(wrong(anyhow!("{shown} is not known: write s3://BUCKET/PREFIX or file:///FOLDER"))),
        }
    }

    /// Opens the place to read a data set. No request is sent yet.
    pub fn open(&self) -> Result<Store, Failure> {
        let fail = |error: anyhow::Error| Failure::new(exit::NO_TRACE, error);
        match self {
            StorePlace::Folder(folder) => {
                let shown = escape::path(folder);
                // Its error is shorter than that of the store.
                fs::read_dir(folder).with_context(|| format!("cannot read the data set {shown}")).map_err(fail)?;
                let files = LocalFileSystem::new_with_prefix(folder);
                let files = files.with_context(|| format!("cannot read the data set {shown}")).map_err(fail)?;
                Ok(Store { objects: Arc::new(files), shown, is_remote: false })
            }
            StorePlace::Bucket { bucket, prefix } => {
                let text = format!("s3://{bucket}/{prefix}");
                let shown = escape::path(FilePath::new(&text));
                let prefix = Path::parse(prefix)
                    .with_context(|| format!("{shown} is no place for files"))
                    .map_err(|error| Failure::new(exit::USAGE, error))?;
                let retry = RetryConfig {
                    max_retries: 4,
                    // The credentials of a request must hold as long.
                    retry_timeout: Duration::from_secs(30),
                    ..RetryConfig::default()
                };
                let files = AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(retry).build();
                let files = files
                    .with_context(|| format!("cannot use {shown}; check the variables AWS_..."))
                    .map_err(|error| Failure::new(exit::USAGE, error))?;
                Ok(Store { objects: Arc::new(PrefixStore::new(files, prefix)), shown, is_remote: true })
            }
        }
    }
}

/// Returns what to do about an error of a store behind a network.
fn way_out(error: &Error) -> &'static str {
    // Of a list, the store tells the status of the answer in the text only.
    let text = error.to_string();
    let is_forbidden = text.contains("403 Forbidden") || text.contains("401 Unauthorized");
    match error {
        _ if CREDENTIALS.iter().all(|name| std::env::var_os(name).is_none()) => {
            "there are no credentials in the environment: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SKIP_SIGNATURE=true for a \
             public bucket"
        }
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => FORBIDDEN,
        _ if is_forbidden => FORBIDDEN,
        Error::NotFound { .. } => NOT_FOUND,
        _ if text.contains("404 Not Found") => NOT_FOUND,
        _ => "check the network, AWS_REGION, AWS_ENDPOINT_URL, and AWS_ALLOW_HTTP=true for a URL with http",
    }
}

impl Store {
    /// Returns an error of the store with what was done, and with what to do about it.
    pub fn error(&self, what: &str, error: Error) -> anyhow::Error {
        let hint = if self.is_remote { format!("; {}", way_out(&error)) } else { String::new() };
        anyhow!("{what} {}: {error}{hint}", self.shown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> StorePlace {
        StorePlace::read(FilePath::new(text)).unwrap()
    }

    #[test]
    fn a_place_is_a_folder_or_a_bucket() {
        assert_eq!(read("fleet"), StorePlace::Folder("fleet".into()));
        assert_eq!(read("file:///a%20b/c"), StorePlace::Folder("/a b/c".into()));
        let bucket = |prefix: &str| StorePlace::Bucket { bucket: "b".to_owned(), prefix: prefix.to_owned() };
        assert_eq!(read("s3://b"), bucket(""));
        assert_eq!(read("s3://b/a%20b/ä c/"), bucket("a%20b/ä c/"));
        for wrong in ["s3:///prefix", "https://b/prefix", "file://host/folder"] {
            assert_eq!(StorePlace::read(FilePath::new(wrong)).unwrap_err().status, exit::USAGE, "{wrong}");
        }
    }
}
