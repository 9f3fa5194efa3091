// Every item of `tokio::fs` on Unix, used with its types written out.

use std::ffi::{OsStr, OsString};
use std::fs::{FileType, Metadata, Permissions};
use std::future::Future;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::path::{Path, PathBuf};
use std::task::{Context, Poll};
use std::time::SystemTime;

use tokio::io::{AsyncRead, AsyncSeek, AsyncWrite};

/// Checks the output's type, and that the future is `Send`.
fn future<T>(future: impl Future<Output = T> + Send + Sync) -> impl Future<Output = T> + Send + Sync {
    future
}

fn is_a_file_type<T: std::fmt::Debug + Send + Sync + Unpin + 'static>() {}
fn is_unwind_safe<T: UnwindSafe>() {}
fn is_ref_unwind_safe<T: RefUnwindSafe>() {}
fn is_stream<T: AsyncRead + AsyncWrite + AsyncSeek>() {}
fn is_descriptor<T: AsFd + AsRawFd + FromRawFd + From<OwnedFd> + From<std::fs::File>>() {}
fn is_value<T: Clone + Default>() {}

pub async fn every_item_is_there(place: &Path) {
    let path: &Path = &place.join("file");
    let text: &str = path.to_str().unwrap();
    let owned: fn() -> PathBuf = || PathBuf::from("missing");

    is_a_file_type::<fs::File>();
    is_a_file_type::<fs::FileTimes>();
    is_a_file_type::<fs::OpenOptions>();
    is_a_file_type::<fs::DirBuilder>();
    is_a_file_type::<fs::DirEntry>();
    is_a_file_type::<fs::ReadDir>();
    is_unwind_safe::<fs::FileTimes>();
    is_unwind_safe::<fs::OpenOptions>();
    is_unwind_safe::<fs::DirBuilder>();
    is_unwind_safe::<fs::DirEntry>();
    is_ref_unwind_safe::<fs::FileTimes>();
    is_ref_unwind_safe::<fs::OpenOptions>();
    is_ref_unwind_safe::<fs::DirBuilder>();
    is_ref_unwind_safe::<fs::DirEntry>();
    is_stream::<fs::File>();
    is_descriptor::<fs::File>();
    is_value::<fs::FileTimes>();
    is_value::<fs::OpenOptions>();
    let _: fs::DirBuilder = Default::default();
    let _: fn(std::fs::OpenOptions) -> fs::OpenOptions = From::from;

    // The functions, with paths of several kinds, owned and borrowed.
    future::<io::Result<()>>(fs::write(path, "contents")).await.unwrap();
    future::<io::Result<()>>(fs::write(text, String::from("contents"))).await.unwrap();
    future::<io::Result<()>>(fs::write(path.to_owned(), b"contents")).await.unwrap();
    future::<io::Result<()>>(fs::write(path.as_os_str(), vec![b'c'; 8])).await.unwrap();
    future::<io::Result<Vec<u8>>>(fs::read(text)).await.unwrap();
    future::<io::Result<String>>(fs::read_to_string(OsString::from(path))).await.unwrap();
    future::<io::Result<Metadata>>(fs::metadata(path)).await.unwrap();
    future::<io::Result<Metadata>>(fs::symlink_metadata(path)).await.unwrap();
    future::<io::Result<bool>>(fs::try_exists(owned())).await.unwrap();
    future::<io::Result<PathBuf>>(fs::canonicalize(path)).await.unwrap();
    future::<Result<u64, io::Error>>(fs::copy(text, place.join("copy"))).await.unwrap();
    future::<io::Result<()>>(fs::hard_link(path, place.join("link"))).await.unwrap();
    future::<io::Result<()>>(fs::symlink(OsStr::new("file"), place.join("symlink"))).await.unwrap();
    future::<io::Result<PathBuf>>(fs::read_link(place.join("symlink"))).await.unwrap();
    future::<io::Result<()>>(fs::rename(place.join("link"), place.join("renamed"))).await.unwrap();
    let permissions: Permissions = std::fs::metadata(path).unwrap().permissions();
    future::<io::Result<()>>(fs::set_permissions(path, permissions.clone())).await.unwrap();
    future::<io::Result<()>>(fs::create_dir(place.join("a"))).await.unwrap();
    future::<io::Result<()>>(fs::create_dir_all(place.join("a/b/c"))).await.unwrap();
    future::<io::Result<()>>(fs::remove_dir(place.join("a/b/c"))).await.unwrap();
    future::<io::Result<()>>(fs::remove_dir_all(place.join("a"))).await.unwrap();
    future::<io::Result<()>>(fs::remove_file(place.join("renamed"))).await.unwrap();

    // DirBuilder
    let _: fn() -> fs::DirBuilder = fs::DirBuilder::new;
    let _: for<'a> fn(&'a mut fs::DirBuilder, bool) -> &'a mut fs::DirBuilder = fs::DirBuilder::recursive;
    let _: for<'a> fn(&'a mut fs::DirBuilder, u32) -> &'a mut fs::DirBuilder = fs::DirBuilder::mode;
    let builder = fs::DirBuilder::new();
    future::<io::Result<()>>(fs::DirBuilder::create(&builder, place.join("built"))).await.unwrap();

    // ReadDir and DirEntry
    let mut entries: fs::ReadDir = future::<io::Result<fs::ReadDir>>(fs::read_dir(place)).await.unwrap();
    let entry: Option<fs::DirEntry> =
        future::<io::Result<Option<fs::DirEntry>>>(fs::ReadDir::next_entry(&mut entries)).await.unwrap();
    let _: for<'a, 'b, 'c> fn(&'a mut fs::ReadDir, &'b mut Context<'c>) -> Poll<io::Result<Option<fs::DirEntry>>> =
        fs::ReadDir::poll_next_entry;
    let entry = entry.unwrap();
    let _: fn(&fs::DirEntry) -> PathBuf = fs::DirEntry::path;
    let _: fn(&fs::DirEntry) -> OsString = fs::DirEntry::file_name;
    let _: fn(&fs::DirEntry) -> u64 = fs::DirEntry::ino;
    future::<io::Result<Metadata>>(fs::DirEntry::metadata(&entry)).await.unwrap();
    future::<io::Result<FileType>>(fs::DirEntry::file_type(&entry)).await.unwrap();

    // OpenOptions
    type Set<T> = for<'a> fn(&'a mut fs::OpenOptions, T) -> &'a mut fs::OpenOptions;
    let _: fn() -> fs::OpenOptions = fs::OpenOptions::new;
    let _: [Set<bool>; 6] = [
        fs::OpenOptions::read,
        fs::OpenOptions::write,
        fs::OpenOptions::append,
        fs::OpenOptions::truncate,
        fs::OpenOptions::create,
        fs::OpenOptions::create_new,
    ];
    let _: Set<u32> = fs::OpenOptions::mode;
    let _: Set<i32> = fs::OpenOptions::custom_flags;
    let mut options: fs::OpenOptions = fs::File::options();
    options.read(true).write(true);
    future::<io::Result<fs::File>>(fs::OpenOptions::open(&options, path)).await.unwrap();

    // FileTimes
    let _: fn() -> fs::FileTimes = fs::FileTimes::new;
    let _: fn(fs::FileTimes, SystemTime) -> fs::FileTimes = fs::FileTimes::set_accessed;
    let _: fn(fs::FileTimes, SystemTime) -> fs::FileTimes = fs::FileTimes::set_modified;

    // File
    future::<io::Result<fs::File>>(fs::File::open(text)).await.unwrap();
    future::<io::Result<fs::File>>(fs::File::create(path)).await.unwrap();
    future::<io::Result<fs::File>>(fs::File::create_new::<PathBuf>(place.join("new"))).await.unwrap();
    let mut file: fs::File = options.open(path).await.unwrap();
    future::<io::Result<()>>(fs::File::sync_all(&file)).await.unwrap();
    future::<io::Result<()>>(fs::File::sync_data(&file)).await.unwrap();
    future::<io::Result<()>>(fs::File::set_len(&file, 10_u64)).await.unwrap();
    future::<io::Result<Metadata>>(fs::File::metadata(&file)).await.unwrap();
    future::<io::Result<()>>(fs::File::set_permissions(&file, permissions)).await.unwrap();
    future::<io::Result<()>>(fs::File::set_times(&file, fs::FileTimes::new())).await.unwrap();
    future::<io::Result<()>>(fs::File::set_modified(&file, SystemTime::now())).await.unwrap();
    let clone: fs::File = future::<io::Result<fs::File>>(fs::File::try_clone(&file)).await.unwrap();
    let _: for<'a> fn(&'a mut fs::File, usize) = fs::File::set_max_buf_size;
    let _: for<'a> fn(&'a fs::File) -> usize = fs::File::max_buf_size;
    let _: fn(std::fs::File) -> fs::File = fs::File::from_std;
    let _: fn(std::fs::File) -> fs::File = From::from;
    let _: fn(OwnedFd) -> fs::File = From::from;
    let _: unsafe fn(RawFd) -> fs::File = FromRawFd::from_raw_fd;
    let _: for<'a> fn(&'a fs::File) -> RawFd = AsRawFd::as_raw_fd;
    let _: for<'a> fn(&'a fs::File) -> BorrowedFd<'a> = AsFd::as_fd;
    let _: std::fs::File = future::<std::fs::File>(fs::File::into_std(clone)).await;
    file.set_max_buf_size(file.max_buf_size());
    let converted: Result<std::fs::File, fs::File> = fs::File::try_into_std(file);
    converted.unwrap();
}
