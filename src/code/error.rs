//! Errors of changes and look-ups.

use super::load_error::LoadError;

/// Why code was not loaded, upgraded, purged or found. Nothing has changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A module was not loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// Two versions of one module are in one finish.
    #[error("cannot finish module {module}: two of its versions are in one finish; leave out one of them")]
    Twice {
        /// The module.
        module: String,
    },
    /// The module still has an old version, and can have only one.
    #[error(
        "cannot {doing} module {module}: its old version {old} is not purged; purge it first (`code::purge`, `dyntrace code purge`)"
    )]
    OldInUse {
        /// The failed change or look-up.
        doing: &'static str,
        /// The module.
        module: String,
        /// Its old version.
        old: String,
    },
    /// A module imports an export that does not exist.
    #[error("cannot finish module {by}: it imports {module}::{export}, {wanted}, {}", found(has))]
    Import {
        /// The importing module.
        by: String,
        /// The module that should export it.
        module: String,
        /// The export.
        export: String,
        /// The signature of the import.
        wanted: String,
        /// The signature of the export, if there is one.
        has: Option<String>,
    },
    /// The limit of versions that are not purged is reached.
    #[error(
        "cannot prepare a module: {most} versions of modules are not purged; purge those that are no longer needed"
    )]
    TooManyVersions {
        /// The limit.
        most: usize,
    },
    /// The module has no such version.
    #[error("cannot {doing} module {module}: it has no {which} version")]
    NoModule {
        /// The failed change or look-up.
        doing: &'static str,
        /// The module.
        module: String,
        /// `current` or `loaded`.
        which: &'static str,
    },
    /// The module has no export of that name.
    #[error("cannot find {module}::{export}: version {version} does not export it{}", meant(near))]
    NoExport {
        /// The module.
        module: String,
        /// Its current version.
        version: String,
        /// The export.
        export: String,
        /// Exports with similar names.
        near: Vec<String>,
    },
    /// The export has another signature than the caller's.
    #[error("cannot find {module}::{export} as {wanted}: it is {has}, or a type in it has other fields there")]
    Signature {
        /// The module.
        module: String,
        /// The export.
        export: String,
        /// The caller's signature.
        wanted: String,
        /// The export's signature.
        has: String,
    },
    /// The calling thread is inside [`View::with`](crate::code::View::with), for which the change would wait.
    #[error(
        "cannot change code inside `code::View::with`: the change would wait for the view; return from the closure first"
    )]
    InView,
    /// The old version is in use.
    #[error("cannot purge module {module}: version {old} is in use by {inside}")]
    InUse {
        /// The module.
        module: String,
        /// Its old version.
        old: String,
        /// Its users.
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
