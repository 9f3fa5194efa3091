//! The access rights of the page: only users that may read all files of the data set may read it, as with the files that `dyntrace` makes
//! of traces.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

const ALL: u32 = 0o666;
const OWNER: u32 = 0o600;

/// Returns the mode of a page about the data set in this folder. Where the folder cannot be read, the page is its owner's.
pub fn mode(folder: &Path) -> u32 {
    let common = || -> io::Result<u32> {
        let folder = folder.canonicalize()?;
        let mut mode = ALL;
        for above in folder.ancestors().skip(1) {
            mode &= of_folder(fs::metadata(above)?.permissions().mode());
        }
        of_content(&folder, mode)
    };
    common().unwrap_or(OWNER) | OWNER
}

fn of_content(path: &Path, mode: u32) -> io::Result<u32> {
    let there = match fs::metadata(path) {
        // A converter has renamed a file that was whole.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(mode),
        there => there?,
    };
    if !there.is_dir() {
        return Ok(mode & there.permissions().mode());
    }
    let mut mode = mode & of_folder(there.permissions().mode());
    for entry in fs::read_dir(path)? {
        mode = of_content(&entry?.path(), mode)?;
    }
    Ok(mode)
}

/// A user with search permission gets the access that the files give.
fn of_folder(mode: u32) -> u32 {
    let passes = mode & 0o111;
    passes << 1 | passes << 2
}
