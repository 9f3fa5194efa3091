//! Where calls came from, of which traces have addresses only: by the files that ran, as long as nobody has written them since. Those of
//! modules need not be loaded any more: traces tell which file each version was made of.

use std::collections::HashMap;
use std::fs;
use std::time::UNIX_EPOCH;

use dyntrace_reader::{Event, EventClass, Value};

use crate::caller::Callers;

/// The class of events that tell of modules.
pub const MODULE: &str = "recorder:module";

/// What is known of the places that events name.
pub struct Places {
    callers: Callers,
    /// By the file that was mapped, which was a copy and is gone.
    modules: HashMap<String, Module>,
}

struct Module {
    name: String,
    version: String,
    /// What the copy was made of.
    file: String,
}

/// Where events of a class have places.
pub struct Spot {
    at: usize,
    function: usize,
    kind: Option<usize>,
}

impl Spot {
    /// `None` if they have none.
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
    /// Nothing is known.
    pub fn new() -> Places {
        Places { callers: Callers::of_files(), modules: HashMap::new() }
    }

    /// Takes in what an event tells of a module.
    pub fn learn(&mut self, event: &Event<'_>) {
        let text = |name| match event.field(name) {
            Some(Value::Text(text)) => String::from_utf8_lossy(text).into_owned(),
            _ => String::new(),
        };
        let module = Module { name: text("module"), version: text("version"), file: text("file") };
        self.modules.insert(text("mapped"), module);
    }

    /// The place of an event that was at `time`, in words, and at which position of the event it is.
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

    /// Of a text as the library has it: `FILE+0xADDRESS through FILE+0xADDRESS`.
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

    /// The place in the file that is there, if that is the one that ran.
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
        // What the file says of it is another matter: nothing.
        let expected = format!("{file}+0x17 through {file}+0x9 in tax 2.1.0");
        assert_eq!(places.caller("tax::rate/1", text, i64::MAX), Some(expected));
        assert_eq!(places.caller("tax::rate/1", text, 0), None, "the file was written later");
        assert_eq!(places.caller("tax::rate/1", "src/tax.rs:88", i64::MAX), None);
        assert_eq!(places.caller("tax::rate/1", "/gone.so+0x1 through /gone.so+0x2", i64::MAX), None);
    }
}
