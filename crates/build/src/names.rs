//! Converts names of D to names of Rust, and rejects unusable ones.

use std::collections::HashMap;

use crate::error::{self, Problem};
use crate::lexer::Located;

/// DTrace's limit for both names, in bytes.
const MAX_NAME: usize = 63;
/// The digits of a process id, which DTrace puts behind the provider's name.
const PROCESS_ID: usize = 10;

/// Files that other tools read stay readable to them.
const RESERVED: &str = "dtrace-parser, by which other tools read such files, keeps this word for itself";

pub(crate) fn check_provider(name: &str) -> Result<(), Problem> {
    let reason = if name == "provider" {
        RESERVED
    } else if name.ends_with(|c: char| c.is_ascii_digit()) {
        "DTrace puts the process id behind it, so it cannot end with a digit"
    } else if name.len() > MAX_NAME - PROCESS_ID {
        "DTrace takes 63 bytes with the process id, so it has 53 at most"
    } else {
        return Ok(());
    };
    Err(Problem::ProviderName { name: name.to_owned(), reason })
}

/// Checks that each probe, given by name and place in `text`, has a name that tools accept and that is unique in Rust.
pub(crate) fn check_probes<'t>(text: &str, probes: impl Iterator<Item = (&'t str, usize)>) -> Result<(), Located> {
    let mut modules: HashMap<String, (&str, usize)> = HashMap::new();
    let mut functions: HashMap<Path, (&str, usize)> = HashMap::new();
    for (name, at) in probes {
        let path = path(name);
        let reason = if ["probe", "start"].contains(&name) {
            RESERVED
        } else if name.len() > MAX_NAME {
            "DTrace takes 63 bytes at most"
        } else if !is_name(&path.function) || path.module.as_deref().is_some_and(|module| !is_name(module)) {
            "the parts before and after the first `__` become names in Rust, so each needs a letter first"
        } else {
            ""
        };
        if !reason.is_empty() {
            return Err((at, Problem::ProbeName { name: name.to_owned(), reason }));
        }

        // A function has a module of the same name, for its probe; that is why modules and functions of the root must
        // differ.
        let in_the_way = match &path.module {
            Some(module) => functions.get(&Path { module: None, function: module.clone() }).copied(),
            None => modules.get(&path.function).copied(),
        };
        let rust = path.to_string();
        if let Some(module) = &path.module {
            modules.entry(module.clone()).or_insert((name, at));
        }
        let same = functions.insert(path, (name, at));
        if let Some((other, other_at)) = same.or(in_the_way) {
            let (name, other_line) = (name.to_owned(), error::line(text, other_at));
            let problem = match other == name {
                true => Problem::DuplicateProbe { name, first_line: other_line },
                false => Problem::RustNameTaken { name, rust, other: other.to_owned(), other_line },
            };
            return Err((at, problem));
        }
    }
    Ok(())
}

/// Where a probe is in Rust, each part as Rust writes it: the part before the first `__` is a module, the rest a
/// function.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Path {
    pub module: Option<String>,
    pub function: String,
}

impl std::fmt::Display for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.module {
            Some(module) => write!(f, "{module}::{}", self.function),
            None => f.write_str(&self.function),
        }
    }
}

pub(crate) fn path(probe: &str) -> Path {
    match probe.split_once("__") {
        Some((module, function)) => {
            Path { module: Some(identifier(module)), function: identifier(&function.replace("__", "_")) }
        }
        None => Path { module: None, function: identifier(probe) },
    }
}

/// A letter comes first, maybe after signs `_`.
fn is_name(name: &str) -> bool {
    name.trim_start_matches('_').starts_with(|c: char| c.is_ascii_alphabetic())
}

/// The name of the parameter at `position`; one without a usable name is called by its position.
pub(crate) fn parameter(name: Option<&str>, position: usize) -> String {
    match name {
        Some(name) if is_name(name) => name.to_owned(),
        _ => format!("arg{position}"),
    }
}

/// The name as Rust writes it: keywords are raw, and the four that cannot be have a `_` behind them.
pub(crate) fn identifier(name: &str) -> String {
    const KEYWORDS: [&str; 48] = [
        "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum",
        "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod",
        "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait", "true", "try", "type",
        "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
    ];
    if ["self", "Self", "super", "crate"].contains(&name) {
        format!("{name}_")
    } else if KEYWORDS.contains(&name) {
        format!("r#{name}")
    } else {
        name.to_owned()
    }
}

/// The name of the type parameter for a string parameter: `user_tag` has `UserTag`.
pub(crate) fn type_parameter(name: &str) -> String {
    let words = name.split('_').filter(|word| !word.is_empty());
    words.map(|word| word[..1].to_ascii_uppercase() + &word[1..]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_double_underscore_makes_the_module() {
        for (probe, rust) in [
            ("efile_drv__entry", "efile_drv::entry"),
            ("message__send__remote", "message::send_remote"),
            ("gc__try", "gc::r#try"),
            ("tick", "tick"),
            ("a___b", "a::_b"),
        ] {
            assert_eq!(path(probe).to_string(), rust);
        }
    }

    #[test]
    fn keywords_are_raw() {
        assert_eq!(identifier("return"), "r#return");
        assert_eq!(identifier("self"), "self_");
        assert_eq!(identifier("returned"), "returned");
    }

    #[test]
    fn type_parameters() {
        assert_eq!(type_parameter("user_tag"), "UserTag");
        assert_eq!(type_parameter("s1"), "S1");
        assert_eq!(type_parameter("__x__y"), "XY");
    }

    #[test]
    fn parameters_without_a_usable_name() {
        assert_eq!(parameter(None, 3), "arg3");
        assert_eq!(parameter(Some("__"), 4), "arg4");
        assert_eq!(parameter(Some("_x"), 5), "_x");
    }
}
