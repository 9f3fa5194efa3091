//! Uploads into stores in memory and in folders: killed, two at once, of files that are replaced, and with odd names.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path as FilePath;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use datafusion::parquet::arrow::ArrowWriter;
use futures::TryStreamExt as _;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _};
use tempfile::TempDir;

use super::failing::Failing;
use super::summary::{Files, Summary};
use super::turn::Uploader;
use crate::store::Store;

const SOURCE: &str = "abababab-abab-abab-abab-abababababab";

fn write(root: &FilePath, key: &str, content: impl AsRef<[u8]>) {
    let path = root.join(key);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// Returns a table of one column.
fn table(values: &[i64]) -> Vec<u8> {
    let column: ArrayRef = Arc::new(Int64Array::from(values.to_vec()));
    let rows = RecordBatch::try_from_iter([("ahead_ns", column)]).unwrap();
    let mut file = ArrowWriter::try_new(Vec::new(), rows.schema(), None).unwrap();
    file.write(&rows).unwrap();
    file.into_inner().unwrap()
}

/// Adds a range of the source with two files. The contents are no tables: only `clocks` is looked into.
fn add_range(root: &FilePath, number: usize, host: &str) {
    let files: Vec<String> = ["events", "operations"]
        .map(|table| format!("{table}/host={host}/date=2026-11-26/hour=02/{SOURCE}-{number:06}-000.parquet"))
        .into();
    write(root, &format!("_sources/{SOURCE}/{number:06}.plan"), format!("plan {number}"));
    files.iter().for_each(|file| write(root, file, format!("rows of {file}")));
    let list = serde_json::json!({"layout": 1, "files": files});
    write(root, &format!("_sources/{SOURCE}/{number:06}.done"), list.to_string());
}

fn data_set() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    add_range(folder.path(), 0, "a%20b");
    add_range(folder.path(), 1, "ü c=%25#");
    write(folder.path(), "clocks/clocks.parquet", table(&[]));
    // Being written, and not of the data set.
    write(folder.path(), "events/host=a%20b/date=2026-11-26/hour=02/.x.parquet.1-0.partial", "half");
    write(folder.path(), &format!("_sources/{SOURCE}/.000002.plan.1-0.partial"), "half");
    write(folder.path(), "notes.txt", "mine");
    write(folder.path(), "events/_delta_log/00000000000000000010.checkpoint.parquet", table(&[1]));
    write(folder.path(), "events/_delta_log/00000000000000000010.json", "{}");
    folder
}

fn uploader(folder: &FilePath, objects: Arc<dyn ObjectStore>) -> Uploader {
    let store = Store { objects, shown: "the store".to_owned(), is_remote: false };
    Uploader::new(folder.to_owned(), store).with_limits(64, 1000)
}

async fn content(objects: &dyn ObjectStore) -> BTreeMap<String, Vec<u8>> {
    let files: Vec<_> = objects.list(None).try_collect().await.unwrap();
    let mut content = BTreeMap::new();
    for file in files {
        let bytes = objects.get(&file.location).await.unwrap().bytes().await.unwrap();
        content.insert(file.location.to_string(), bytes.to_vec());
    }
    content
}

/// The finished files of a folder.
fn expected(folder: &FilePath) -> BTreeMap<String, Vec<u8>> {
    let local = super::inventory::Inventory::read(folder).unwrap();
    assert!(local.left_out.is_empty());
    local.items().map(|item| (item.key.clone(), fs::read(&item.path).unwrap())).collect()
}

#[tokio::test]
async fn names_and_content_are_the_same_and_a_second_turn_sends_nothing() {
    let set = data_set();
    let objects = Arc::new(InMemory::new());
    let mut upload = uploader(set.path(), objects.clone());
    assert!(upload.turn().await.unwrap().is_empty());
    let expected = expected(set.path());
    assert_eq!(content(&*objects).await, expected);
    assert_eq!(expected.len(), 9);
    assert!(expected.keys().any(|key| key.starts_with("events/host=ü c=%25#/date=2026-11-26/")), "{expected:?}");
    let all = Files { files: 9, bytes: expected.values().map(|content| content.len() as u64).sum() };
    assert_eq!(upload.summary, Summary { uploaded: all, present: Files::default() });
    assert!(upload.turn().await.unwrap().is_empty());
    assert_eq!(upload.summary.uploaded, all);
    // Asks for each, or lists all.
    for few in [1000, 0] {
        let mut again = uploader(set.path(), objects.clone()).with_limits(64, few);
        assert!(again.turn().await.unwrap().is_empty());
        assert_eq!(again.summary, Summary { uploaded: Files::default(), present: all });
    }
}

#[tokio::test]
async fn a_folder_can_be_the_store() {
    let (set, target) = (data_set(), tempfile::tempdir().unwrap());
    let objects = Arc::new(object_store::local::LocalFileSystem::new_with_prefix(target.path()).unwrap());
    assert!(uploader(set.path(), objects).turn().await.unwrap().is_empty());
    assert_eq!(self::expected(target.path()), expected(set.path()));
}

#[tokio::test]
async fn wherever_an_upload_ends_the_next_one_finishes_it() {
    let set = data_set();
    let expected = expected(set.path());
    for last in 0.. {
        let objects = Arc::new(InMemory::new());
        let failing = Arc::new(Failing::after(last, objects.clone()));
        let ended = uploader(set.path(), failing.clone()).turn().await;
        let stored = content(&*objects).await;
        for (key, bytes) in &stored {
            assert_eq!(Some(bytes), expected.get(key), "{key} after {last} requests");
        }
        // A list is there after its files, and a file after its plan.
        for range in 0..2 {
            let of_range = |key: &&String| key.contains(&format!("{SOURCE}-{range:06}-"));
            let rows = stored.keys().filter(of_range).count();
            let has = |end: &str| stored.contains_key(&format!("_sources/{SOURCE}/{range:06}.{end}"));
            assert!(!has("done") || rows == 2, "after {last} requests");
            assert!(has("plan") || rows == 0, "after {last} requests");
        }
        let is_whole = ended.is_ok();
        assert!(uploader(set.path(), objects.clone()).turn().await.unwrap().is_empty());
        assert_eq!(content(&*objects).await, expected, "after {last} requests");
        assert_eq!(failing.left_parts(), 0, "after {last} requests");
        if is_whole {
            assert!(last > 9, "{last}");
            break;
        }
    }
}

#[tokio::test]
async fn two_uploads_at_once_make_one_copy() {
    let set = data_set();
    let objects = Arc::new(InMemory::new());
    let (mut one, mut other) = (uploader(set.path(), objects.clone()), uploader(set.path(), objects.clone()));
    let (one, other) = futures::join!(one.turn(), other.turn());
    assert_eq!((one.unwrap(), other.unwrap()), (Vec::new(), Vec::new()));
    assert_eq!(content(&*objects).await, expected(set.path()));
}

#[tokio::test]
async fn the_clocks_are_replaced_but_not_by_none() {
    let set = data_set();
    let objects = Arc::new(InMemory::new());
    let mut upload = uploader(set.path(), objects.clone());
    upload.turn().await.unwrap();
    // Of one size.
    for clocks in [table(&[1]), table(&[2])] {
        write(set.path(), "clocks/clocks.parquet", &clocks);
        assert!(upload.turn().await.unwrap().is_empty());
        assert_eq!(content(&*objects).await["clocks/clocks.parquet"], clocks);
    }
    write(set.path(), "clocks/clocks.parquet", table(&[]));
    assert!(uploader(set.path(), objects.clone()).turn().await.unwrap().is_empty());
    assert_eq!(content(&*objects).await["clocks/clocks.parquet"], table(&[2]));
}

#[tokio::test]
async fn a_cut_file_is_sent_again_and_others_stay() {
    let set = data_set();
    let objects = Arc::new(InMemory::new());
    uploader(set.path(), objects.clone()).turn().await.unwrap();
    let key = format!("events/host=a%20b/date=2026-11-26/hour=02/{SOURCE}-000000-000.parquet");
    objects.put(&Path::parse(&key).unwrap(), "rows".into()).await.unwrap();
    objects.put(&Path::from("events/other.parquet"), "of another one".into()).await.unwrap();
    // Gone here, to make room.
    fs::remove_file(set.path().join(key.replace("events", "operations"))).unwrap();
    let mut again = uploader(set.path(), objects.clone());
    assert!(again.turn().await.unwrap().is_empty());
    assert_eq!(again.summary.uploaded.files, 1);
    let stored = content(&*objects).await;
    assert_eq!(stored[&key], fs::read(set.path().join(&key)).unwrap());
    assert_eq!(stored.len(), 10);
}

#[tokio::test]
async fn another_conversion_of_a_source_is_left_out() {
    let set = data_set();
    let objects = Arc::new(InMemory::new());
    uploader(set.path(), objects.clone()).turn().await.unwrap();
    let before = content(&*objects).await;
    let other = tempfile::tempdir().unwrap();
    add_range(other.path(), 0, "a%20b");
    add_range(other.path(), 7, "b");
    write(other.path(), &format!("_sources/{SOURCE}/000000.plan"), "plan X");
    write(other.path(), "events/host=b/other-source-000000-000.parquet", "rows");
    let mut upload = uploader(other.path(), objects.clone());
    for _ in 0..2 {
        let left_out = upload.turn().await.unwrap();
        assert!(left_out.len() == 1 && left_out[0].contains("another conversion"), "{left_out:?}");
    }
    let mut expected = before;
    expected.insert("events/host=b/other-source-000000-000.parquet".to_owned(), b"rows".to_vec());
    assert_eq!(content(&*objects).await, expected);
}

#[tokio::test]
async fn a_list_of_a_file_that_is_nowhere_is_left_out() {
    let set = data_set();
    let key = format!("operations/host=a%20b/date=2026-11-26/hour=02/{SOURCE}-000000-000.parquet");
    fs::remove_file(set.path().join(&key)).unwrap();
    let objects = Arc::new(InMemory::new());
    let left_out = uploader(set.path(), objects.clone()).turn().await.unwrap();
    assert!(left_out.len() == 1 && left_out[0].contains(&key), "{left_out:?}");
    let stored = content(&*objects).await;
    assert!(!stored.contains_key(&format!("_sources/{SOURCE}/000000.done")));
    assert!(stored.contains_key(&format!("_sources/{SOURCE}/000001.done")));
}

#[tokio::test]
async fn a_source_that_is_converted_again_meanwhile_is_left_out() {
    let set = data_set();
    let objects = Arc::new(InMemory::new());
    let mut upload = uploader(set.path(), objects.clone());
    upload.turn().await.unwrap();
    let before = content(&*objects).await;
    // Of one size.
    std::thread::sleep(std::time::Duration::from_millis(20));
    write(set.path(), &format!("_sources/{SOURCE}/000001.plan"), "plan Y");
    add_range(set.path(), 2, "c");
    assert_eq!(upload.turn().await.unwrap().len(), 1);
    assert_eq!(content(&*objects).await, before);
}

#[tokio::test]
async fn a_name_that_no_store_takes_is_left_out() {
    let set = data_set();
    write(set.path(), "events/a\nb.parquet", "rows");
    let objects = Arc::new(InMemory::new());
    let mut upload = uploader(set.path(), objects);
    let left_out = upload.turn().await.unwrap();
    assert!(left_out.len() == 1 && left_out[0].contains(r"events/a\x0ab.parquet: its name has"), "{left_out:?}");
    assert_eq!(upload.summary.uploaded.files, 9);
}

#[tokio::test]
async fn links_and_pipes_are_left_out() {
    let (set, secret) = (data_set(), tempfile::tempdir().unwrap());
    let hour = set.path().join("events/host=a%20b/date=2026-11-26/hour=02");
    fs::write(secret.path().join("key.parquet"), "secret").unwrap();
    let link = |to: &FilePath, at: &str| std::os::unix::fs::symlink(to, set.path().join(at)).unwrap();
    link(&secret.path().join("key.parquet"), "events/key.parquet");
    link(secret.path(), "events/folder");
    link(secret.path(), "waits");
    link(&secret.path().join("key.parquet"), &format!("_sources/{SOURCE}/000009.plan"));
    assert!(std::process::Command::new("mkfifo").arg(hour.join("pipe.parquet")).status().unwrap().success());
    let objects = Arc::new(InMemory::new());
    let mut upload = uploader(set.path(), objects.clone());
    let left_out = upload.turn().await.unwrap();
    for name in ["events/key.parquet", "events/folder", "/waits", "000009.plan", "pipe.parquet"] {
        let told = left_out.iter().filter(|reason| reason.contains(name)).collect::<Vec<_>>();
        assert!(told.len() == 1 && told[0].ends_with("not a regular file"), "{name}: {left_out:?}");
    }
    assert_eq!((left_out.len(), content(&*objects).await.len()), (5, 9));
    // A file that becomes a link after the look at the folder.
    let local = super::inventory::Inventory::read(set.path()).unwrap();
    let file = &local.rows[0];
    fs::remove_file(&file.path).unwrap();
    std::os::unix::fs::symlink(secret.path().join("key.parquet"), &file.path).unwrap();
    assert!(file.open().is_err());
}

#[test]
fn times_have_units() {
    let seconds = |text| super::duration(text).map(|time| time.as_secs_f64());
    assert_eq!(["60s", "1.5m", "200ms", "1h"].map(|text| seconds(text).unwrap()), [60.0, 90.0, 0.2, 3600.0]);
    assert!(["60", "s", "-1s", "1d"].iter().all(|text| seconds(text).is_err()));
}
