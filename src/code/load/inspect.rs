//! Checks of a module's file before the dynamic linker maps it. The linker trusts whatever it reads, and runs constructors at once.

use std::fs::File;
use std::io::{self, Read as _};
use std::ops::Range;
use std::path::Path;

use object::read::elf::ElfFile;
use object::{NativeEndian, Object as _, ObjectSegment as _, ObjectSymbol as _, elf};

use super::mapped::Mapped;
use crate::code::load_error::LoadError;
use crate::code::module::fingerprint::OWN_FINGERPRINT;
use crate::code::module::host_interface::{self, HostAddress};
use crate::code::version::descriptor::SYMBOL;

#[cfg(target_pointer_width = "64")]
type Header = elf::FileHeader64<NativeEndian>;
#[cfg(target_pointer_width = "32")]
type Header = elf::FileHeader32<NativeEndian>;

/// The length of the fields that tell a file's machine and kind.
const BEGINNING: usize = 20;
const WORD_SIZE: Range<usize> = 4..5;
const BYTE_ORDER: Range<usize> = 5..6;
const KIND: Range<usize> = 16..18;
const MACHINE: Range<usize> = 18..20;

/// The facts about a module's file that loading needs.
#[derive(Debug)]
pub(crate) struct Inspected {
    /// The addresses of its segments within the file, from the lowest to the highest.
    pub(crate) addresses: Range<usize>,
    /// The file offset of its [`HostAddress`].
    pub(crate) host_address: u64,
}

/// Checks that the file is a complete library for this machine, and a module with this program's fingerprint.
pub(crate) fn inspect(file: &File, from: &Path) -> Result<Inspected, LoadError> {
    let bytes = Mapped::of(file).map_err(LoadError::system(|| format!("read {from:?}")))?;
    let own = own_beginning().map_err(LoadError::system(|| "read the beginning of this program's own file"))?;
    examine(&bytes, &own, from)
}

/// Checks the contents of a file.
fn examine(bytes: &[u8], own: &[u8; BEGINNING], from: &Path) -> Result<Inspected, LoadError> {
    let wrong = |why: String| LoadError::Object { path: from.to_owned(), why };
    check_beginning(bytes, own).map_err(|why| wrong(why.into()))?;
    let cut_off = |what| wrong(format!("{what}; it was cut off, or is damaged: build or copy it again"));
    let library = ElfFile::<Header>::parse(bytes).map_err(|error| cut_off(error.to_string()))?;
    let addresses =
        segments(&library, bytes.len() as u64).ok_or_else(|| cut_off("its segments do not end within it".into()))?;
    match fingerprint(&library) {
        None => Err(LoadError::NoModule { path: from.to_owned() }),
        // With its NUL. Sanitizers add padding after it.
        Some(found) if found.starts_with(&OWN_FINGERPRINT) => {
            match (host_address(&library), has_descriptor(&library)) {
                (Some(host_address), true) => Ok(Inspected { addresses, host_address }),
                _ => Err(LoadError::NoModule { path: from.to_owned() }),
            }
        }
        Some(found) => {
            let (module, program) = (text(found), text(&OWN_FINGERPRINT));
            Err(LoadError::Fingerprint { path: from.to_owned(), module, program })
        }
    }
}

/// Reads the running program's header, so that no list of machines is needed.
fn own_beginning() -> io::Result<[u8; BEGINNING]> {
    let mut beginning = [0; BEGINNING];
    File::open("/proc/self/exe")?.read_exact(&mut beginning)?;
    Ok(beginning)
}

fn check_beginning(bytes: &[u8], own: &[u8; BEGINNING]) -> Result<(), &'static str> {
    if !bytes.starts_with(&elf::ELFMAG) {
        return Err("it is no ELF file; name the library that cargo builds of a crate of crate-type \"cdylib\"");
    }
    let Some(beginning) = bytes.get(..BEGINNING) else {
        return Err("it ends within its first header; build or copy it again");
    };
    let differs = |part: Range<usize>| beginning[part.clone()] != own[part];
    if differs(WORD_SIZE) || differs(BYTE_ORDER) || differs(MACHINE) {
        return Err("it is for another machine than this program; compile it for the same target");
    }
    if u16::from_ne_bytes([beginning[KIND.start], beginning[KIND.start + 1]]) != elf::ET_DYN.0 {
        return Err("it is no shared library; compile it with crate-type \"cdylib\"");
    }
    Ok(())
}

/// Returns the addresses of all segments, if the file contains them: a missing page would end the program when touched.
fn segments(library: &ElfFile<'_, Header>, length: u64) -> Option<Range<usize>> {
    let mut all: Option<Range<usize>> = None;
    for segment in library.segments() {
        let (offset, size) = segment.file_range();
        if offset.checked_add(size)? > length {
            return None;
        }
        let start = usize::try_from(segment.address()).ok()?;
        let end = start.checked_add(usize::try_from(segment.size()).ok()?)?;
        all = Some(all.map_or(start..end, |all| all.start.min(start)..all.end.max(end)));
    }
    all
}

/// Returns the fingerprint stored by `module!`.
fn fingerprint<'a>(library: &ElfFile<'a, Header>) -> Option<&'a [u8]> {
    let symbol = library.dynamic_symbols().find(|symbol| symbol.name() == Ok("__dyntrace_fingerprint"))?;
    let data = |(address, size)| library.segments().find_map(|segment| segment.data_range(address, size).ok()?);
    data((symbol.address(), symbol.size()))
}

/// Returns the file offset of the module's [`HostAddress`].
fn host_address(library: &ElfFile<'_, Header>) -> Option<u64> {
    let address = library.dynamic_symbols().find(|symbol| symbol.name() == Ok(host_interface::SYMBOL))?.address();
    library.segments().find_map(|segment| {
        let (offset, size) = segment.file_range();
        let within = address.checked_sub(segment.address())?;
        (within.checked_add(size_of::<HostAddress>() as u64)? <= size).then_some(offset + within)
    })
}

fn has_descriptor(library: &ElfFile<'_, Header>) -> bool {
    library.dynamic_symbols().any(|symbol| symbol.name_bytes() == Ok(SYMBOL.to_bytes()))
}

fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn refusal(bytes: &[u8]) -> String {
        let own = own_beginning().unwrap();
        let error = examine(bytes, &own, Path::new("libshop.so")).unwrap_err().to_string();
        assert!(error.contains("libshop.so"), "{error}");
        error
    }

    #[test]
    fn files_that_are_no_libraries_are_refused() {
        assert!(refusal(b"").contains("no ELF"));
        assert!(refusal(b"#!/bin/sh\n").contains("no ELF"));
        assert!(refusal(b"\x7fELF\x02").contains("first header"));
        // A program, which is no module.
        let mut own = fs::read("/proc/self/exe").unwrap();
        assert!(refusal(&own).contains("no `dyntrace::module!`"));
        assert!(refusal(&own[..64]).contains("cut off"));
        assert!(refusal(&own[..own.len() / 2]).contains("cut off"));
        for (at, what) in
            [(4, "another machine"), (5, "another machine"), (18, "another machine"), (16, "no shared library")]
        {
            own[at] ^= 1;
            assert!(refusal(&own).contains(what), "{at}");
            own[at] ^= 1;
        }
    }

    #[test]
    fn damaged_headers_are_errors() {
        let mut own = fs::read("/proc/self/exe").unwrap();
        for at in 20..1024 {
            own[at] = !own[at];
            refusal(&own);
            own[at] = !own[at];
        }
    }
}
