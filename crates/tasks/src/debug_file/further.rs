//! Further files, to which debug information refers: split units (`PROG.dwp`, or a `.dwo` file for each unit), and the file into which
//! dwz has moved the parts that several debug files share.
//!
//! The program names these files, so it could name any. Each must be a regular file of root, of the program's owner or of the
//! reader, and must fit the program's debug information: have units with its ids, or its build id.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use object::Object;

use super::{COPIED, DebugFile, hex};
use crate::aside::{Facts, Opener};
use crate::dwarf::{self, Sections, Skeleton};
use crate::elf::{build_id, parse};
use crate::image::Image;

/// Loads the debug information of an image, with the further files to which it refers. Adds missing files to `notes`. `root` is the
/// root folder of the process, as the reader sees it.
///
/// # Errors
///
/// If the image has no debug information, or none that can be read.
pub fn load<'image>(
    image: &'image Image,
    root: Option<&str>,
    notes: &mut Vec<String>,
) -> Result<Sections<'image>, dwarf::Error> {
    let bytes = image.debug_bytes().ok_or(dwarf::Error::Missing)?;
    let mut sections = Sections::load(bytes)?;
    let before = notes.len();
    let roots = std::iter::once("").chain(root).collect();
    let finder = Finder { image, roots, opener: Opener::default(), room: Cell::new(COPIED) };
    finder.add_supplementary(bytes, &mut sections, notes);
    finder.add_split(&mut sections, notes);
    sections.is_incomplete = notes.len() > before;
    Ok(sections)
}

struct Finder<'a> {
    image: &'a Image,
    /// Prefixes of the names: the reader's file system, and the process's.
    roots: Vec<&'a str>,
    opener: Opener,
    /// Bytes that may be copied.
    room: Cell<u64>,
}

impl Finder<'_> {
    fn add_supplementary(&self, debug: &[u8], sections: &mut Sections<'_>, notes: &mut Vec<String>) {
        let Some((name, id)) = link(debug) else { return };
        let folder = self.image.debug_file.as_ref().map_or(&self.image.path, |file| &file.path);
        let folder = folder.canonicalize().ok().and_then(|path| path.parent().map(Path::to_owned)).unwrap_or_default();
        let mut places = vec![folder.join(&name)];
        if id.len() > 1 {
            places.push(format!("/usr/lib/debug/.build-id/{}/{}.debug", hex(&id[..1]), hex(&id[1..])).into());
        }
        let added = self.first(&places, &|file| {
            let found = parse(file.bytes(), &file.path, "").ok().and_then(|elf| build_id(&elf));
            if found.as_ref() == Some(&id) {
                Ok(())
            } else {
                Err(format!("{} is of another build", file.path.display()))
            }
        });
        let added = added.and_then(|file| sections.add_supplementary(&file.bytes).map_err(|error| error.to_string()));
        if let Err(reason) = added {
            notes.push(format!(
                "{}: a part of its debug information, which dwz has moved to another file, is missing: {reason}; what refers to it is not \
                 shown; install the package that has this file",
                self.image.path.display()
            ));
        }
    }

    fn add_split(&self, sections: &mut Sections<'_>, notes: &mut Vec<String>) {
        let skeletons = sections.skeletons();
        if skeletons.is_empty() {
            return;
        }
        let mut reasons: Vec<String> = Vec::new();
        if let Some(package) = self.package(&mut reasons) {
            let path = package.path.display();
            match sections.add_split(&package.bytes) {
                Ok(()) => reasons.push(format!("{path} does not have them")),
                Err(error) => reasons.push(format!("cannot read {path}: {error}")),
            }
        }
        let mut of_objects: HashMap<u64, String> = HashMap::new();
        // damaged debug information could name one file for each of many units
        let mut known: HashSet<(u64, u64)> = HashSet::new();
        for skeleton in missing(&skeletons, sections) {
            let mut places = vec![skeleton.object.clone()];
            places.extend(skeleton.object.file_name().map(|name| self.image.path.with_file_name(name)));
            let reason = match self.first(&places, &|_| Ok(())) {
                Ok(object) if !known.insert(object.file) => {
                    format!("{} has another unit", object.path.display())
                }
                Ok(object) => match sections.add_split(&object.bytes) {
                    Ok(()) => format!("{} is of another build", object.path.display()),
                    Err(error) => format!("cannot read {}: {error}", object.path.display()),
                },
                Err(reason) => reason,
            };
            of_objects.insert(skeleton.id, reason);
        }
        let missing = missing(&skeletons, sections);
        // the other objects are in the same folder
        reasons.extend(missing.first().and_then(|skeleton| of_objects.remove(&skeleton.id)));
        let missing = missing.len();
        if missing > 0 {
            let path = self.image.path.display();
            notes.push(format!(
                "{path}: {missing} of {} units of its debug information are in other files, which are missing: {}; keep {path}.dwp beside \
                 the program or give it with --debug, or build with split-debuginfo=off",
                skeletons.len(),
                reasons.join(", "),
            ));
        }
    }

    /// Returns the package that the user gave, else the one beside the program or its debug file.
    fn package(&self, reasons: &mut Vec<String>) -> Option<DebugFile> {
        if let Some(given) = &self.image.package {
            return Some(given.clone());
        }
        let files = [Some(&self.image.path), self.image.debug_file.as_ref().map(|file| &file.path)];
        let places: Vec<PathBuf> = files
            .into_iter()
            .flatten()
            .map(|path| {
                let mut name = path.clone().into_os_string();
                name.push(".dwp");
                name.into()
            })
            .collect();
        self.first(&places, &|_| Ok(())).map_err(|reason| reasons.push(reason)).ok()
    }

    /// Opens the first of some files that is there, may be trusted and fits. Returns why there is none: of the first place.
    fn first(&self, places: &[PathBuf], fits: &dyn Fn(&DebugFile) -> Result<(), String>) -> Result<DebugFile, String> {
        let mut first = None;
        for place in places {
            for root in &self.roots {
                let mut path = OsString::from(root);
                path.push(place);
                let opened = DebugFile::open_if(Path::new(&path), |file| self.trust(file), &self.opener, &self.room);
                let opened = opened.map_err(|error| error.to_string());
                match opened.and_then(|file| fits(&file).map(|()| file)) {
                    Ok(file) => return Ok(file),
                    Err(reason) => drop(first.get_or_insert(reason)),
                }
            }
        }
        Err(first.unwrap_or_default())
    }

    fn trust(&self, file: &Facts) -> io::Result<()> {
        let refused = |reason| Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
        if ![0, self.image.owner, rustix::process::geteuid().as_raw()].contains(&file.uid) {
            return refused(format!("it belongs to another user (uid {})", file.uid));
        }
        if file.mode & 0o002 != 0 {
            return refused("every user may write it".to_owned());
        }
        Ok(())
    }
}

fn missing(skeletons: &[Skeleton], sections: &Sections<'_>) -> Vec<Skeleton> {
    let found: HashSet<u64> = sections.split(&sections.dwarf()).iter().map(|unit| unit.id).collect();
    skeletons.iter().filter(|skeleton| !found.contains(&skeleton.id)).cloned().collect()
}

/// Returns the name and build id of dwz's file.
fn link(debug: &[u8]) -> Option<(PathBuf, Vec<u8>)> {
    let elf = parse(debug, Path::new(""), "").ok()?;
    let (name, id) = elf.gnu_debugaltlink().ok()??;
    Some((PathBuf::from(str::from_utf8(name).ok()?), id.to_vec()))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::dwarf::sample::{self, Sample};
    use crate::dwarf::sample_files::{file, index, object, package};
    use crate::{image, mapped};

    const ID: u64 = 77;

    /// Returns the notes about missing files of a program whose unit is in `part.dwo` of the folder, or in its package.
    fn notes(folder: &Path, given: Option<&Path>) -> Vec<String> {
        let path = folder.join("app");
        let Sample { abbreviations, info } = sample::skeleton(ID, folder.to_str().unwrap(), "part.dwo");
        fs::write(&path, file(&[(".debug_info", 0, &info), (".debug_abbrev", 0, &abbreviations)])).unwrap();
        let file = File::open(&path).unwrap();
        let bytes = mapped::read(&file, &path, "", &Cell::new(COPIED)).unwrap();
        let mut images = [image::image(0, &bytes, &path, |_| Some(0), "").unwrap().unwrap()];
        given.map(|given| super::super::give(given, &mut images)).transpose().unwrap();
        let mut notes = Vec::new();
        let sections = load(&images[0], None, &mut notes).unwrap();
        assert_eq!(sections.is_incomplete, !notes.is_empty());
        notes
    }

    #[test]
    fn split_units_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let [told] = &notes(folder, None)[..] else { panic!() };
        assert!(told.contains("1 of 1 units") && told.contains("app.dwp: No such file"), "{told}");
        assert!(told.contains("part.dwo: No such file") && told.contains("keep"), "{told}");

        let unit = sample::split_unit(ID);
        fs::write(folder.join("part.dwo"), object(&unit)).unwrap();
        assert!(notes(folder, None).is_empty());
        fs::remove_file(folder.join("part.dwo")).unwrap();

        let other = folder.join("elsewhere");
        fs::write(&other, package(&unit, &index(ID, 1, &unit))).unwrap();
        assert!(notes(folder, Some(&other)).is_empty());
        fs::rename(&other, folder.join("app.dwp")).unwrap();
        assert!(notes(folder, None).is_empty());
    }

    #[test]
    fn files_that_do_not_fit_or_cannot_be_trusted_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let told = |part: &str| {
            let notes = notes(folder, None);
            assert!(notes.len() == 1 && notes[0].contains(part), "{notes:?}");
        };
        let unit = sample::split_unit(ID + 1);
        fs::write(folder.join("part.dwo"), object(&unit)).unwrap();
        told("of another build");
        fs::write(folder.join("app.dwp"), b"no ELF file").unwrap();
        told("app.dwp: cannot read the file as ELF");
        fs::write(folder.join("app.dwp"), package(&unit, &index(ID + 1, 1, &unit))).unwrap();
        told("app.dwp does not have them");
        fs::set_permissions(folder.join("app.dwp"), Permissions::from_mode(0o666)).unwrap();
        told("every user may write it");
        fs::remove_file(folder.join("app.dwp")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, folder.join("app.dwp"), 0o600.into()).unwrap();
        told("it is not a regular file");
    }
}
