//! The symbols of an image's code, and the futures that they name.

use std::collections::{HashMap, HashSet};

use object::{Object, ObjectSymbol, SymbolKind};
use rustc_demangle::demangle;

use crate::elf::Elf;

/// Names of functions, by address in the file.
#[derive(Debug, Default)]
pub struct Symbols<'data> {
    /// Mangled.
    names: HashMap<u64, &'data str>,
    /// Further ones: compilers and linkers merge equal functions.
    others: HashMap<u64, Vec<&'data str>>,
    /// In order, to find where a function ends.
    starts: Vec<u64>,
    /// Futures by the functions that drop their tasks.
    dropped: HashMap<u64, Vec<String>>,
    /// All of these futures.
    futures: HashSet<String>,
}

impl<'data> Symbols<'data> {
    /// Reads the symbols of an image's files: itself and its debug file. Files that are no ELF files have none.
    #[must_use]
    pub fn read(files: &[&'data [u8]]) -> Symbols<'data> {
        let mut symbols = Symbols::default();
        for elf in files.iter().filter_map(|bytes| Elf::parse(*bytes).ok()) {
            for symbol in elf.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition()) {
                if let Ok(name) = symbol.name() {
                    symbols.add(symbol.address(), name);
                }
            }
        }
        symbols.starts = symbols.names.keys().copied().collect();
        symbols.starts.sort_unstable();
        symbols.futures = symbols.dropped.values().flatten().cloned().collect();
        symbols
    }

    fn add(&mut self, address: u64, name: &'data str) {
        let first = *self.names.entry(address).or_insert(name);
        if first != name && !self.others.get(&address).is_some_and(|others| others.contains(&name)) {
            self.others.entry(address).or_default().push(name);
        }
        if (name.contains("drop_in_place") || name.contains("drop_glue"))
            && let Some(future) = future_of_glue(&format!("{:#}", demangle(name)))
        {
            let futures = self.dropped.entry(address).or_default();
            if !futures.contains(&future) {
                futures.push(future);
            }
        }
    }

    /// Returns the names of the function at `address`, demangled.
    fn at(&self, address: u64) -> impl Iterator<Item = String> {
        let others = self.others.get(&address).into_iter().flatten();
        self.names.get(&address).into_iter().chain(others).map(|name| format!("{:#}", demangle(name)))
    }

    /// Returns the futures whose `raw::poll` begins at `poll`, if its symbols name them: mangling v0 does.
    #[must_use]
    pub fn polled(&self, poll: u64) -> Vec<String> {
        let mut futures: Vec<String> = self.at(poll).filter_map(|name| future_of_poll(&name)).collect();
        futures.sort_unstable();
        futures.dedup();
        futures
    }

    /// Returns the futures of tasks whose own code is the function at `address`. A symbol of an `async fn` has the future's name.
    #[must_use]
    pub fn resumed(&self, address: u64) -> Vec<String> {
        self.at(address).filter(|name| self.futures.contains(name)).collect()
    }

    /// Returns the addresses of the functions with this path, in order.
    #[must_use]
    pub fn named(&self, path: &str) -> Vec<u64> {
        let last = path.rsplit("::").next().unwrap_or(path);
        let is_it = |name: &&str| name.contains(last) && format!("{:#}", demangle(name)) == path;
        let is_named = |start: &u64| {
            self.names.get(start).is_some_and(is_it)
                || self.others.get(start).is_some_and(|others| others.iter().any(is_it))
        };
        self.starts.iter().copied().filter(is_named).collect()
    }

    /// Returns the futures whose tasks the function at `address` drops.
    #[must_use]
    pub fn dropped(&self, address: u64) -> &[String] {
        self.dropped.get(&address).map_or(&[], Vec::as_slice)
    }

    /// Whether anything can be known from [`Symbols::dropped`].
    #[must_use]
    pub fn has_dropped(&self) -> bool {
        !self.dropped.is_empty()
    }

    /// Whether a function begins at `address`.
    #[must_use]
    pub fn begins(&self, address: u64) -> bool {
        self.names.contains_key(&address)
    }

    /// Returns where the function after `address` begins.
    #[must_use]
    pub fn next(&self, address: u64) -> Option<u64> {
        self.starts.get(self.starts.partition_point(|start| *start <= address)).copied()
    }
}

/// Whether a file's symbols have a function that polls tasks, in either mangling.
#[must_use]
pub fn has_poll(file: &[u8]) -> bool {
    let Ok(elf) = Elf::parse(file) else { return false };
    let mut own = elf.symbols().filter(|symbol| symbol.is_definition());
    own.any(|symbol| symbol.name().is_ok_and(|name| name.contains("5tokio7runtime4task3raw4poll")))
}

/// `tokio::runtime::task::raw::poll::<FUTURE, SCHEDULER>`
fn future_of_poll(name: &str) -> Option<String> {
    let parameters = &name[name.find("task::raw::poll::<")? + "task::raw::poll::<".len()..];
    Some(job(first_parameter(parameters)))
}

/// `core::ptr::drop_in_place<tokio::runtime::task::core::Cell<FUTURE, SCHEDULER>>` and the like.
fn future_of_glue(name: &str) -> Option<String> {
    ["task::core::CoreStage<", "task::core::Cell<", "task::core::Stage<", "task::core::Core<"].iter().find_map(
        |owner| {
            let parameters = &name[name.find(owner)? + owner.len()..];
            Some(job(first_parameter(parameters)))
        },
    )
}

/// Returns the function of a blocking job, and any other future as it is.
fn job(future: &str) -> String {
    let inner = future.strip_prefix("tokio::runtime::blocking::task::BlockingTask<");
    inner.and_then(|inner| inner.strip_suffix('>')).unwrap_or(future).to_owned()
}

/// Returns the text before the first comma or closing bracket outside of brackets.
fn first_parameter(parameters: &str) -> &str {
    let mut depth = 0_u32;
    let mut before = ' ';
    for (index, character) in parameters.char_indices() {
        match character {
            '<' | '(' | '[' | '{' => depth += 1,
            // The arrow of a function's type.
            '>' if before == '-' => {}
            ',' if depth == 0 => return &parameters[..index],
            '>' | ')' | ']' | '}' if depth == 0 => return &parameters[..index],
            '>' | ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        before = character;
    }
    parameters
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn v0_symbols_of_poll_name_the_future() {
        let name = "tokio::runtime::task::raw::poll::<app::serve<fn(u8, u8) -> u16>::{closure#0}, alloc::sync::Arc<x>>";
        assert_eq!(future_of_poll(name).unwrap(), "app::serve<fn(u8, u8) -> u16>::{closure#0}");
        assert_eq!(future_of_poll("tokio::runtime::task::raw::poll"), None);
    }

    #[test]
    fn drop_glue_names_the_future() {
        let name =
            "core::ptr::drop_in_place<tokio::runtime::task::core::Cell<app::f::{{closure}},alloc::sync::Arc<x>>>";
        assert_eq!(future_of_glue(name).unwrap(), "app::f::{{closure}}");
        let stage = "core::ptr::drop_in_place<tokio::runtime::task::core::CoreStage<\
                     tokio::runtime::blocking::task::BlockingTask<app::read<(u8,u8)>::{{closure}}>>>";
        assert_eq!(future_of_glue(stage).unwrap(), "app::read<(u8,u8)>::{{closure}}");
        assert_eq!(future_of_glue("core::ptr::drop_in_place<alloc::string::String>"), None);
    }

    #[test]
    fn reads_the_symbols_of_this_program() {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let symbols = Symbols::read(&[&bytes, b"no ELF file"]);
        assert!(symbols.starts.len() > 100);
        let first = symbols.starts[0];
        assert_eq!(symbols.next(first), Some(symbols.starts[1]));
        assert!(symbols.begins(first));
        let own = concat!(module_path!(), "::reads_the_symbols_of_this_program");
        assert_eq!(symbols.named(own).len(), 1);
        assert_eq!(symbols.named("dyntrace_tasks::absent"), []);
    }

    proptest! {
        #[test]
        fn never_panics(name in "[<>(),{}a-zß-]{0,40}") {
            first_parameter(&name);
            future_of_poll(&format!("task::raw::poll::<{name}"));
            future_of_glue(&format!("task::core::Cell<{name}"));
            let _ = Symbols::read(&[name.as_bytes()]);
        }
    }
}
