//! Callers of traced functions, from addresses: by debug information and symbols of the program's files.

mod code;
#[cfg_attr(target_os = "macos", path = "debug_macos.rs")]
mod debug;
mod stack;

use std::collections::HashMap;
use std::fs;
use std::hash::Hash;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use addr2line::demangle_auto;
use dyntrace_folders::process_folder;

use code::{Code, Function, last, without_closures};
use debug::Debug;

/// The most files that are kept in memory, and the most texts that are remembered: a trace may name any number.
const FILES: usize = 256;
const TEXTS: usize = 1 << 16;

/// Looks callers up, and remembers them.
#[derive(Default)]
pub struct Callers {
    /// The process that runs the files, if it still does.
    pid: Option<u32>,
    /// `None` for a file that cannot be read.
    files: HashMap<String, Option<Debug>>,
    /// By the two places of a call.
    texts: HashMap<(String, String), String>,
    /// By the places of stacks.
    codes: HashMap<String, Rc<Code>>,
}

impl Callers {
    /// The callers in a running process.
    #[cfg(target_os = "linux")]
    pub fn of(pid: u32) -> Callers {
        Callers { pid: Some(pid), ..Callers::default() }
    }

    /// The caller of `function`, whose code is at the place `inside` and returns to the place `returns_to`: each `FILE+0xADDRESS`.
    pub fn between(&mut self, function: &str, inside: &str, returns_to: &str) -> String {
        let told = (inside.to_owned(), returns_to.to_owned());
        if let Some(text) = self.texts.get(&told) {
            return text.clone();
        }
        let text = caller(function, &self.code(inside), &self.code(returns_to));
        remember(&mut self.texts, TEXTS, told, text.clone());
        text
    }

    /// A line for each caller of `function` on a stack. Each frame is `FILE+0xADDRESS`, the first one in the function.
    pub fn stack(&mut self, function: &str, frames: &[&str]) -> Vec<String> {
        let codes: Vec<Rc<Code>> = frames.iter().map(|place| self.known_code(place)).collect();
        stack::lines(function, &codes)
    }

    fn known_code(&mut self, place: &str) -> Rc<Code> {
        if let Some(code) = self.codes.get(place) {
            return Rc::clone(code);
        }
        let code = Rc::new(self.code(place));
        remember(&mut self.codes, TEXTS, place.to_owned(), Rc::clone(&code));
        code
    }

    /// The code of the call before `place`, which is `FILE+0xADDRESS`.
    fn code(&mut self, place: &str) -> Code {
        let found = place.rsplit_once("+0x").and_then(|(file, address)| {
            let address = u64::from_str_radix(address, 16).ok()?.checked_sub(1)?;
            if self.files.values().flatten().map(Debug::kept).sum::<u64>() > debug::MOST {
                self.files.clear();
            }
            if !self.files.contains_key(file) {
                let path = self.pid.map_or_else(|| file.into(), |pid| readable(pid, file));
                remember(&mut self.files, FILES, file.to_owned(), Debug::of(&path));
            }
            Some(look_up(self.files.get(file)?.as_ref()?, address))
        });
        let (functions, are_all) = found.unwrap_or_default();
        Code { place: place.to_owned(), functions, are_all }
    }
}

/// Inserts a value, in place of all others once there are so many.
fn remember<K: Hash + Eq, V>(known: &mut HashMap<K, V>, most: usize, key: K, value: V) {
    if known.len() >= most {
        known.clear();
    }
    known.insert(key, value);
}

/// The path by which this command reads a file of the process.
fn readable(pid: u32, file: &str) -> PathBuf {
    let process = process_folder(pid);
    let program = process.join("exe");
    if fs::read_link(&program).is_ok_and(|path| path == Path::new(file)) {
        return program;
    }
    let root = process.join("root");
    // Once the process has ended, only the path is left. Whether the file exists is not asked: a server may have it.
    if fs::read_link(&root).is_ok() { root.join(file.trim_start_matches('/')) } else { file.into() }
}

/// The functions at an address, the innermost first, and whether inlined ones are among them.
fn look_up(debug: &Debug, address: u64) -> (Vec<Function>, bool) {
    let mut functions = debug.frames(address);
    let are_all = !functions.is_empty();
    // Symbols have whole paths; debug information for lines only does not.
    if let Some(symbol) = debug.symbol(address) {
        let name = without_closures(&demangle_auto(symbol.into(), None)).to_owned();
        match functions.last_mut() {
            Some(last) => last.name = name,
            None => functions.push(Function { name, at: None }),
        }
    }
    (functions, are_all)
}

/// The caller of the function `traced`, whose code is `inside` and returns to `behind`.
fn caller(traced: &str, inside: &Code, behind: &Code) -> String {
    if traced.starts_with("export ") {
        // The entry of an export is called through a pointer, so it is not inlined, and nothing is inlined into it.
        return behind.shown(behind.functions.iter().position(|function| !code::is_in_between(function)).unwrap_or(0));
    }
    let traced = last(traced);
    let at = inside.functions.iter().position(|function| last(&function.name) == traced);
    match (&*inside.functions, at) {
        ([], _) => format!("{} through {}", behind.place, inside.place),
        ([only], None) if !inside.are_all => {
            format!("{} ({traced} is inlined into it: no debug information was read)", only.name)
        }
        // Debug information may have another name for it, but it comes first.
        (functions, at) => match at.unwrap_or(0) + 1 {
            last if last == functions.len() => behind.shown(0),
            caller => inside.shown(caller),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::code::tests::code;
    use super::*;

    #[test]
    fn the_caller_is_where_the_compiler_has_put_it() {
        let (alone, order) = (("shop::price", "cart.rs:7"), ("shop::order", "cart.rs:88"));
        let behind = || code(&[order, ("shop::main", "main.rs:3")], true);
        for (inside, behind, expected) in [
            (code(&[alone], true), code(&[order], true), "shop::order at cart.rs:88"),
            (code(&[alone], true), behind(), "shop::order at cart.rs:88 (inlined into shop::main)"),
            (code(&[alone, order], true), code(&[], false), "shop::order at cart.rs:88"),
            (
                code(&[alone, order, ("do_call", "/rustc/1/std/panicking.rs:5")], true),
                code(&[], false),
                "shop::order at cart.rs:88",
            ),
            (
                code(&[("drop_in_place", "/rustc/1/core/ptr.rs:5"), alone, order], true),
                behind(),
                "shop::order at cart.rs:88",
            ),
            (code(&[("written otherwise", ""), order], true), behind(), "shop::order at cart.rs:88"),
            (code(&[alone], true), code(&[], false), "/bin/shop+0x7"),
            (code(&[], false), behind(), "/bin/shop+0x7 through /bin/shop+0x7"),
        ] {
            assert_eq!(caller("shop::price", &inside, &behind), expected);
        }
    }

    #[test]
    fn a_caller_without_debug_information_is_marked() {
        let behind = code(&[("shop::order", "")], false);
        for name in ["shop::price", "<shop::Cart as shop::Priced>::price", "shop::price::<shop::Cart>"] {
            let text = caller("shop::Cart::price", &code(&[(name, "")], false), &behind);
            assert_eq!(text, "shop::order (or what is inlined into it: no debug information was read)");
        }
        let text = caller("shop::price", &code(&[("shop::main", "")], false), &behind);
        assert_eq!(text, "shop::main (price is inlined into it: no debug information was read)");
    }

    #[test]
    fn a_pipe_is_not_opened() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let code = Callers::default().code(&format!("{}+0x8", pipe.display()));
        assert!(code.functions.is_empty());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_pipe_in_place_of_a_split_unit_is_not_waited_for() {
        use object::{Object as _, ObjectSymbol as _};
        let folder = tempfile::tempdir().unwrap();
        fs::write(
            folder.path().join("shop.c"),
            "int price(int n) {\n  return n + 1;\n}\nint main() { return price(1); }\n",
        )
        .unwrap();
        let mut compiler = std::process::Command::new("cc");
        compiler.args(["-g", "-gsplit-dwarf", "-O0", "-o", "shop", "shop.c"]).current_dir(&folder);
        assert!(compiler.status().unwrap().success());
        let program = folder.path().join("shop");
        let bytes = fs::read(&program).unwrap();
        let file = object::File::parse(&*bytes).unwrap();
        let address = file.symbol_by_name("price").unwrap().address() + 9;
        let place = format!("{}+{address:#x}", program.display());
        let code = Callers::default().code(&place);
        assert!(code.are_all && code.shown(0).contains("shop.c:"), "{}", code.shown(0));
        let files = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path());
        let unit = files.into_iter().find(|path| path.extension().is_some_and(|end| end == "dwo")).unwrap();
        fs::remove_file(&unit).unwrap();
        for pipe in [unit, program.with_added_extension("dwp")] {
            nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        }
        assert!(Callers::default().code(&place).shown(0).starts_with("price"));
    }

    #[test]
    fn a_trace_that_names_any_number_of_files_takes_bounded_memory() {
        let mut callers = Callers::default();
        for number in 0..TEXTS + 2 {
            callers.known_code(&format!("/nowhere/{number}+0x8"));
        }
        assert!(callers.files.len() <= FILES && callers.codes.len() <= TEXTS);
    }

    #[cfg(target_os = "linux")]
    #[inline(never)]
    fn found(number: u32) -> u32 {
        std::hint::black_box(number) + 1
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn functions_of_this_program() {
        let maps = fs::read_to_string("/proc/self/maps").unwrap();
        let program = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
        let begin = maps.lines().find(|line| line.ends_with(&program)).unwrap().split('-').next().unwrap();
        let address = found as fn(u32) -> u32 as usize - usize::from_str_radix(begin, 16).unwrap();
        let mut callers = Callers::of(std::process::id());
        // As if the first instruction were a call.
        let code = callers.code(&format!("{program}+{:#x}", address + 1));
        assert!(code.functions.last().unwrap().name.ends_with("::caller::tests::found"), "{}", code.shown(0));
        assert!(callers.code("/nowhere+0x8").functions.is_empty() && callers.code("x").functions.is_empty());
        assert_eq!(found(1), 2);
    }
}
