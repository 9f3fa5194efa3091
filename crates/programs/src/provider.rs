//! Provider definitions, which have the names and types of arguments that notes lack.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use dyntrace_build::model;
use dyntrace_terminal::escape;

use crate::elf::Note;

pub struct Providers(Vec<model::Provider>);

impl Providers {
    /// The providers of the files `more`, then dyntrace's own.
    pub fn with(more: &[PathBuf]) -> Result<Providers> {
        let mut providers = Vec::new();
        for file in more {
            let shown = escape::path(file);
            let text = fs::read_to_string(file).with_context(|| format!("cannot read {shown}"))?;
            providers.push(dyntrace_build::parse(&text, &shown)?);
        }
        providers.push(dyntrace_build::parse(dyntrace::scripts::PROVIDER_D, "provider.d")?);
        Ok(Providers(providers))
    }

    pub fn get(&self, name: &str) -> Option<&model::Provider> {
        self.0.iter().find(|provider| provider.name == name)
    }

    /// The definition of the probe at a site.
    pub fn probe(&self, note: &Note) -> Option<&model::Probe> {
        self.get(&note.provider)?.probes.iter().find(|probe| probe.name == note.name)
    }
}

/// The first difference between the arguments at a site and the definition.
pub fn difference(note: &Note, probe: &model::Probe) -> Option<String> {
    let (site, defined) = (note.operands.len(), probe.arguments.len());
    if site != defined {
        return Some(format!("the site has {site} arguments, its definition {defined}"));
    }
    note.operands.iter().zip(&probe.arguments).find_map(|(operand, argument)| {
        // A pointer has the size of the program's words and no sign, but compilers differ in the sign they write.
        let is_pointer = argument.ty.kind == model::ArgumentKind::Text;
        let same_sign = operand.is_signed == argument.ty.is_signed() || is_pointer;
        let same_size = operand.size.is_none_or(|size| match size {
            4 | 8 if is_pointer => true,
            size => usize::from(size) == argument.ty.size(),
        });
        let (name, here, defined) = (&argument.name, operand.c_type(), &argument.ty.c);
        (!same_size || !same_sign || operand.is_float)
            .then(|| format!("argument {name} is {here} at the site, {defined} in its definition"))
    })
}
