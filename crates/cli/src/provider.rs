//! Names and types of arguments: from provider definitions, which notes do not repeat.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use dyntrace_build::model;

use crate::elf::Note;
use crate::escape;

/// The providers whose definitions are known.
pub struct Providers(Vec<model::Provider>);

impl Providers {
    /// dyntrace's own provider, and those of the files `more`, which go first.
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

    /// The provider called `name`.
    pub fn get(&self, name: &str) -> Option<&model::Provider> {
        self.0.iter().find(|provider| provider.name == name)
    }

    /// The definition of the probe at a site.
    pub fn probe(&self, note: &Note) -> Option<&model::Probe> {
        self.get(&note.provider)?.probes.iter().find(|probe| probe.name == note.name)
    }
}

/// How the arguments at a site differ from the definition, if they do.
pub fn difference(note: &Note, probe: &model::Probe) -> Option<String> {
    let (site, defined) = (note.operands.len(), probe.arguments.len());
    if site != defined {
        return Some(format!("the site has {site} arguments, its definition {defined}"));
    }
    note.operands.iter().zip(&probe.arguments).find_map(|(operand, argument)| {
        // A pointer is as long as a word of the program, and has no sign: compilers differ in what they write.
        let is_pointer = argument.ty.kind == model::Kind::Text;
        let same_sign = operand.is_signed == argument.ty.is_signed() || is_pointer;
        let same_size = operand.size.is_none_or(|size| match size {
            4 | 8 if is_pointer => true,
            size => usize::from(size) == argument.ty.size(),
        });
        (!same_size || !same_sign || operand.is_float).then(|| {
            format!(
                "argument {} is {} at the site, {} in its definition",
                argument.name,
                operand.c_type(),
                argument.ty.c
            )
        })
    })
}
