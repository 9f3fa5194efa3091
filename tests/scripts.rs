//! The shipped scripts agree with each other and with what they are made from.
//!
//! `DYNTRACE_BLESS=1 cargo test --test scripts` writes the parts that are made from `efile::Command` anew.

use std::fs;
use std::path::PathBuf;

use dyntrace::efile::Command;

const NAMES: [&str; 3] = ["efile_drv", "messages", "user-probe"];
const LANGUAGES: [(&str, &str); 3] = [("d-scripts", "d"), ("stap-scripts", "stp"), ("bt-scripts", "bt")];

const MAP_BEGIN: &str = "\t/* op map: made from efile::Command by tests/scripts.rs */\n";
const MAP_END: &str = "\t/* end of op map */\n";

fn path(folder: &str, file: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), folder, file].iter().collect()
}

fn read(path: &PathBuf) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("reading {}: {error}", path.display()))
}

fn script(name: &str, (folder, extension): (&str, &str)) -> String {
    read(&path(folder, &format!("{name}.{extension}")))
}

#[test]
fn op_maps_are_those_of_the_file_driver() {
    for (folder, extension) in LANGUAGES {
        let array = if extension == "bt" { "@op_map" } else { "op_map" };
        let map: String = Command::ALL
            .iter()
            .map(|command| format!("\t{array}[{}] = \"{}\";\n", command.number(), command.name()))
            .collect();

        let path = path(folder, &format!("efile_drv.{extension}"));
        let text = read(&path);
        let (before, rest) = text.split_once(MAP_BEGIN).expect("the op map's first comment");
        let (written, after) = rest.split_once(MAP_END).expect("the op map's last comment");
        if written == map {
            continue;
        }
        assert!(
            std::env::var_os("DYNTRACE_BLESS").is_some(),
            "the op map of {} is not that of efile::Command: DYNTRACE_BLESS=1 rewrites it",
            path.display()
        );
        fs::write(&path, format!("{before}{MAP_BEGIN}{map}{MAP_END}{after}")).expect("writing the script");
    }
}

/// What a script prints, in order. `%ld` is bpftrace's way to say `%d`.
fn formats(text: &str) -> Vec<String> {
    text.split("printf(\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap_or_default().replace("%ld", "%d"))
        .collect()
}

#[test]
fn a_script_prints_the_same_in_every_language() {
    for name in NAMES {
        let [d, stap, bt] = LANGUAGES.map(|language| formats(&script(name, language)));
        assert!(!d.is_empty(), "{name} prints nothing");
        assert_eq!(d, stap, "{name}.d and {name}.stp");
        assert_eq!(d, bt, "{name}.d and {name}.bt");
    }
}

#[test]
fn a_script_explains_itself() {
    for name in NAMES {
        for language in LANGUAGES {
            let text = script(name, language);
            let header = text.split(" */").next().unwrap_or_default();
            for part in ["USAGE", "FIELDS", "CAVEATS"] {
                assert!(header.contains(part), "{name}.{} has no {part}", language.1);
            }
            let example = read(&path(language.0, &format!("{name}_example.txt")));
            assert!(example.contains("\n# "), "{name}_example.txt shows no run");
        }
    }
}

#[cfg(feature = "scripts")]
#[test]
fn the_embedded_scripts_are_all_of_them() {
    let embedded: Vec<_> = dyntrace::scripts::ALL.iter().map(|script| script.name).collect();
    assert_eq!(embedded, NAMES);
    for name in NAMES {
        let embedded = dyntrace::scripts::find(name).expect("a script of the list");
        assert_eq!(
            [embedded.d, embedded.stap, embedded.bt].map(str::to_owned),
            LANGUAGES.map(|language| script(name, language))
        );
    }
    assert_eq!(dyntrace::scripts::find("no-such-script"), None);
}
