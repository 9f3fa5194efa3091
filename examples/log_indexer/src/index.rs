//! The index of terms and their files, and the file to which it is written.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process;

use dyntrace::fs::{self, File};
use serde::Serialize;
use tokio::io::AsyncWriteExt;

use crate::request::RequestFiles;

/// The content of the index file, as JSON.
#[derive(Default, Serialize)]
pub struct Index {
    /// By path.
    pub files: Vec<IndexedFile>,
    /// For each term its files, by their indices in `files`, and its counts.
    pub terms: BTreeMap<String, Vec<(usize, u64)>>,
}

#[derive(Serialize)]
pub struct IndexedFile {
    /// Its path; bytes that are not UTF-8 are replaced.
    pub path: String,
    /// The tag of the request that read it.
    pub request: String,
    pub bytes: u64,
    pub lines: u64,
}

/// A term, the number of files with it, and its total count.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Usage<'i> {
    pub term: &'i str,
    pub files: usize,
    pub count: u64,
}

impl Index {
    pub fn new(found: &[RequestFiles]) -> Index {
        let mut files: Vec<_> =
            found.iter().flat_map(|found| found.files.iter().map(|(path, terms)| (path, &found.tag, terms))).collect();
        files.sort_by_key(|(path, ..)| *path);
        let mut index = Index::default();
        for (number, (path, tag, terms)) in files.into_iter().enumerate() {
            index.files.push(IndexedFile {
                path: path.to_string_lossy().into_owned(),
                request: tag.clone(),
                bytes: terms.bytes,
                lines: terms.lines,
            });
            for (term, &count) in &terms.counts {
                index.terms.entry(term.clone()).or_default().push((number, count));
            }
        }
        index
    }

    /// Returns the terms by number of files, then by count, the highest first.
    pub fn top(&self, limit: usize) -> Vec<Usage<'_>> {
        let usage = self.terms.iter().map(|(term, places)| {
            let count = places.iter().map(|(_, count)| count).sum();
            Usage { term, files: places.len(), count }
        });
        let mut all: Vec<_> = usage.collect();
        all.sort_by_key(|usage| (Reverse((usage.files, usage.count)), usage.term));
        all.truncate(limit);
        all
    }

    /// Writes the index to a file atomically: after an error the file is unchanged.
    pub async fn write(&self, path: &Path) -> io::Result<()> {
        let partial = partial(path);
        let written = async {
            let mut file = File::create(&partial).await?;
            file.write_all(&serde_json::to_vec(self)?).await?;
            file.sync_all().await?;
            file.close().await?;
            fs::rename(&partial, path).await
        };
        let answer = written.await;
        if answer.is_err() {
            // Reports the first error; the temporary file may not exist.
            let _ = fs::remove_file(&partial).await;
        }
        answer
    }
}

fn partial(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(format!(".{}.partial", process::id()));
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::Counter;

    fn found(tag: &str, files: &[(&str, &str)]) -> RequestFiles {
        let terms = |text: &str| {
            let mut counter = Counter::default();
            counter.add(text.as_bytes());
            counter.finish()
        };
        let files = files.iter().map(|&(path, text)| (path.into(), terms(text))).collect();
        RequestFiles { tag: tag.to_owned(), directory: "logs".into(), files, failed: Vec::new() }
    }

    #[test]
    fn terms_lead_to_their_files() {
        let index =
            Index::new(&[found("req-1", &[("logs/b", "error error disk")]), found("req-2", &[("logs/a", "disk\n")])]);
        let paths: Vec<_> = index.files.iter().map(|file| (&*file.path, &*file.request, file.lines)).collect();
        assert_eq!(paths, [("logs/a", "req-2", 1), ("logs/b", "req-1", 0)]);
        assert_eq!(index.terms["error"], [(1, 2)]);
        assert_eq!(index.terms["disk"], [(0, 1), (1, 1)]);
        let most = index.top(1);
        assert_eq!(most, [Usage { term: "disk", files: 2, count: 2 }]);
    }
}
