//! The bytes of files that the program has mapped.

use std::cell::Cell;
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::Arc;

use memmap2::{Mmap, MmapMut};

use crate::error::Error;

const TOO_LARGE: &str = "another user may write it, and the files that other users may write have too many bytes to be copied; copy it \
     yourself, and name the copy of a debug file by --debug";

/// Bytes copied at once.
const CHUNK: usize = 1 << 20;

/// Returns the user id of the owner of the file at `path`.
pub(crate) fn owner(file: &File, path: &Path, what: &'static str) -> Result<u32, Error> {
    let metadata = file.metadata().map_err(|error| Error::File { what, path: path.to_owned(), error });
    Ok(metadata?.uid())
}

/// Whether only root and the reader's own user can cut the file short while it is mapped, as far as its owner and mode tell.
fn is_trusted(metadata: &Metadata) -> bool {
    // The bits of the group also have the mask of an access control list.
    let writable_by_others = metadata.mode() & 0o022 != 0;
    [0, rustix::process::geteuid().as_raw()].contains(&metadata.uid()) && !writable_by_others
}

/// Returns the bytes of a file that the program has mapped. Copies a file that another user may write, and takes its size from `room`: that user
/// could end the reader by cutting the file short. It copies the file as a whole: nearly all of a large one is debug information, which is needed, and a
/// copy takes about 1 s for each GiB. The files of root and of the reader's user are mapped, as most are theirs.
pub(crate) fn read(file: &File, path: &Path, what: &'static str, room: &Cell<u64>) -> Result<Arc<Mmap>, Error> {
    let failed = |error| Error::File { what, path: path.to_owned(), error };
    let metadata = file.metadata().map_err(failed)?;
    if !is_trusted(&metadata) {
        return copy(file, room).map(Arc::new).map_err(failed);
    }
    // SAFETY: nobody writes to these files in place: the kernel refuses it for a running program, and compilers and
    // package managers replace files as a whole. A file that is cut short all the same ends the reader by SIGBUS.
    unsafe { Mmap::map(file) }.map(Arc::new).map_err(failed)
}

/// Copies a file, and takes its size from `room`. Holes in it take no memory. Fails if there is not enough room.
fn copy(file: &File, room: &Cell<u64>) -> io::Result<Mmap> {
    let length = file.metadata()?.len();
    let left = room.get().checked_sub(length).ok_or_else(|| io::Error::new(ErrorKind::FileTooLarge, TOO_LARGE))?;
    room.set(left);
    let length = usize::try_from(length).map_err(|_| ErrorKind::FileTooLarge)?;
    let mut copy = MmapMut::map_anon(length.max(1))?;
    let mut buffer = vec![0; CHUNK.min(length)];
    for (number, place) in copy[..length].chunks_mut(CHUNK).enumerate() {
        let chunk = &mut buffer[..place.len()];
        file.read_exact_at(chunk, (number * CHUNK) as u64)?;
        if chunk.iter().any(|byte| *byte != 0) {
            place.copy_from_slice(chunk);
        }
    }
    copy.make_read_only()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_file_of_another_user_stays_when_it_is_cut_short() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "program").unwrap();
        // Its group may write to it.
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o664)).unwrap();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        let room = Cell::new(10);
        let bytes = read(&file, &path, "the file", &room).unwrap();
        file.set_len(0).unwrap();
        assert_eq!((&bytes[..], room.get()), (&b"program"[..], 3));
        file.set_len(4).unwrap();
        let error = read(&file, &path, "the file", &room).unwrap_err().to_string();
        assert!(error.contains("another user") && room.get() == 3, "{error}");
    }

    #[test]
    fn a_copy_has_all_chunks() {
        let file = tempfile::tempfile().unwrap();
        let end = 3 * CHUNK as u64;
        file.write_all_at(b"begin", 0).unwrap();
        file.write_all_at(b"end", end).unwrap();
        let bytes = copy(&file, &Cell::new(u64::MAX)).unwrap();
        assert_eq!((bytes.len(), &bytes[..5], &bytes[end as usize..]), (3 * CHUNK + 3, &b"begin"[..], &b"end"[..]));
        assert!(bytes[5..end as usize].iter().all(|byte| *byte == 0));
    }
}
