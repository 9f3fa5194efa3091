//! The parser: D text to [`model`](crate::model), by recursive descent over the [`lexer`]'s tokens.
//!
//! ```text
//! file       = provider
//! provider   = "provider" name "{" probe+ "}" ";"
//! probe      = "probe" name "(" [ "void" | parameter ("," parameter)* ] ")" ";"
//! parameter  = type [name]
//! ```
//!
//! and the lines `#pragma D attributes NAME/DATA/CLASS provider name PART`, anywhere.

use crate::doc::{self, Doc};
use crate::error::{Error, Problem};
use crate::lexer::{self, Located, Token};
use crate::model::{Argument, MAX_ARGUMENTS, PRIVATE, Probe, Provider, Type};
use crate::names;
use crate::types;

/// Reads the definition `text`. Errors call it `file_name`.
///
/// # Errors
///
/// [`Error::Definition`] with the first thing that is wrong in `text`.
pub fn parse(text: &str, file_name: &str) -> Result<Provider, Error> {
    let read = || {
        let (tokens, pragmas) = lexer::tokens(text)?;
        let mut provider = Parser { text, tokens, place: 0 }.file()?;
        for pragma in pragmas {
            attributes(pragma.text, &mut provider)
                .ok_or_else(|| (pragma.start, Problem::Attributes { provider: provider.name.clone() }))?;
        }
        Ok(provider)
    };
    read().map_err(|(at, problem)| Error::at(text, at, file_name, problem))
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<Token<'t>>,
    /// The index of the next token.
    place: usize,
}

impl<'t> Parser<'t> {
    fn file(mut self) -> Result<Provider, Located> {
        let provider = self.provider()?;
        if self.next_is("provider") {
            self.place += 1;
            let name = self.name()?;
            return Err((name.start, Problem::SecondProvider { name: name.text.to_owned() }));
        }
        match self.peek() {
            None => Ok(provider),
            Some(_) => Err(self.missing("the end of the file or a provider")),
        }
    }

    fn provider(&mut self) -> Result<Provider, Located> {
        let keyword = self.take("provider", "a provider")?;
        let name = self.name()?;
        names::check_provider(name.text).map_err(|problem| (name.start, problem))?;
        self.take("{", "`{`")?;
        if let Some(brace) = self.peek().filter(|next| next.text == "}") {
            return Err((brace.start, Problem::EmptyProvider));
        }
        let mut names = Vec::new();
        let mut probes = Vec::new();
        while probes.is_empty() || !self.next_is("}") {
            let (name, probe) = self.probe(if probes.is_empty() { "a probe" } else { "a probe or `}`" })?;
            names.push((name.text, name.start));
            probes.push(probe);
        }
        self.take("}", "`}`")?;
        self.semicolon()?;
        names::check_probes(self.text, names.into_iter())?;
        Ok(Provider { name: name.text.to_owned(), doc: doc::of(keyword.doc).rest(), attributes: PRIVATE, probes })
    }

    /// Reads a probe. If none begins here, the error says that `expected` is missing.
    fn probe(&mut self, expected: &str) -> Result<(Token<'t>, Probe), Located> {
        let keyword = self.take("probe", expected)?;
        let name = self.name()?;
        self.take("(", "`(`")?;
        let mut doc = doc::of(keyword.doc);
        let arguments = self.arguments(&mut doc)?;
        self.semicolon()?;
        Ok((name, Probe { name: name.text.to_owned(), doc: doc.rest(), arguments }))
    }

    /// Reads a probe's parameters, up to the closing parenthesis.
    fn arguments(&mut self, doc: &mut Doc) -> Result<Vec<Argument>, Located> {
        let mut arguments: Vec<Argument> = Vec::new();
        let mut one_too_many = None;
        loop {
            let (parameter, sign) = self.parameter()?;
            let is_only = arguments.is_empty() && sign.text == ")";
            match parameter.as_slice() {
                [] if is_only => {}
                [void] if is_only && void.text == "void" => {}
                [] => return Err((sign.start, unexpected("a type", Some(sign)))),
                [first, ..] => {
                    let argument = argument(&parameter, &arguments).map_err(|problem| (first.start, problem))?;
                    if arguments.len() == MAX_ARGUMENTS {
                        one_too_many = Some(first.start);
                    }
                    arguments.push(argument);
                }
            }
            if sign.text == ")" {
                break;
            }
        }
        if let Some(at) = one_too_many {
            return Err((at, Problem::TooManyArguments { count: arguments.len() }));
        }
        for argument in &mut arguments {
            argument.doc = doc.take_parameter(&argument.name);
        }
        Ok(arguments)
    }

    /// Reads the tokens of one parameter, and the sign behind it: `,` or `)`.
    fn parameter(&mut self) -> Result<(Vec<Token<'t>>, Token<'t>), Located> {
        let mut parameter = Vec::new();
        loop {
            match self.peek() {
                Some(token) if token.is_word() || ["*", "[", "]"].contains(&token.text) => parameter.push(token),
                Some(token) if [",", ")"].contains(&token.text) => {
                    self.place += 1;
                    return Ok((parameter, token));
                }
                _ if parameter.is_empty() => return Err(self.missing("a type")),
                _ => return Err(self.missing("`,` or `)`")),
            }
            self.place += 1;
        }
    }

    fn name(&mut self) -> Result<Token<'t>, Located> {
        match self.peek() {
            Some(token) if token.text.starts_with(|c: char| c.is_ascii_alphabetic()) => {
                self.place += 1;
                Ok(token)
            }
            _ => Err(self.missing("a name (a letter, then letters, digits and `_`)")),
        }
    }

    fn semicolon(&mut self) -> Result<(), Located> {
        // It is missing behind the last token, maybe lines before the next one.
        let end = self.tokens[self.place - 1].end();
        self.take(";", "`;`").map(drop).map_err(|(_, problem)| (end, problem))
    }

    fn take(&mut self, text: &str, expected: &str) -> Result<Token<'t>, Located> {
        match self.peek() {
            Some(token) if token.text == text => {
                self.place += 1;
                Ok(token)
            }
            _ => Err(self.missing(expected)),
        }
    }

    fn next_is(&self, text: &str) -> bool {
        self.peek().is_some_and(|next| next.text == text)
    }

    fn peek(&self) -> Option<Token<'t>> {
        self.tokens.get(self.place).copied()
    }

    fn missing(&self, expected: &str) -> Located {
        let found = self.peek();
        (found.map_or(self.text.len(), |token| token.start), unexpected(expected, found))
    }
}

/// The stabilities and the classes of dependency, by DTrace's numbers.
const STABILITIES: [&str; 8] =
    ["Internal", "Private", "Obsolete", "External", "Unstable", "Evolving", "Stable", "Standard"];
const CLASSES: [&str; 6] = ["Unknown", "CPU", "Platform", "Group", "ISA", "Common"];
/// The parts of a provider that have attributes, in DTrace's order.
const PARTS: [&str; 5] = ["provider", "module", "function", "name", "args"];

/// Reads the attributes from a `#pragma` line; `None` if there is an error in them. Other lines are DTrace's own business.
fn attributes(pragma: &str, provider: &mut Provider) -> Option<()> {
    let words: Vec<&str> = pragma.trim_start_matches('#').split_ascii_whitespace().collect();
    let ["pragma", "D", "attributes", ref words @ ..] = words[..] else { return Some(()) };
    let &[attributes, "provider", name, part] = words else { return None };
    let part = PARTS.iter().position(|of| *of == part).filter(|_| name == provider.name)?;
    let number = |words: &[&str], word: &str| words.iter().position(|of| of.eq_ignore_ascii_case(word));
    let mut three = attributes.split('/');
    let mut next = |words: &[&str]| Some(number(words, three.next()?)? as u8);
    let read = [next(&STABILITIES)?, next(&STABILITIES)?, next(&CLASSES)?];
    if three.next().is_some() {
        return None;
    }
    provider.attributes[part] = read;
    Some(())
}

/// Converts the tokens of a parameter, which comes after `others`, to an argument.
fn argument(parameter: &[Token<'_>], others: &[Argument]) -> Result<Argument, Problem> {
    let (name, ty) = split(parameter);
    let kind = types::kind(ty)?;
    let name = names::parameter(name.map(|name| name.text), others.len());
    if others.iter().any(|other| names::identifier(&other.name) == names::identifier(&name)) {
        return Err(Problem::DuplicateParameter { name });
    }
    Ok(Argument { name, ty: Type { c: types::spelling(ty), kind }, doc: String::new() })
}

/// Splits a parameter into name and type. The name is the last word, if it is no part of the type.
fn split<'p, 't>(parameter: &'p [Token<'t>]) -> (Option<Token<'t>>, &'p [Token<'t>]) {
    match parameter {
        [ty @ .., last] if !ty.is_empty() && last.is_word() && !types::is_type_word(last.text) => (Some(*last), ty),
        ty => (None, ty),
    }
}

fn unexpected(expected: &str, found: Option<Token<'_>>) -> Problem {
    let visible = |token: Token<'_>| match token.text {
        text if text.chars().all(|c| c.is_ascii_graphic()) => format!("`{text}`"),
        text => format!("`{}`", text.escape_debug()),
    };
    let found = found.map_or("the end of the file".to_owned(), visible);
    Problem::Unexpected { expected: expected.to_owned(), found }
}
