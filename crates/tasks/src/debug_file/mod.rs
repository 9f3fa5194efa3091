//! Finds the file with an image's debug information, if it is a separate one, and further files.

mod further;

use std::cell::Cell;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dyntrace_folders::open_regular;
use memmap2::Mmap;
use object::Object;

use crate::aside::{Facts, Opener};
use crate::elf::{build_id, has_debug_info, hex, parse};
use crate::error::Error;
use crate::image::Image;
use crate::mapped;

pub use further::load;

const WHAT: &str = "the debug file";

/// A separate debug file.
#[derive(Debug, Clone)]
pub struct DebugFile {
    /// Where it was found.
    pub path: PathBuf,
    /// Device and inode.
    file: (u64, u64),
    bytes: Arc<Mmap>,
}

impl DebugFile {
    /// Returns the file's bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Opens the file that the user names.
    fn open(path: &Path) -> Result<DebugFile, Error> {
        let failed = |error| Error::File { what: WHAT, path: path.to_owned(), error };
        let file = open_regular(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        let bytes = mapped::read(&file, path, WHAT, &Cell::new(COPIED))?;
        Ok(DebugFile { path: path.to_owned(), file: (metadata.dev(), metadata.ino()), bytes })
    }

    /// Opens a file that the program names, if its facts allow it, and takes the size of its copy from `room`.
    fn open_if(
        path: &Path,
        allowed: impl FnOnce(&Facts) -> io::Result<()>,
        opener: &Opener,
        room: &Cell<u64>,
    ) -> Result<DebugFile, Error> {
        let failed = |error| Error::File { what: WHAT, path: path.to_owned(), error };
        let (facts, file) = opener.open(path, room, allowed).map_err(failed)?;
        let bytes = file.read(path, WHAT, room)?;
        Ok(DebugFile { path: path.to_owned(), file: (facts.device, facts.inode), bytes })
    }
}

/// Bytes at most of files that are copied.
const COPIED: u64 = 1 << 30;

/// Gives the debug file that the user names to its image among `images`, by build id. A file with split units goes to all of
/// them: its units have ids.
///
/// # Errors
///
/// If it cannot be read, or no image has its build id. A program without a build id takes any file.
pub fn give(path: &Path, images: &mut [Image]) -> Result<(), Error> {
    let file = DebugFile::open(path)?;
    let elf = parse(file.bytes(), path, WHAT)?;
    if elf.section_by_name(".debug_info.dwo").is_some() {
        images.iter_mut().for_each(|image| image.package = Some(file.clone()));
        return Ok(());
    }
    let found = build_id(&elf);
    let same = images.iter().position(|image| found.is_some() && image.build_id == found);
    let index = match (same, images.first().and_then(|program| program.build_id.as_ref())) {
        (Some(index), _) => index,
        (None, None) => 0,
        (None, Some(wanted)) => {
            return Err(Error::OtherBuild {
                path: path.to_owned(),
                found: found.map_or_else(|| "none".to_owned(), |id| hex(&id)),
                wanted: hex(wanted),
            });
        }
    };
    images[index].debug_file = Some(file);
    Ok(())
}

/// Looks for the image's debug file where debuggers look, in the reader's file system and then below `root`, the process's. `None`
/// if there is none, or if the image has debug information itself. Adds a file that is there and cannot be read to `notes`.
pub fn find(root: Option<&str>, image: &Image, notes: &mut Vec<String>) -> Option<DebugFile> {
    if has_debug_info(image.bytes()) {
        return None;
    }
    let roots: Vec<&str> = std::iter::once("").chain(root).collect();
    let paths = places(image)
        .into_iter()
        .flat_map(|place| roots.iter().map(move |root| PathBuf::from(format!("{root}{place}"))));
    let opener = Opener::default();
    let mut unread = None;
    let open = |path: PathBuf| match DebugFile::open_if(&path, |_| Ok(()), &opener, &Cell::new(COPIED)) {
        Ok(file) => Some(file),
        Err(error) => {
            let is_absent = |error: &io::Error| matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
            if !matches!(&error, Error::File { error, .. } if is_absent(error)) {
                unread.get_or_insert(error);
            }
            None
        }
    };
    let found = paths.filter_map(open).find(|file| belongs(file, image));
    if let (None, Some(error)) = (&found, unread) {
        notes.push(format!("{} may have debug information: {error}", image.path.display()));
    }
    found
}

fn belongs(file: &DebugFile, image: &Image) -> bool {
    let Ok(elf) = parse(file.bytes(), &file.path, WHAT) else { return false };
    if !has_debug_info(file.bytes()) {
        return false;
    }
    if image.build_id.is_some() {
        return build_id(&elf) == image.build_id;
    }
    link(image).is_some_and(|(_, sum)| sum == checksum(file.bytes()))
}

/// By build id, then by the name that the image gives.
fn places(image: &Image) -> Vec<String> {
    let mut places = Vec::new();
    if let Some(id) = &image.build_id
        && id.len() > 1
    {
        places.push(format!("/usr/lib/debug/.build-id/{}/{}.debug", hex(&id[..1]), hex(&id[1..])));
    }
    if let Some((name, _)) = link(image)
        && let Some(folder) = image.path.parent().and_then(Path::to_str)
    {
        let folder = folder.trim_end_matches('/');
        places.push(format!("{folder}/{name}"));
        places.push(format!("{folder}/.debug/{name}"));
        places.push(format!("/usr/lib/debug{folder}/{name}"));
    }
    places
}

/// Returns the debug file's name and checksum, as `.gnu_debuglink` has them.
fn link(image: &Image) -> Option<(String, u32)> {
    let elf = parse(image.bytes(), &image.path, "").ok()?;
    let (name, sum) = elf.gnu_debuglink().ok()??;
    let name = str::from_utf8(name).ok()?;
    (!name.is_empty() && !name.contains('/')).then(|| (name.to_owned(), sum))
}

/// CRC-32, as objcopy computes it.
fn checksum(bytes: &[u8]) -> u32 {
    let table: [u32; 256] = std::array::from_fn(|index| {
        (0..8).fold(index as u32, |value, _| if value & 1 == 1 { value >> 1 ^ 0xedb8_8320 } else { value >> 1 })
    });
    !bytes.iter().fold(!0, |sum, byte| table[usize::from(sum as u8 ^ byte)] ^ sum >> 8)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;
    use crate::dwarf::sample_files;
    use crate::image;

    #[test]
    fn computes_the_checksum_of_debug_links() {
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
        assert_eq!(checksum(b""), 0);
    }

    #[test]
    fn a_pipe_is_no_debug_file() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        let error = DebugFile::open(&pipe).unwrap_err().to_string();
        assert!(error.contains("not a regular file"), "{error}");
        assert!(DebugFile::open(folder.path()).is_err());
    }

    #[test]
    fn a_debug_file_that_cannot_be_read_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("app");
        // The name, and a checksum.
        fs::write(&path, sample_files::file(&[(".gnu_debuglink", 0, b"app.debug\0\0\0\0\0\0\0")])).unwrap();
        let file = File::open(&path).unwrap();
        let bytes = mapped::read(&file, &path, "", &Cell::new(COPIED)).unwrap();
        let image = image::image(0, &bytes, &path, |_| Some(0), "").unwrap().unwrap();
        let told = || {
            let mut notes = Vec::new();
            assert!(find(None, &image, &mut notes).is_none());
            notes
        };
        assert_eq!(told(), [""; 0]);
        fs::create_dir(folder.path().join("app.debug")).unwrap();
        let notes = told();
        assert!(notes.len() == 1 && notes[0].contains("app.debug: it is not a regular file"), "{notes:?}");
    }

    #[test]
    fn a_file_on_which_another_has_a_lease_is_not_waited_for() {
        let file = tempfile::NamedTempFile::new().unwrap();
        // Of a process that does not answer: without a handler for this signal, it would end.
        // SAFETY: the calls set the action of a signal that no other test uses, and a lease on a file of the test.
        let leased = unsafe {
            libc::signal(libc::SIGIO, libc::SIG_IGN);
            libc::fcntl(std::os::fd::AsRawFd::as_raw_fd(file.as_file()), libc::F_SETLEASE, libc::F_WRLCK)
        };
        if leased != 0 {
            return eprintln!("SKIPPED: the file system has no leases: {}", io::Error::last_os_error());
        }
        let Error::File { error, .. } = DebugFile::open(file.path()).unwrap_err() else { panic!() };
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    }
}
