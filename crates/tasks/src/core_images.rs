//! The program and the libraries of a core file, from files of this machine.

use std::cell::Cell;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use dyntrace_folders::open_regular;
use object::LittleEndian;
use object::read::elf::FileHeader;

use crate::aside::Opener;
use crate::elf::{Elf, build_id_in, hex};
use crate::error::Error;
use crate::image::{self, Image};
use crate::mapped;
use crate::memory::core_file::CoreFile;
use crate::memory::maps::{ByFile, Mapping};

/// Opens the program of a core file, which the user names, and those libraries that are here and of the same build. Parts
/// of them that the core file leaves out are read from these files.
///
/// # Errors
///
/// If the program's file cannot be read, is of another build, or is not mapped in the core file.
pub fn images(core: &mut CoreFile, exe: &Path) -> Result<Vec<Image>, Error> {
    let what = "the program's file";
    let exe = &fs::canonicalize(exe).unwrap_or_else(|_| exe.to_owned());
    let file = open_regular(exe).map_err(|error| Error::File { what, path: exe.clone(), error })?;
    let room = Cell::new(image::COPIED);
    let owner = mapped::owner(&file, exe, what)?;
    let bytes = mapped::read(&file, exe, what, &room)?;
    let maps = core.mappings();
    let by_file = ByFile::new(&maps);
    let not_mapped = || Error::NotInCore { core: core.path().to_owned(), path: exe.clone() };
    let (mapped, entry) = program(core, &maps, exe).ok_or_else(not_mapped)?;
    let page = core.first_page(&mapped);
    let is_known = page.is_some();
    if let Some((found, wanted)) = page.and_then(|page| difference(&page, &bytes)) {
        return Err(Error::OtherProgram { path: exe.clone(), core: core.path().to_owned(), found, wanted });
    }
    let begins = |elf: &Elf<'_>| {
        let bias = entry.map(|entry| entry.wrapping_sub(elf.elf_header().e_entry(LittleEndian)));
        bias.or_else(|| image::bias(elf, &mapped, by_file.inode(&mapped)?, &by_file))
    };
    let image = image::image(owner, &bytes, exe, begins, what)?.ok_or_else(not_mapped)?;
    let mut fill = vec![(mapped.clone(), bytes)];
    if !is_known {
        core.remarks.push(format!(
            "The core file does not have the first page of {mapped}: whether it ran this build of {} is not known.",
            exe.display()
        ));
    }

    let mut images = vec![image];
    let opener = Opener::default();
    for (name, inode) in by_file.files().filter(|(name, _)| *name != mapped) {
        let what = "the library";
        let Some(page) = core.first_page(name).filter(|page| page.starts_with(b"\x7fELF")) else { continue };
        let path = Path::new(name);
        let opened = match opener.open(path, &room, |_| Ok(())) {
            // The core file may be of another machine.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => continue,
            opened => opened.map_err(|error| Error::File { what, path: path.to_owned(), error }),
        };
        let read = opened.and_then(|(facts, file)| Ok((facts, file.read(path, what, &room)?)));
        let (facts, bytes) = match read {
            Ok(read) => read,
            Err(error) => {
                core.remarks.push(image::of_unread(&error));
                continue;
            }
        };
        if build_id_in(&page).is_none() || difference(&page, &bytes).is_some() {
            continue;
        }
        let bias = |elf: &Elf<'_>| image::bias(elf, name, inode, &by_file);
        if let Ok(Some(library)) = image::image(facts.uid, &bytes, path, bias, what) {
            images.push(library);
            fill.push((name.to_owned(), bytes));
        }
    }
    core.fill(fill);
    Ok(images)
}

/// Returns the path by which the core file names the program, and where it began. The file may have been moved since.
fn program(core: &CoreFile, maps: &[Mapping], exe: &Path) -> Option<(String, Option<u64>)> {
    let began = core.entry().and_then(|entry| {
        let map = maps.iter().find(|map| map.range.contains(&entry))?;
        map.path.starts_with('/').then(|| ((*map.path).to_owned(), entry))
    });
    let named = |is: &dyn Fn(&Path) -> bool| {
        let map = maps.iter().find(|map| map.path.starts_with('/') && is(Path::new(&*map.path)))?;
        Some((*map.path).to_owned())
    };
    // A program that a dynamic linker was told to run begins with the linker.
    let path = named(&|path| path == exe).or_else(|| {
        let (began, _) = began.as_ref()?;
        let linker = Path::new(began).file_name()?.to_str()?.starts_with("ld-");
        (!linker).then(|| began.clone())
    });
    let path = path.or_else(|| named(&|path| path.file_name() == exe.file_name()))?;
    let entry = began.filter(|(began, _)| *began == path).map(|(_, entry)| entry);
    Some((path, entry))
}

/// Returns both build ids if `bytes` is no file of the build whose first page is `page`.
fn difference(page: &[u8], bytes: &[u8]) -> Option<(String, String)> {
    let told = |id: Option<&[u8]>| id.map_or_else(|| "none".to_owned(), hex);
    let (wanted, found) = (build_id_in(page), build_id_in(bytes));
    // Stripping changes the header, and nothing else in the first page.
    let same = match (wanted, found) {
        (None, None) => bytes.get(64..page.len()).is_some_and(|bytes| page.get(64..) == Some(bytes)),
        _ => wanted == found,
    };
    (!same).then(|| (told(found), told(wanted)))
}
