//! The generator: [`model`](crate::model) to Rust.
//!
//! It writes for each probe a function, which checks whether the probe is enabled, and a module of the same name, which fires
//! it. The text is the same on every platform: the macros of `dyntrace_probes::sdt` hide the differences.

use std::collections::HashMap;

use crate::markdown;
use crate::model::{Argument, Kind, PRIVATE, Probe, Provider};
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
            out.allow(module, &[]);
            out.open(&format!("pub mod {module} {{"));
            out.scope();
        }
        for (number, probe) in probes.into_iter().enumerate() {
            if number > 0 {
                out.line("");
            }
            out.probe(provider, probe);
        }
        if module.is_some() {
            out.close();
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

    fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    /// Writes `before`, the items and `after`, on one line if there is room, else with a line for each item.
    fn list(&mut self, before: &str, items: &[String], after: &str) {
        let line = format!("{before}{}{after}", items.join(", "));
        if self.depth * 4 + line.len() <= 100 {
            return self.line(&line);
        }
        self.open(before);
        for item in items {
            self.line(&format!("{item},"));
        }
        self.depth -= 1;
        self.line(after);
    }

    /// Imports the macros and types, by the name that `include_provider!` gives them.
    fn scope(&mut self) {
        self.line("use super::__sdt;");
        self.line("");
    }

    /// Writes the function and the module of a probe.
    fn probe(&mut self, provider: &Provider, probe: &Probe) {
        let probe = Names::of(provider, probe);
        self.outer(&probe);
        self.line("");
        self.inner(&probe);
    }

    fn outer(&mut self, probe: &Names<'_>) {
        let Names { provider, probe: Probe { name, arguments, .. }, function, .. } = probe;
        self.documentation(probe);
        self.line("#[inline(always)]");
        self.allow(function, &["dead_code", "named_asm_labels", "clippy::type_complexity"]);

        let generics = match probe.type_parameters.as_slice() {
            [] => String::new(),
            parameters => format!("<'a, {}>", parameters.join(", ")),
        };
        let mut texts = probe.type_parameters.iter();
        let types = arguments.iter().map(|argument| match argument.ty.kind {
            Kind::Text => texts.next().cloned().unwrap_or_default(),
            _ => argument.ty.rust().to_owned(),
        });
        let result = match types.collect::<Vec<_>>().as_slice() {
            [] => String::new(),
            [one] => format!(" -> {one}"),
            types => format!(" -> ({})", types.join(", ")),
        };
        let closure = format!("arguments: impl FnOnce(){result}");
        if probe.type_parameters.is_empty() {
            self.list(&format!("pub fn {function}("), &[closure], ") {");
        } else {
            self.open(&format!("pub fn {function}{generics}("));
            self.line(&format!("{closure},"));
            self.depth -= 1;
            self.open(") where");
            for parameter in &probe.type_parameters {
                self.line(&format!("{parameter}: Into<__sdt::Text<'a>>,"));
            }
            self.depth -= 1;
            self.line("{");
        }
        self.depth += 1;

        self.open(&format!("__sdt::if_enabled!(\"{provider}\", \"{name}\", {function}, {{"));
        self.line(&format!("__sdt::return_if_discarded!({function});"));
        match probe.parameters.as_slice() {
            [] => self.line("arguments();"),
            [one] => self.line(&format!("let {one} = arguments();")),
            parameters => self.list("let (", parameters, ") = arguments();"),
        }
        let passed = arguments.iter().zip(&probe.parameters).map(|(argument, parameter)| match argument.ty.kind {
            Kind::Text => format!("{parameter}.into()"),
            _ => parameter.clone(),
        });
        self.list(&format!("{function}::fire("), &passed.collect::<Vec<_>>(), ");");
        self.depth -= 1;
        self.line("});");
        self.close();
    }

    fn inner(&mut self, probe: &Names<'_>) {
        let Names { provider, probe: Probe { name, arguments, .. }, function, .. } = probe;
        let tool_name = probe.probe.tool_name();
        self.line(&format!("/// Whether `{tool_name}` is traced, and its firing."));
        let same_as_outer = names::path(name).module.as_ref() == Some(function);
        self.allow(function, if same_as_outer { &["clippy::module_inception"] } else { &[] });
        self.open(&format!("pub mod {function} {{"));
        self.scope();
        self.line(&format!("__sdt::declare!(\"{provider}\", \"{name}\");"));
        self.open("__sdt::describe!(");
        let described = arguments.iter().map(|argument| format!(", ({} \"{}\")", form(argument), argument.name));
        self.line(&format!("\"{provider}\", \"{name}\"{}", described.collect::<String>()));
        self.depth -= 1;
        self.line(");");
        self.line("");
        self.line(&format!("/// Whether a tracer looks at `{tool_name}` now."));
        self.line("#[inline(always)]");
        self.line("#[must_use]");
        self.line("#[allow(dead_code, named_asm_labels)]");
        self.open("pub fn is_enabled() -> bool {");
        self.line(&format!("__sdt::if_enabled!(\"{provider}\", \"{name}\", self, {{ return true }});"));
        self.line("false");
        self.close();
        self.line("");

        self.line(&format!("__sdt::discard!(\"{provider}\", \"{name}\");"));
        self.line("");
        self.fire(probe);
        self.line("");
        self.trace(probe);
        self.close();
    }

    /// Writes the function that passes a firing to the recorder and to tracers.
    fn fire(&mut self, probe: &Names<'_>) {
        let Names { provider, probe: Probe { name, arguments, .. }, .. } = probe;
        let texts = probe.texts();
        self.out_of_line("pub(super) fn fire(", probe);
        for (_, buffer) in &texts {
            self.line(&format!("let mut {buffer} = __sdt::Buffer::new();"));
        }
        let recorded = arguments.iter().zip(&probe.parameters).map(|(argument, parameter)| {
            let buffer = texts.iter().find(|(text, _)| text == parameter).map(|(_, buffer)| format!(" {buffer}"));
            format!("({} {parameter}{})", form(argument), buffer.unwrap_or_default())
        });
        self.list("__sdt::record!(", &recorded.collect::<Vec<_>>(), ");");
        self.open(&format!("__sdt::if_traced!(\"{provider}\", \"{name}\", {{"));
        self.list("self::trace(", &probe.parameters, ");");
        self.depth -= 1;
        self.line("});");
        self.close();
    }

    /// Writes the function with the probe's site, and nothing that makes the compiler duplicate it.
    fn trace(&mut self, probe: &Names<'_>) {
        let Names { provider, probe: Probe { name, arguments, .. }, .. } = probe;
        // Other crates of the workspace fire probes of `dyntrace` in place.
        self.line("#[doc(hidden)]");
        self.out_of_line("pub fn trace(", probe);
        for (parameter, buffer) in probe.texts() {
            self.line(&format!("let mut {buffer} = __sdt::Buffer::new();"));
            self.line(&format!("let {parameter} = {buffer}.encode({parameter});"));
        }
        let attributes = probe.attributes.as_ref().map(|numbers| format!("[\"{numbers}\"] "));
        if arguments.is_empty() {
            let attributes = attributes.unwrap_or_default();
            self.line(&format!("__sdt::site!({attributes}\"{provider}\", \"{name}\");"));
        } else {
            self.open("__sdt::site!(");
            if let Some(attributes) = attributes {
                self.line(attributes.trim_end());
            }
            self.line(&format!("\"{provider}\","));
            self.line(&format!("\"{name}\","));
            for (Argument { ty, .. }, parameter) in arguments.iter().zip(&probe.parameters) {
                self.line(&format!("({} {parameter} \"{}\")", ty.keyword(), ty.c));
            }
            self.depth -= 1;
            self.line(");");
        }
        self.close();
    }

    /// Opens a function with the probe's arguments, called while the probe is enabled.
    fn out_of_line(&mut self, head: &str, probe: &Names<'_>) {
        self.line("#[cold]");
        self.line("#[inline(never)]");
        self.allow(&probe.parameters.join(""), &["dead_code", "named_asm_labels", "clippy::too_many_arguments"]);
        let parameters =
            probe.probe.arguments.iter().zip(&probe.parameters).map(|(argument, parameter)| match argument.ty.kind {
                Kind::Text => format!("{parameter}: __sdt::Text<'_>"),
                _ => format!("{parameter}: {}", argument.ty.rust()),
            });
        self.list(head, &parameters.collect::<Vec<_>>(), ") {");
        self.depth += 1;
    }

    fn documentation(&mut self, probe: &Names<'_>) {
        let Names { provider, probe: Probe { doc, arguments, .. }, .. } = probe;
        let mut lines: Vec<String> = markdown::lines(doc).collect();
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.push(format!("The probe `{}` of the provider `{provider}`.", probe.probe.tool_name()));
        lines.push(match arguments.len() {
            0 => "`arguments` is called while a tracer looks at it, only then.".to_owned(),
            _ => "`arguments` makes these values while a tracer looks at it, only then:".to_owned(),
        });
        if !arguments.is_empty() {
            lines.push(String::new());
            lines.push("| argument | in D | in Rust | meaning |".to_owned());
            lines.push("|---|---|---|---|".to_owned());
        }
        for Argument { name, ty, doc } in arguments {
            let rust = match ty.kind {
                Kind::Text => "Into<Text>",
                _ => ty.rust(),
            };
            lines.push(format!("| `{name}` | `{}` | `{rust}` | {} |", ty.c, markdown::cell(doc)));
        }
        for line in lines {
            self.line(&format!("/// {line}"));
        }
    }

    /// Allows `lints`, and non-Rust naming styles if `names` has such.
    fn allow(&mut self, names: &str, lints: &[&str]) {
        let mut lints = lints.to_vec();
        if names.contains(|c: char| c.is_ascii_uppercase()) {
            lints.push("non_snake_case");
        }
        if !lints.is_empty() {
            self.line(&format!("#[allow({})]", lints.join(", ")));
        }
    }
}

/// Returns how the recorder takes an argument: `int`s of some names count up, or are small; texts may be documented as names.
fn form(argument: &Argument) -> &'static str {
    match (argument.ty.kind, argument.name.as_str()) {
        // Readers expect the text itself.
        (Kind::Text, "user_tag" | "error") => argument.ty.keyword(),
        (Kind::Text, _) if argument.doc.ends_with("as \"#Port<0.N>\"") => "port",
        (Kind::Text, _) if argument.doc.ends_with("as \"<0.N.0>\"") => "process",
        (Kind::I32, "tag") => "count",
        (Kind::I32, "command" | "success" | "lane") => "small",
        _ => argument.ty.keyword(),
    }
}

/// A probe with its names in Rust.
struct Names<'p> {
    provider: &'p str,
    /// The provider's attributes, if they differ from the default.
    attributes: Option<String>,
    probe: &'p Probe,
    function: String,
    /// The name of each argument.
    parameters: Vec<String>,
    /// The buffer of each string argument.
    type_parameters: Vec<String>,
}

impl<'p> Names<'p> {
    fn of(provider: &'p Provider, probe: &'p Probe) -> Self {
        let mut type_parameters: Vec<String> = Vec::new();
        for argument in probe.arguments.iter().filter(|argument| argument.ty.kind == Kind::Text) {
            let name = names::type_parameter(&argument.name);
            let name = unused(name, |name| {
                ["Self", "Into", "FnOnce"].contains(&name) || type_parameters.iter().any(|other| other == name)
            });
            type_parameters.push(name);
        }
        let numbers = || provider.attributes.as_flattened().iter().map(u8::to_string).collect::<Vec<_>>().join("_");
        Names {
            attributes: (provider.attributes != PRIVATE).then(numbers),
            provider: &provider.name,
            probe,
            function: names::path(&probe.name).function,
            parameters: probe.arguments.iter().map(|argument| names::identifier(&argument.name)).collect(),
            type_parameters,
        }
    }

    /// Returns the string parameters with the names of their buffers.
    fn texts(&self) -> Vec<(&str, String)> {
        let mut texts: Vec<(&str, String)> = Vec::new();
        for (argument, parameter) in self.probe.arguments.iter().zip(&self.parameters) {
            if argument.ty.kind == Kind::Text {
                let taken = |name: &str| {
                    self.parameters.iter().any(|parameter| parameter == name)
                        || texts.iter().any(|(_, other)| other == name)
                };
                let buffer = unused(format!("{}_buffer", argument.name), taken);
                texts.push((parameter, buffer));
            }
        }
        texts
    }
}

/// Returns `name` with enough `_` appended to differ from all of `taken`.
fn unused(mut name: String, taken: impl Fn(&str) -> bool) -> String {
    while taken(&name) {
        name.push('_');
    }
    name
}
