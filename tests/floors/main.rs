//! Compares the arrows between the library's files with the table of floors in ARCHITECTURE.md. A room uses rooms of its own
//! floor and of those below. No rooms use each other in a circle, and no more than two files do.
//!
//! An arrow is a `use` or a path in code, and leads to the file that defines the named item; modules in between that only
//! re-export it do not count. A `mod` is no arrow. The root's re-exports are for users: code of the library names the room.
#![cfg(not(any(loom, miri)))]

mod arrows;
mod circles;
mod errors;
mod house;
mod made_up;
mod modules;

use std::fs;
use std::path::Path;

use arrows::arrows;
use errors::repeated;
use house::{Table, circles_of_files, faults};
use modules::{Crate, Sources};

/// The crates with floors: the folder as the table writes it, and the name.
const HOUSES: [(&str, &str); 4] = [
    ("src/", "dyntrace"),
    ("crates/files/src/", "dyntrace_files"),
    ("crates/processes/src/", "dyntrace_processes"),
    ("crates/probes/src/", "dyntrace_probes"),
];

#[test]
fn no_arrow_goes_up_or_round() {
    let library = Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = fs::read_to_string(library.join("ARCHITECTURE.md")).expect("the table of floors");
    for (folder, name) in HOUSES {
        let mut sources = Sources::new();
        read(&library.join(folder), "", &mut sources);
        let faults = faults(&sources, name, &Table::read(&table, folder));
        assert!(faults.is_empty(), "{name}: {} faults\n\n{}", faults.len(), faults.join("\n\n"));
    }
}

#[test]
fn every_file_is_read() {
    for (folder, name) in HOUSES {
        let mut sources = Sources::new();
        read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), "", &mut sources);
        let Crate { files, tests, .. } = Crate::read(&sources, "lib.rs", name);
        let is_below = |file: &str, test: &String| {
            file.strip_prefix(&**test).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        };
        let is_test = |file: &str| tests.iter().any(|test| is_below(file, test));
        let unread: Vec<_> = sources.keys().filter(|file| !files.contains(*file) && !is_test(file)).collect();
        assert!(unread.is_empty(), "{name}: no `mod` leads to {unread:?}");
    }
}

#[test]
fn other_crates_have_no_circles() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates");
    for entry in fs::read_dir(&crates).expect("the crates") {
        let name = entry.expect("an entry").file_name().into_string().expect("a name");
        let mut sources = Sources::new();
        read(&crates.join(&name).join("src"), "", &mut sources);
        for root in ["lib.rs", "main.rs"].into_iter().filter(|root| sources.contains_key(*root)) {
            // A program calls its library by that name.
            let own = if root == "lib.rs" { format!("dyntrace_{}", name.replace('-', "_")) } else { String::new() };
            let arrows = arrows(&Crate::read(&sources, root, &own));
            let faults = circles_of_files(&arrows);
            assert!(faults.is_empty(), "crates/{name}\n\n{}", faults.join("\n\n"));
        }
    }
}

#[test]
fn errors_tell_their_causes_once() {
    let sources = of_all_crates();
    let faults = sources.iter().flat_map(|(file, text)| repeated(text).into_iter().map(move |found| (file, found)));
    let faults: Vec<_> = faults.collect();
    assert!(faults.is_empty(), "{faults:#?}");
    let made_up = "#[error(\"a: {0}\")]\nA(#[from] B),\n#[error(\"c: {source}\")]\nC { source: B },\n#[error(\"d\")]\nD(#[source] B),\n}";
    assert_eq!(repeated(made_up), ["\"a: {0}\"", "\"c: {source}\""]);
}

#[test]
fn no_name_is_a_word_that_the_glossary_forbids() {
    let glossary = include_str!("../../docs/glossary.md");
    let words = glossary.lines().find_map(|line| line.strip_prefix("Forbidden as names of types, files and modules: "));
    let forbidden: Vec<_> = words.expect("the list").split(", ").map(|word| word.trim_matches(['*', '.'])).collect();
    let mut faults = Vec::new();
    for (file, text) in of_all_crates() {
        faults.extend(file.split(['/', '.']).filter(|name| forbidden.contains(name)).map(|_| file.clone()));
        for line in text.lines() {
            let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '/');
            let keyword = words.find(|word| !["", "pub", "crate", "super"].contains(word));
            let name = words.next().unwrap_or_default();
            if ["struct", "enum", "union", "trait", "type", "mod"].contains(&keyword.unwrap_or_default())
                && forbidden.contains(&&*name.to_lowercase())
            {
                faults.push(format!("{file}: {name}"));
            }
        }
    }
    assert!(faults.is_empty(), "say what each is: {faults:#?}");
}

/// The sources of the library and of the other crates.
fn of_all_crates() -> Sources {
    let library = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = Sources::new();
    read(&library.join("src"), "src/", &mut sources);
    for entry in fs::read_dir(library.join("crates")).expect("the crates") {
        let entry = entry.expect("an entry");
        read(&entry.path().join("src"), &format!("{}/", entry.file_name().display()), &mut sources);
    }
    sources
}

/// Reads all sources below `folder`, whose path below `src/` is `below`.
fn read(folder: &Path, below: &str, sources: &mut Sources) {
    for entry in fs::read_dir(folder).expect("the library's sources") {
        let path = entry.expect("an entry").path();
        let name = format!("{below}{}", path.file_name().expect("a name").to_string_lossy());
        if path.is_dir() {
            read(&path, &format!("{name}/"), sources);
        } else if name.ends_with(".rs") {
            sources.insert(name, fs::read_to_string(&path).expect("a source"));
        }
    }
}
