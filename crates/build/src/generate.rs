//! The generator: [`model`](crate::model) to Rust.
//!
//! It writes for each probe what `dyntrace_probes::sdt::probe` declares it by: its comment, names and arguments with their
//! meanings. The text is the same on every platform: that macro hides the differences.

use std::collections::{BTreeMap, HashMap};

use crate::markdown;
use crate::model::{Argument, ArgumentKind, PRIVATE, Probe, Provider};
use crate::names;

/// Generates the text of a Rust file with the probe functions of `provider`, for `include!`.
pub fn generate(provider: &Provider) -> String {
    let mut out = Code::default();
    out.line(&format!(
        "// Made of the provider definition `{}` by dyntrace-build; changes belong there.",
        provider.name
    ));
    for (module, probes) in groups(provider) {
        out.line("");
        if let Some(module) = &module {
            let prefix = probes[0].name.split("__").next().unwrap_or_default();
            out.line(&format!("/// The probes `{prefix}-*` of the provider `{}`.", provider.name));
            if module.contains(|c: char| c.is_ascii_uppercase()) {
                out.line("#[allow(non_snake_case)]");
            }
            out.open(&format!("pub mod {module} {{"));
            out.line("use super::__sdt;");
            out.line("");
        }
        for (number, probe) in probes.into_iter().enumerate() {
            if number > 0 {
                out.line("");
            }
            out.probe(provider, probe);
        }
        if module.is_some() {
            out.close("}");
        }
    }
    out.text
}

/// Returns the probes by module, in the order of the file; `None` is the root.
fn groups(provider: &Provider) -> Vec<(Option<String>, Vec<&Probe>)> {
    let mut groups: Vec<(Option<String>, Vec<&Probe>)> = Vec::new();
    let mut places = HashMap::new();
    for probe in &provider.probes {
        let module = names::path(&probe.name).module;
        let place = *places.entry(module.clone()).or_insert(groups.len());
        match groups.get_mut(place) {
            Some((_, probes)) => probes.push(probe),
            None => groups.push((module, vec![probe])),
        }
    }
    groups
}

/// The generated text, and the indentation of its next line.
#[derive(Default)]
struct Code {
    text: String,
    depth: usize,
}

impl Code {
    fn line(&mut self, line: &str) {
        if !line.is_empty() {
            self.text.push_str(&"    ".repeat(self.depth));
            self.text.push_str(line.trim_end());
        }
        self.text.push('\n');
    }

    fn open(&mut self, line: &str) {
        self.line(line);
        self.depth += 1;
    }

    fn close(&mut self, line: &str) {
        self.depth -= 1;
        self.line(line);
    }

    /// Writes a probe: its documentation, names and arguments.
    fn probe(&mut self, provider: &Provider, probe: &Probe) {
        let names = Names::of(probe);
        self.open("__sdt::probe! {");
        for line in markdown::lines(&probe.doc) {
            self.line(&format!("/// {line}"));
        }
        let attributes = match provider.attributes {
            PRIVATE => String::new(),
            numbers => {
                let numbers: Vec<_> = numbers.as_flattened().iter().map(u8::to_string).collect();
                format!("[\"{}\"] ", numbers.join("_"))
            }
        };
        self.line(&format!("{attributes}\"{}\" \"{}\" \"{}\"", provider.name, probe.name, probe.tool_name()));
        let texts: Vec<_> = names.texts.values().map(|(generic, _)| generic.as_str()).collect();
        let generics = if texts.is_empty() { String::new() } else { format!("<'a, {}>", texts.join(", ")) };
        let types: Vec<_> = probe.arguments.iter().enumerate().map(|(at, argument)| names.rust(at, argument)).collect();
        let result = match types.as_slice() {
            [] => String::new(),
            [one] => format!(" -> {one}"),
            types => format!(" -> ({})", types.join(", ")),
        };
        self.line(&format!("{}{generics}(arguments: impl FnOnce(){result})", names.function));
        for (at, (argument, parameter)) in probe.arguments.iter().zip(&names.parameters).enumerate() {
            let Argument { name, ty, doc } = argument;
            let buffer = names.texts.get(&at).map(|(_, buffer)| format!(", {buffer}")).unwrap_or_default();
            let (rust, form, keyword, c) = (names.rust(at, argument), form(argument), ty.keyword(), &ty.c);
            let meaning = markdown::cell(doc);
            self.line(&format!("({parameter}: {rust}, {form} \"{name}\", {keyword} \"{c}\"{buffer}; {meaning:?})"));
        }
        self.close("}");
    }
}

/// Returns how the recorder takes an argument: `int`s of some names count up, or are small; texts may be documented as names.
fn form(argument: &Argument) -> &'static str {
    match (argument.ty.kind, argument.name.as_str()) {
        // Readers expect the text itself.
        (ArgumentKind::Text, "user_tag" | "error") => argument.ty.keyword(),
        (ArgumentKind::Text, _) if argument.doc.ends_with("as \"#Port<0.N>\"") => "port",
        (ArgumentKind::Text, _) if argument.doc.ends_with("as \"<0.N.0>\"") => "process",
        (ArgumentKind::I32, "tag") => "count",
        (ArgumentKind::I32, "command" | "success" | "lane") => "small",
        _ => argument.ty.keyword(),
    }
}

/// A probe's names in Rust.
struct Names {
    function: String,
    /// The name of each argument.
    parameters: Vec<String>,
    /// The type parameter and the buffer of each string argument, by its position.
    texts: BTreeMap<usize, (String, String)>,
}

impl Names {
    fn of(probe: &Probe) -> Self {
        let parameters: Vec<_> = probe.arguments.iter().map(|argument| names::identifier(&argument.name)).collect();
        let mut texts: BTreeMap<usize, (String, String)> = BTreeMap::new();
        for (at, argument) in
            probe.arguments.iter().enumerate().filter(|(_, argument)| argument.ty.kind == ArgumentKind::Text)
        {
            let generic = unused(names::type_parameter(&argument.name), |name| {
                ["Self", "Into", "FnOnce"].contains(&name) || texts.values().any(|(other, _)| other == name)
            });
            let buffer = unused(format!("{}_buffer", argument.name), |name| {
                parameters.iter().any(|parameter| parameter == name) || texts.values().any(|(_, other)| other == name)
            });
            texts.insert(at, (generic, buffer));
        }
        Names { function: names::path(&probe.name).function, parameters, texts }
    }

    /// The type of an argument in the probe's function.
    fn rust<'n>(&'n self, at: usize, argument: &'n Argument) -> &'n str {
        self.texts.get(&at).map_or(argument.ty.rust(), |(generic, _)| generic)
    }
}

/// Returns `name` with enough `_` appended to differ from all of `taken`.
fn unused(mut name: String, taken: impl Fn(&str) -> bool) -> String {
    while taken(&name) {
        name.push('_');
    }
    name
}
