//! Why code was not changed.

use super::load_error::LoadError;

/// Why code was not loaded, upgraded or purged. What was in force stays in force.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A module was not loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// Two versions of one module in one finish.
    #[error("finishing module {module}: two of its versions at once; leave out one of them")]
    Twice {
        /// The module.
        module: String,
    },
    /// The module has an old version yet, and can have one only.
    #[error(
        "{doing} module {module}: version {old} is still the old one; purge it first (`code::purge`, `dyntrace code purge`)"
    )]
    OldInUse {
        /// What was being done.
        doing: &'static str,
        /// The module.
        module: String,
        /// Its old version.
        old: String,
    },
    /// A module calls an export that nobody has.
    #[error("finishing module {by}: it imports {module}::{export}, {wanted}, {}", found(has))]
    Import {
        /// The module that imports it.
        by: String,
        /// The module that would export it.
        module: String,
        /// The export.
        export: String,
        /// The signature that it is imported with.
        wanted: String,
        /// The signature that it is exported with, if it is at all.
        has: Option<String>,
    },
    /// As many versions are loaded and not purged as can be.
    #[error(
        "preparing a module while {most} versions of modules are not purged yet; purge those that are needed no more"
    )]
    TooManyVersions {
        /// How many there can be.
        most: usize,
    },
    /// No module of that name is current.
    #[error("{doing} module {module}: no version of it is {which}")]
    NoModule {
        /// What was being done.
        doing: &'static str,
        /// The module.
        module: String,
        /// Current or old.
        which: &'static str,
    },
    /// The module has no export of that name.
    #[error("looking for {module}::{export}: version {version} does not export it{}", meant(near))]
    NoExport {
        /// The module.
        module: String,
        /// Its current version.
        version: String,
        /// The export.
        export: String,
        /// Names of exports that may have been meant.
        near: Vec<String>,
    },
    /// The export has another signature than the caller has it.
    #[error("looking for {module}::{export} as {wanted}: it is {has}, or a type in it has other fields there")]
    Signature {
        /// The module.
        module: String,
        /// The export.
        export: String,
        /// The signature that the caller has.
        wanted: String,
        /// The signature that it has.
        has: String,
    },
    /// The calling thread is inside a [`View::with`](crate::code::View::with), which the change would wait for.
    #[error(
        "changing what is loaded inside `code::View::with`, which the change would wait for; return from the closure first"
    )]
    InView,
    /// Somebody uses the old version still.
    #[error("purging module {module}: version {old} is in use by {inside}")]
    InUse {
        /// The module.
        module: String,
        /// Its old version.
        old: String,
        /// Who is inside.
        inside: String,
    },
}

fn found(has: &Option<String>) -> String {
    match has {
        None => "which no module exports; finish that one together with it".into(),
        Some(has) => format!("which is exported as {has}; compile both against the same types"),
    }
}

fn meant(near: &[String]) -> String {
    match near {
        [] => String::new(),
        near => format!("; near it: {}", near.join(", ")),
    }
}
