//! Names of functions, by debug information, else by symbols.

use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use addr2line::{LookupContinuation, LookupResult};
use gimli::{EndianSlice, LittleEndian};
use object::{Object, ObjectSymbol, SymbolKind};
use rustc_demangle::demangle;

use super::answer::Frame;
use super::modules::Module;
use super::unwind::Call;
use crate::dwarf::Sections;
use crate::elf::Elf;
use crate::image::Image;
use crate::listing::SourceLine;

/// Inlined functions of one call, at most.
const INLINED: usize = 256;

type Bytes<'a> = EndianSlice<'a, LittleEndian>;

/// The functions of a module.
pub(super) struct Functions<'a> {
    lines: Option<addr2line::Context<Bytes<'a>>>,
    /// Sections of split units, by the ids of these.
    split: HashMap<u64, Arc<gimli::Dwarf<Bytes<'a>>>>,
    /// The folders in which these units were compiled.
    folders: HashMap<u64, PathBuf>,
    /// In order, with addresses of the file.
    symbols: Vec<(Range<u64>, &'a str)>,
}

impl<'a> Functions<'a> {
    /// Reads the symbols of a module, and prepares its debug information, if there is any.
    pub(super) fn of(image: Option<&'a Image>, sections: Option<&'a Sections<'_>>) -> Functions<'a> {
        let files = image.map(|image| (image.bytes(), image.debug_file.as_ref().map(|file| file.bytes())));
        let files = files.into_iter().flat_map(|(own, debug)| std::iter::once(own).chain(debug));
        let mut symbols = Vec::new();
        for elf in files.filter_map(|bytes| Elf::parse(bytes).ok()) {
            for symbol in elf.symbols().chain(elf.dynamic_symbols()) {
                let is_function = symbol.kind() == SymbolKind::Text && symbol.is_definition();
                if let (true, Ok(name)) = (is_function, symbol.name()) {
                    symbols.push((symbol.address()..symbol.address().saturating_add(symbol.size()), name));
                }
            }
        }
        // Of several names at one address the shortest comes last, and is taken: `read` of `read` and `__read`.
        symbols.sort_by_key(|(range, name)| (range.start, std::cmp::Reverse(name.len())));
        let lines = sections.and_then(|sections| addr2line::Context::from_dwarf(sections.dwarf()).ok());
        let split = sections.map(|sections| sections.split(&sections.dwarf())).unwrap_or_default();
        let split = split.into_iter().map(|unit| (unit.id, Arc::new(unit.dwarf))).collect();
        let folders = sections.map(Sections::skeletons).unwrap_or_default();
        let folders = folders.into_iter().map(|skeleton| (skeleton.id, skeleton.folder)).collect();
        Functions { lines, split, folders, symbols }
    }

    /// Completes a search by the units that it asks for.
    fn found<L: LookupContinuation<Buf = Bytes<'a>>>(&self, mut search: LookupResult<L>) -> L::Output {
        loop {
            match search {
                LookupResult::Output(found) => return found,
                LookupResult::Load { load, continuation } => {
                    search = continuation.resume(self.split.get(&load.dwo_id.0).cloned());
                }
            }
        }
    }

    /// Returns the function of a call, after those that the compiler inlined into it.
    pub(super) fn frames(&self, module: &Module<'_>, call: &Call) -> Vec<Frame> {
        let inside = call.inside.wrapping_sub(module.bias);
        let frame = |function, place, inlined| Frame {
            address: call.address,
            image: module.name.clone(),
            function,
            place,
            inlined,
        };
        let mut frames: Vec<Frame> =
            self.described(inside).into_iter().map(|(name, place)| frame(name, place, true)).collect();
        match frames.last_mut() {
            Some(last) => {
                last.inlined = false;
                last.function = last.function.take().or_else(|| self.symbol(inside));
            }
            None => frames.push(frame(self.symbol(inside), None, false)),
        }
        frames
    }

    fn described(&self, address: u64) -> Vec<(Option<String>, Option<SourceLine>)> {
        let mut all = Vec::new();
        let Some(lines) = &self.lines else { return all };
        // The folder of the compiler, which places of tasks do not have either.
        let unit = self.found(lines.find_dwarf_and_unit(address));
        let folder = unit.and_then(|unit| match unit.comp_dir {
            Some(folder) => Some(folder.to_string_lossy() + "/"),
            None => Some(self.folders.get(&unit.dwo_id?.0)?.to_string_lossy() + "/"),
        });
        let folder = folder.unwrap_or_default();
        let Ok(mut frames) = self.found(lines.find_frames(address)) else { return all };
        while let Ok(Some(frame)) = frames.next()
            && all.len() < INLINED
        {
            let name = frame.function.and_then(|function| Some(name(&function.raw_name().ok()?)));
            let place = frame.location.and_then(|location| {
                let file = location.file?;
                let file = file.strip_prefix(&*folder).unwrap_or(file);
                Some(SourceLine::new(file, location.line.filter(|line| *line > 0)?))
            });
            all.push((name, place));
        }
        // An address that only a table of lines covers has no function.
        all.retain(|(name, place)| name.is_some() || place.is_some());
        all
    }

    /// Returns the name of the symbol whose code contains `address`.
    fn symbol(&self, address: u64) -> Option<String> {
        let after = self.symbols.partition_point(|(range, _)| range.start <= address);
        let (_, found) = self.symbols[..after].iter().rev().take(8).find(|(range, _)| range.contains(&address))?;
        Some(name(found))
    }
}

/// The name without its hash, and `{closure}` for the compiler's `{{closure}}`.
fn name(mangled: &str) -> String {
    format!("{:#}", demangle(mangled)).replace("{{", "{").replace("}}", "}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_no_hash_and_single_braces() {
        assert_eq!(name("_ZN3app4work28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE"), "app::work::{closure}");
        assert_eq!(name("epoll_wait"), "epoll_wait");
    }

    #[test]
    fn names_this_function() {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let sections = Sections::load(&bytes).unwrap();
        let functions = Functions::of(None, Some(&sections));
        let elf = Elf::parse(&*bytes).unwrap();
        let own = |symbol: &object::read::elf::ElfSymbol64<'_, '_, object::LittleEndian>| {
            symbol.name().is_ok_and(|name| name.contains("names_this_function") && !name.contains("closure"))
        };
        let symbol = elf.symbols().find(own).unwrap();
        let (name, place) = functions.described(symbol.address() + 1).pop().unwrap();
        assert!(name.unwrap().ends_with("names_this_function"));
        assert!(place.unwrap().file.ends_with("threads/functions.rs"));
    }
}
