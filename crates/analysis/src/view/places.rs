//! Callers in recorded calls. A trace has only their addresses, which are looked up in the program's files, unless a file was written
//! later. The trace names the file of each version of a module.

use std::collections::HashMap;
use std::fs;
use std::time::UNIX_EPOCH;

use dyntrace_programs::caller::Callers;
use dyntrace_reader::{Event, EventClass, Value};

use crate::render::operation::text;

/// The class of events about modules.
pub const MODULE: &str = "recorder:module";

pub struct Places {
    callers: Callers,
    /// By the path of the mapped file, a copy that is gone.
    modules: HashMap<String, Module>,
}

struct Module {
    name: String,
    version: String,
    /// The original of the copy.
    file: String,
}

/// The positions of fields in events that have a place.
pub struct Spot {
    at: usize,
    function: usize,
    kind: Option<usize>,
}

impl Spot {
    pub fn of(class: &EventClass) -> Option<Spot> {
        let (at, kind) = match class.name.as_str() {
            "dyntrace:function-entry" => ("caller", None),
            "dyntrace:function-return" => ("value", Some(class.position("kind")?)),
            _ => return None,
        };
        Some(Spot { at: class.position(at)?, function: class.position("function")?, kind })
    }
}

impl Places {
    pub fn new() -> Places {
        Places { callers: Callers::default(), modules: HashMap::new() }
    }

    /// Takes in an event about a module.
    pub fn learn(&mut self, event: &Event<'_>) {
        let text = |name| String::from_utf8_lossy(&text(event, name)).into_owned();
        let module = Module { name: text("module"), version: text("version"), file: text("file") };
        self.modules.insert(text("mapped"), module);
    }

    /// The place in words, and its position in the event. `time` is that of the event.
    pub fn shown(&mut self, spot: &Spot, values: &[Value<'_>], time: i64) -> Option<(usize, String)> {
        let text = |at: usize| match values.get(at) {
            Some(Value::Text(text)) => str::from_utf8(text).ok(),
            _ => None,
        };
        if spot.kind.is_some_and(|kind| text(kind) != Some("return_to")) {
            return None;
        }
        Some((spot.at, self.caller(text(spot.function)?, text(spot.at)?, time)?))
    }

    /// `text` is `FILE+0xADDRESS through FILE+0xADDRESS`.
    fn caller(&mut self, function: &str, text: &str, time: i64) -> Option<String> {
        let (returns_to, inside) = text.split_once(" through ")?;
        let function = function.rsplit_once('/').map_or(function, |(path, _arity)| path);
        let (there, here) = (self.as_it_was(returns_to, time)?, self.as_it_was(inside, time)?);
        let caller = self.callers.between(function, &here, &there);
        let module = returns_to.rsplit_once("+0x").and_then(|(file, _)| self.modules.get(file));
        Some(match module {
            Some(Module { name, version, .. }) => format!("{caller} in {name} {version}"),
            None => caller,
        })
    }

    /// The place in the original file, if that was not written after `time`.
    fn as_it_was(&self, place: &str, time: i64) -> Option<String> {
        let (file, address) = place.rsplit_once("+0x")?;
        let file = self.modules.get(file).map_or(file, |module| &module.file);
        let modified = fs::metadata(file).and_then(|metadata| metadata.modified()).ok()?;
        let modified = modified.duration_since(UNIX_EPOCH).ok()?.as_nanos();
        (modified <= u128::try_from(time).ok()?).then(|| format!("{file}+0x{address}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_modules_are_those_of_the_files_they_were_made_of() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("libtax.so");
        fs::write(&file, "no program").unwrap();
        let file = file.to_str().unwrap().to_owned();
        let mut places = Places::new();
        let module = Module { name: "tax".into(), version: "2.1.0".into(), file: file.clone() };
        places.modules.insert("/tmp/copy.so".into(), module);
        let text = "/tmp/copy.so+0x17 through /tmp/copy.so+0x9";
        // The file has no symbols.
        let expected = format!("{file}+0x17 through {file}+0x9 in tax 2.1.0");
        assert_eq!(places.caller("tax::rate/1", text, i64::MAX), Some(expected));
        assert_eq!(places.caller("tax::rate/1", text, 0), None, "the file was written later");
        assert_eq!(places.caller("tax::rate/1", "src/tax.rs:88", i64::MAX), None);
        assert_eq!(places.caller("tax::rate/1", "/gone.so+0x1 through /gone.so+0x2", i64::MAX), None);
    }
}
