//! Functions at a place in machine code, and those that dyntrace or the standard library put there.

use addr2line::FrameIter;
use gimli::Reader;

/// The path of a module of the library, and the begin of its sources' paths.
macro_rules! module {
    ($room:ident $(:: $part:ident)+) => {
        (
            concat!("dyntrace::", stringify!($room), $("::", stringify!($part),)+ "::"),
            concat!("src/", stringify!($room) $(, "/", stringify!($part))+),
        )
    };
}

/// The modules whose code is between a traced function and its body, or between an export and its caller.
const OWN: [(&str, &str); 3] = [module!(breakpoint::hit), module!(code::lookup::handle), module!(code::call::panicked)];

/// The functions of frames, the innermost first.
pub fn described<R: Reader>(mut frames: FrameIter<'_, R>) -> Vec<Function> {
    let mut functions = Vec::new();
    while let Ok(Some(frame)) = frames.next() {
        let Some(name) = frame.function.as_ref().and_then(|name| Some(name.demangle().ok()?.into_owned())) else {
            continue;
        };
        let location = frame.location.as_ref();
        let at = location.and_then(|location| Some(format!("{}:{}", location.file?, location.line?)));
        functions.push(Function { name: without_closures(&name).to_owned(), at });
    }
    functions
}

/// A place in machine code.
pub struct Code {
    pub place: String,
    /// The functions there, each inlined into the next one.
    pub functions: Vec<Function>,
    /// Whether inlined functions are known, not only the last one.
    pub are_all: bool,
}

pub struct Function {
    pub name: String,
    /// File and line.
    pub at: Option<String>,
}

impl Code {
    /// The text for the function there with this number.
    pub fn shown(&self, number: usize) -> String {
        let Some(function) = self.functions.get(number) else { return self.place.clone() };
        let name = &function.name;
        if !self.are_all {
            return format!("{name} (or what is inlined into it: no debug information was read)");
        }
        let at = function.at.as_ref().map(|at| format!(" at {at}")).unwrap_or_default();
        let into = self.functions[number + 1..].iter().rfind(|function| !is_in_between(function));
        let into = into.map(|into| format!(" (inlined into {})", into.name)).unwrap_or_default();
        format!("{name}{at}{into}")
    }
}

/// The function that contains the closure.
pub fn without_closures(mut name: &str) -> &str {
    let is_closure = |last: &str| last.trim_start_matches('{').starts_with("closure") && last.ends_with('}');
    while let Some((function, _)) = name.rsplit_once("::{").filter(|(_, last)| is_closure(last)) {
        name = function;
    }
    name
}

/// The last segment of a path, without type parameters.
pub fn last(path: &str) -> &str {
    let path = path.split("::<").next().unwrap_or(path);
    path.rsplit("::").next().unwrap_or(path)
}

/// By its name, or by its source, since debug information for lines only has short names.
pub fn is_own(Function { name, at }: &Function) -> bool {
    let name = name.trim_start_matches('<');
    OWN.iter().any(|(path, source)| name.starts_with(path) || at.as_ref().is_some_and(|at| at.contains(source)))
}

pub fn is_standard(function: &Function) -> bool {
    let name = function.name.trim_start_matches('<');
    is_in_rustc(function) || ["std::", "core::", "__rust_try"].iter().any(|standard| name.starts_with(standard))
}

fn is_in_rustc(Function { at, .. }: &Function) -> bool {
    at.as_ref().is_some_and(|at| at.starts_with("/rustc/"))
}

/// Whether the function is dyntrace's own, or inlined into that from the standard library.
pub fn is_in_between(function: &Function) -> bool {
    is_own(function) || is_in_rustc(function)
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn code(functions: &[(&str, &str)], are_all: bool) -> Code {
        let function = |(name, at): &(&str, &str)| Function {
            name: (*name).to_owned(),
            at: Some((*at).to_owned()).filter(|at| !at.is_empty()),
        };
        Code { place: "/bin/shop+0x7".to_owned(), functions: functions.iter().map(function).collect(), are_all }
    }

    #[test]
    fn closures_belong_to_their_functions() {
        for name in ["a::b", "a::b::{{closure}}", "a::b::{{closure}}::{{closure}}", "a::b::{closure#0}::{closure#1}"] {
            assert_eq!(without_closures(name), "a::b");
        }
        for name in ["<a::{impl#0} as b>::c", "<a::b::{closure#0} as c>::d"] {
            assert_eq!(without_closures(name), name);
        }
    }

    #[test]
    fn the_library_has_these_sources() {
        let library = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for (_, source) in OWN {
            assert!(library.join(source).is_dir() || library.join(format!("{source}.rs")).is_file(), "{source}");
        }
    }
}
