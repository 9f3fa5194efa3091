//! Errors in provider definitions.

use std::io;
use std::path::PathBuf;

use crate::model::MAX_ARGUMENTS;

/// An error of compiling a provider definition. Its message is one line and says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The definition could not be read.
    #[error("{}: cannot read the provider definition: {error}", path.display())]
    Read {
        /// The definition.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The Rust file could not be written.
    #[error("{}: cannot write the probe functions: {error}", path.display())]
    Write {
        /// The Rust file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The definition has an error.
    #[error("{file}:{line}:{column}: {problem}")]
    Definition {
        /// The definition's name, as it was given.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
        /// The problem there.
        problem: Problem,
    },
}

/// A problem in a definition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// Bytes that are not UTF-8.
    #[error("expected text in UTF-8, found other bytes; save the file as UTF-8")]
    NotUtf8,
    /// A comment without an end.
    #[error("expected `*/`: this comment never ends")]
    UnterminatedComment,
    /// A line for the C preprocessor.
    #[error(
        "expected `#pragma`, found another `#` line; no preprocessor runs over this file, write out what it would have made"
    )]
    Preprocessor,
    /// A line of attributes that DTrace would refuse, or of another provider.
    #[error(
        "expected `#pragma D attributes NAME/DATA/CLASS provider {provider} PART`, as `Evolving/Evolving/Common`; PART is provider, module, function, name or args"
    )]
    Attributes {
        /// The file's provider.
        provider: String,
    },
    /// A token that the grammar does not allow there.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// The expected token.
        expected: String,
        /// The found token, in backticks, or `the end of the file`.
        found: String,
    },
    /// A provider without probes.
    #[error("expected a probe, found `}}`; a provider has at least one")]
    EmptyProvider,
    /// A second provider.
    #[error("expected the end of the file, found the second provider `{name}`; give it a file of its own")]
    SecondProvider {
        /// The second provider.
        name: String,
    },
    /// A provider name that a tracer or Rust does not accept.
    #[error("expected the name of a provider, found `{name}`: {reason}")]
    ProviderName {
        /// The name.
        name: String,
        /// The reason.
        reason: &'static str,
    },
    /// A probe name that a tracer or Rust does not accept.
    #[error("expected the name of a probe, found `{name}`: {reason}")]
    ProbeName {
        /// The name.
        name: String,
        /// The reason.
        reason: &'static str,
    },
    /// Two probes with one name.
    #[error("expected another name, found the probe `{name}` for the second time; the first is in line {first_line}")]
    DuplicateProbe {
        /// The name.
        name: String,
        /// The line of the first one.
        first_line: usize,
    },
    /// Two probes whose functions or modules would have one name in Rust.
    #[error(
        "expected another name: in Rust the probe `{name}`, there `{rust}`, and the probe `{other}` of line {other_line} get into each other's way; rename one of them"
    )]
    RustNameTaken {
        /// The second probe.
        name: String,
        /// Its name in Rust.
        rust: String,
        /// The first probe.
        other: String,
        /// The line of the first one.
        other_line: usize,
    },
    /// Two parameters with one name.
    #[error("expected another name, found the parameter `{name}` for the second time")]
    DuplicateParameter {
        /// The name.
        name: String,
    },
    /// More arguments than tracers accept.
    #[error(
        "expected at most {MAX_ARGUMENTS} arguments, found {count}; tracers take no more, so make two probes of it"
    )]
    TooManyArguments {
        /// The number of arguments.
        count: usize,
    },
    /// A floating-point argument.
    #[error(
        "expected an integer or `char *`, found `{found}`: tracers read no floating-point registers; pass the bits as `{instead}`"
    )]
    FloatingPoint {
        /// The type.
        found: String,
        /// An integer type of the same size.
        instead: &'static str,
    },
    /// A pointer to another type than `char`.
    #[error("expected an integer or `char *`, found the pointer `{found}`; pass the address as `uintptr_t`")]
    Pointer {
        /// The type.
        found: String,
    },
    /// A type that probes cannot have.
    #[error("expected an integer type such as `int`, `unsigned long` or `uint32_t`, or `char *`, found `{found}`")]
    Type {
        /// The type.
        found: String,
    },
}

impl Error {
    /// Returns the problem at byte `at` of `text`.
    pub(crate) fn at(text: &str, at: usize, file: &str, problem: Problem) -> Self {
        let before = &text[..at];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Error::Definition {
            file: file.to_owned(),
            line: line(text, at),
            column: before[line_start..].chars().count() + 1,
            problem,
        }
    }

    /// Returns the error for the first byte that is not UTF-8, at `valid_up_to`.
    pub(crate) fn not_utf8(bytes: &[u8], valid_up_to: usize, file: &str) -> Self {
        let before = String::from_utf8_lossy(&bytes[..valid_up_to]);
        Self::at(&before, before.len(), file, Problem::NotUtf8)
    }
}

/// Returns the line of byte `at` of `text`, from 1.
pub(crate) fn line(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}
