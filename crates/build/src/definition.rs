//! The parser: D text to [`model`](crate::model).
//!
//! dtrace-parser holds the grammar, but knows no comments of ours, no parameter names and no `int`. So its input is
//! made of the file: the same tokens without these, each type in a spelling that it knows ([`Normal`]). What it reads
//! is joined again with the names and comments, which were kept aside ([`Declaration`]), and an error it finds is put
//! at the token of the file.

use dtrace_parser::{BitWidth, DTraceError, DataType, File, Integer, Sign};
use pest::error::InputLocation;

use crate::doc;
use crate::error::{self, Error, Problem};
use crate::lexer::{self, Located, Token};
use crate::model::{Argument, Kind, MAX_ARGUMENTS, Probe, Provider, Type};
use crate::names;
use crate::types;

/// Reads the definition `text`. `file_name` is what errors call it.
///
/// # Errors
///
/// [`Error::Definition`] with the first thing that is wrong in `text`.
pub fn parse(text: &str, file_name: &str) -> Result<Provider, Error> {
    read(text).map_err(|(at, problem)| Error::at(text, at, file_name, problem))
}

fn read(text: &str) -> Result<Provider, Located> {
    let normal = Normal::of(text)?;
    let file = File::try_from(normal.text.as_str()).map_err(|error| normal.locate(error, text))?;
    let provider = match file.providers().as_slice() {
        [provider] => provider,
        [] => return Err((text.len(), unexpected("a provider", None))),
        [_, second, ..] => {
            return Err((normal.providers[1].name.start, Problem::SecondProvider { name: second.name.clone() }));
        }
    };

    let declared = &normal.providers[0];
    names::check_provider(&provider.name).map_err(|problem| (declared.name.start, problem))?;
    names::check_probes(text, normal.probes.iter().map(|probe| (probe.name.text, probe.name.start)))?;
    let probes = provider.probes.iter().zip(&normal.probes).map(|(read, declared)| probe(read, declared));
    Ok(Provider {
        name: provider.name.clone(),
        doc: doc::of(declared.doc).rest(),
        probes: probes.collect::<Result<_, _>>()?,
    })
}

/// Joins what dtrace-parser read of a probe with the names and comments.
fn probe(read: &dtrace_parser::Probe, declared: &Declaration<'_>) -> Result<Probe, Located> {
    if read.types.len() > MAX_ARGUMENTS {
        let at = declared.parameters[MAX_ARGUMENTS].at;
        return Err((at, Problem::TooManyArguments { count: read.types.len() }));
    }
    let mut doc = doc::of(declared.doc);
    let arguments = read.types.iter().zip(&declared.parameters).map(|(ty, parameter)| Argument {
        name: parameter.name.clone(),
        ty: Type { c: parameter.c.clone(), kind: kind(ty) },
        doc: doc.take_parameter(&parameter.name),
    });
    let arguments = arguments.collect();
    Ok(Probe { name: read.name.clone(), doc: doc.rest(), arguments })
}

/// What a tracer gets for a type.
fn kind(ty: &DataType) -> Kind {
    match ty {
        DataType::Integer(Integer { sign: Sign::Signed, width: BitWidth::Bit64 | BitWidth::Pointer }) => Kind::I64,
        DataType::Integer(Integer { sign: Sign::Unsigned, width: BitWidth::Bit64 | BitWidth::Pointer }) => Kind::U64,
        DataType::Integer(Integer { sign: Sign::Signed, .. }) => Kind::I32,
        DataType::Integer(Integer { sign: Sign::Unsigned, .. }) => Kind::U32,
        DataType::Pointer(_) => Kind::U64,
        DataType::String => Kind::Text,
    }
}

/// A provider or probe as the file has it.
struct Declaration<'t> {
    name: Token<'t>,
    doc: &'t str,
    parameters: Vec<Parameter>,
}

struct Parameter {
    name: String,
    /// The type as the file spells it.
    c: String,
    /// Where it begins.
    at: usize,
}

/// The file as dtrace-parser reads it, and what it does not read.
#[derive(Default)]
struct Normal<'t> {
    text: String,
    /// Where each token of `text` begins, there and in the file.
    places: Vec<(usize, Token<'t>)>,
    providers: Vec<Declaration<'t>>,
    probes: Vec<Declaration<'t>>,
}

impl<'t> Normal<'t> {
    fn of(text: &'t str) -> Result<Self, Located> {
        let tokens = lexer::tokens(text)?;
        let mut normal = Self::default();
        let mut tokens = tokens.iter().copied().peekable();
        while let Some(token) = tokens.next() {
            if !token.is_word() {
                normal.push(token, token.text);
                continue;
            }
            let declared = match token.text {
                "provider" => &mut normal.providers,
                "probe" => &mut normal.probes,
                // No other word begins anything; nor does `_`. The word itself would not do: the grammar takes
                // `probea` for `probe a`.
                _ => {
                    normal.push(token, "_");
                    continue;
                }
            };
            let Some(name) = tokens.next_if(Token::is_word) else {
                normal.push(token, token.text);
                continue;
            };
            declared.push(Declaration { name, doc: token.doc, parameters: Vec::new() });
            normal.push(token, token.text);
            normal.push(name, name.text);
            if let Some(open) = tokens.next_if(|next| token.text == "probe" && next.text == "(") {
                normal.push(open, "(");
                normal.parameters(&mut tokens, text.len())?;
            }
        }
        Ok(normal)
    }

    /// Reads the parameters of the last probe, up to the closing parenthesis.
    fn parameters(&mut self, tokens: &mut impl Iterator<Item = Token<'t>>, end: usize) -> Result<(), Located> {
        let mut parameters: Vec<Parameter> = Vec::new();
        loop {
            let mut parameter = Vec::new();
            let sign = loop {
                match tokens.next() {
                    Some(token) if token.is_word() || ["*", "[", "]"].contains(&token.text) => parameter.push(token),
                    Some(token) if [",", ")"].contains(&token.text) => break token,
                    other => {
                        let expected = if parameter.is_empty() { "a type" } else { "`,` or `)`" };
                        return Err((other.map_or(end, |token| token.start), unexpected(expected, other)));
                    }
                }
            };
            let none = parameters.is_empty() && sign.text == ")";
            match parameter.as_slice() {
                [] if none => {}
                [void] if none && void.text == "void" => {}
                [] => return Err((sign.start, unexpected("a type", Some(sign)))),
                [first, ..] => {
                    let (name, ty) = split(&parameter);
                    let normal = types::normalise(ty).map_err(|problem| (first.start, problem))?;
                    let name = names::parameter(name.map(|name| name.text), parameters.len());
                    if parameters.iter().any(|other| names::identifier(&other.name) == names::identifier(&name)) {
                        return Err((first.start, Problem::DuplicateParameter { name }));
                    }
                    self.push(*first, normal);
                    parameters.push(Parameter { name, c: types::spelling(ty), at: first.start });
                }
            }
            self.push(sign, sign.text);
            if sign.text == ")" {
                break;
            }
        }
        if let Some(probe) = self.probes.last_mut() {
            probe.parameters = parameters;
        }
        Ok(())
    }

    /// Adds `token`, spelled as dtrace-parser knows it.
    fn push(&mut self, token: Token<'t>, spelling: &str) {
        self.places.push((self.text.len(), token));
        self.text.push_str(spelling);
        self.text.push(' ');
    }

    /// Says in words of the file what dtrace-parser says of the normalised text.
    fn locate(&self, error: DTraceError, text: &str) -> Located {
        let of_name = |declared: &[Declaration<'t>], name: &str| {
            let place = declared.iter().find(|declared| declared.name.text == name);
            place.map_or(0, |declared| declared.name.start)
        };
        match error {
            DTraceError::ParseError(error) => {
                let (InputLocation::Pos(at) | InputLocation::Span((at, _))) = error.location;
                self.locate_unexpected(at, &error.variant.message(), text)
            }
            DTraceError::DuplicateProbeName((_, name)) => {
                let mut places = self.probes.iter().map(|probe| probe.name).filter(|token| token.text == name);
                let first = places.next().map_or(0, |token| token.start);
                let again = places.next().map_or(first, |token| token.start);
                (again, Problem::DuplicateProbe { name, first_line: error::line(text, first) })
            }
            DTraceError::InvalidProviderName(name) => {
                (of_name(&self.providers, &name), Problem::ProviderName { name, reason: names::RESERVED })
            }
            DTraceError::InvalidProbeName(name) => {
                (of_name(&self.probes, &name), Problem::ProbeName { name, reason: names::RESERVED })
            }
            other => (0, unexpected(&format!("a provider ({other})"), None)),
        }
    }

    /// The grammar wants what the rules in `message` stand for at byte `at` of the normalised text.
    fn locate_unexpected(&self, at: usize, message: &str, text: &str) -> Located {
        let next = self.places.partition_point(|(place, _)| *place < at);
        let found = self.places.get(next).map(|(_, token)| *token);
        let before = next.checked_sub(1).map(|before| self.places[before].1);
        let expected: Vec<&str> =
            message.split(|c: char| !c.is_ascii_uppercase() && c != '_').filter_map(in_words).collect();
        match (expected.as_slice(), found, before) {
            (["a probe"], Some(found), _) if found.text == "}" => (found.start, Problem::EmptyProvider),
            // What is missing is missing behind the last token, maybe lines before the next one.
            (["`;`"], found, Some(before)) => (before.end(), unexpected("`;`", found)),
            (expected, found, _) => {
                (found.map_or(text.len(), |token| token.start), unexpected(&expected.join(" or "), found))
            }
        }
    }
}

/// Splits a parameter into name and type. The name is the last word, if it is no part of the type.
fn split<'p, 't>(parameter: &'p [Token<'t>]) -> (Option<Token<'t>>, &'p [Token<'t>]) {
    match parameter {
        [ty @ .., last] if !ty.is_empty() && last.is_word() && !types::is_type_word(last.text) => (Some(*last), ty),
        ty => (None, ty),
    }
}

/// The names of dtrace-parser's rules in words. Pragmas are taken out before.
fn in_words(rule: &str) -> Option<&'static str> {
    Some(match rule {
        "FILE" | "PROVIDER" | "PROVIDER_KEY" => "a provider",
        "PROBE" | "PROBE_KEY" => "a probe",
        "IDENTIFIER" => "a name (a letter, then letters, digits and `_`)",
        "LEFT_BRACE" => "`{`",
        "RIGHT_BRACE" => "`}`",
        "LEFT_PAREN" => "`(`",
        "RIGHT_PAREN" => "`)`",
        "SEMICOLON" => "`;`",
        "EOI" => "the end of the file",
        _ => return None,
    })
}

fn unexpected(expected: &str, found: Option<Token<'_>>) -> Problem {
    let visible = |token: Token<'_>| match token.text {
        text if text.chars().all(|c| c.is_ascii_graphic()) => format!("`{text}`"),
        text => format!("`{}`", text.escape_debug()),
    };
    let found = found.map_or("the end of the file".to_owned(), visible);
    Problem::Unexpected { expected: expected.to_owned(), found }
}
