//! Errors in provider definitions.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::model::MAX_ARGUMENTS;

/// An error of compiling a provider definition. Its message is one line and says what to do.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The definition could not be read.
    Read {
        /// The definition.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The Rust file could not be written.
    Write {
        /// The Rust file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The definition has an error.
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

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Read { path, error } => {
                write!(f, "{}: cannot read the provider definition: {error}", path.display())
            }
            Error::Write { path, error } => write!(f, "{}: cannot write the probe functions: {error}", path.display()),
            Error::Definition { file, line, column, problem } => write!(f, "{file}:{line}:{column}: {problem}"),
        }
    }
}

impl std::error::Error for Error {}

/// A problem in a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// Bytes that are not UTF-8.
    NotUtf8,
    /// A comment without an end.
    UnterminatedComment,
    /// A line for the C preprocessor.
    Preprocessor,
    /// A line of attributes that DTrace would refuse, or of another provider.
    Attributes {
        /// The file's provider.
        provider: String,
    },
    /// A token that the grammar does not allow there.
    Unexpected {
        /// The expected token.
        expected: String,
        /// The found token, in backticks, or `the end of the file`.
        found: String,
    },
    /// A provider without probes.
    EmptyProvider,
    /// A second provider.
    SecondProvider {
        /// The second provider.
        name: String,
    },
    /// A provider name that a tracer or Rust does not accept.
    ProviderName {
        /// The name.
        name: String,
        /// The reason.
        reason: &'static str,
    },
    /// A probe name that a tracer or Rust does not accept.
    ProbeName {
        /// The name.
        name: String,
        /// The reason.
        reason: &'static str,
    },
    /// Two probes with one name.
    DuplicateProbe {
        /// The name.
        name: String,
        /// The line of the first one.
        first_line: usize,
    },
    /// Two probes whose functions or modules would have one name in Rust.
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
    DuplicateParameter {
        /// The name.
        name: String,
    },
    /// More arguments than tracers accept.
    TooManyArguments {
        /// The number of arguments.
        count: usize,
    },
    /// A floating-point argument.
    FloatingPoint {
        /// The type.
        found: String,
        /// An integer type of the same size.
        instead: &'static str,
    },
    /// A pointer to another type than `char`.
    Pointer {
        /// The type.
        found: String,
    },
    /// A type that probes cannot have.
    Type {
        /// The type.
        found: String,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::NotUtf8 => write!(f, "expected text in UTF-8, found other bytes; save the file as UTF-8"),
            Problem::UnterminatedComment => write!(f, "expected `*/`: this comment never ends"),
            Problem::Preprocessor => write!(
                f,
                "expected `#pragma`, found another `#` line; no preprocessor runs over this file, write out what it would have made"
            ),
            Problem::Attributes { provider } => write!(
                f,
                "expected `#pragma D attributes NAME/DATA/CLASS provider {provider} PART`, as `Evolving/Evolving/Common`; PART is provider, module, function, name or args"
            ),
            Problem::Unexpected { expected, found } => write!(f, "expected {expected}, found {found}"),
            Problem::EmptyProvider => write!(f, "expected a probe, found `}}`; a provider has at least one"),
            Problem::SecondProvider { name } => {
                write!(f, "expected the end of the file, found the second provider `{name}`; give it a file of its own")
            }
            Problem::ProviderName { name, reason } => {
                write!(f, "expected the name of a provider, found `{name}`: {reason}")
            }
            Problem::ProbeName { name, reason } => write!(f, "expected the name of a probe, found `{name}`: {reason}"),
            Problem::DuplicateProbe { name, first_line } => write!(
                f,
                "expected another name, found the probe `{name}` for the second time; the first is in line {first_line}"
            ),
            Problem::RustNameTaken { name, rust, other, other_line } => write!(
                f,
                "expected another name: in Rust the probe `{name}`, there `{rust}`, and the probe `{other}` of line {other_line} get into each other's way; rename one of them"
            ),
            Problem::DuplicateParameter { name } => {
                write!(f, "expected another name, found the parameter `{name}` for the second time")
            }
            Problem::TooManyArguments { count } => write!(
                f,
                "expected at most {MAX_ARGUMENTS} arguments, found {count}; tracers take no more, so make two probes of it"
            ),
            Problem::FloatingPoint { found, instead } => write!(
                f,
                "expected an integer or `char *`, found `{found}`: tracers read no floating-point registers; pass the bits as `{instead}`"
            ),
            Problem::Pointer { found } => write!(
                f,
                "expected an integer or `char *`, found the pointer `{found}`; pass the address as `uintptr_t`"
            ),
            Problem::Type { found } => write!(
                f,
                "expected an integer type such as `int`, `unsigned long` or `uint32_t`, or `char *`, found `{found}`"
            ),
        }
    }
}

impl std::error::Error for Problem {}

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
