//! The symbols and debug information of a file, each read at its first use.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use addr2line::{Loader, demangle_auto};
use object::{Object, ObjectSymbol, SymbolKind};

use super::spans::Spans;

pub(crate) struct Symbols {
    path: PathBuf,
    functions: OnceLock<Spans<Box<str>>>,
    lines: OnceLock<Lines>,
}

#[derive(Default)]
struct Lines {
    /// The index of the file, and the line in it.
    spans: Spans<(u32, u32)>,
    files: Vec<Box<str>>,
}

impl Symbols {
    /// Reads nothing yet.
    pub(crate) fn of(path: &Path) -> Symbols {
        Symbols { path: path.to_owned(), functions: OnceLock::new(), lines: OnceLock::new() }
    }

    /// The function at this address. `None` also if the file cannot be read.
    pub(crate) fn function(&self, address: u64) -> Option<&str> {
        let functions = self.functions.get_or_init(|| functions(&self.path).unwrap_or_default());
        functions.at(address).map(|name| &**name)
    }

    /// The source file and line of the code at this address.
    pub(crate) fn line(&self, address: u64) -> Option<(&str, u32)> {
        let lines = self.lines.get_or_init(|| lines(&self.path).unwrap_or_default());
        let &(file, line) = lines.spans.at(address)?;
        Some((lines.files.get(file as usize)?, line))
    }
}

fn functions(path: &Path) -> Option<Spans<Box<str>>> {
    let bytes = fs::read(path).ok()?;
    let file = object::File::parse(&*bytes).ok()?;
    let of_text = file.symbols().chain(file.dynamic_symbols()).filter(|symbol| symbol.kind() == SymbolKind::Text);
    let named = of_text.filter_map(|symbol| {
        let name = demangle_auto(symbol.name().ok()?.into(), None);
        Some((symbol.address(), symbol.size(), name.into()))
    });
    Some(Spans::new(named.collect()))
}

fn lines(path: &Path) -> Option<Lines> {
    let loader = Loader::new(path).ok()?;
    let (mut files, mut numbers, mut lines) = (Vec::new(), HashMap::new(), Vec::new());
    for (start, size, location) in loader.find_location_range(0, u64::MAX).ok()? {
        let (Some(file), Some(line)) = (location.file, location.line) else { continue };
        let number = *numbers.entry(file).or_insert_with(|| {
            files.push(Box::from(file));
            files.len() as u32 - 1
        });
        lines.push((start, size, (number, line)));
    }
    Some(Lines { spans: Spans::new(lines), files })
}
