//! Parses tokens into blocks, assignments and types.

use super::lexer::{Lexer, Token};
use super::problem::Problem;

/// A statement of the outermost level.
#[derive(Debug)]
pub(super) enum Statement {
    /// `kind { items };`
    Block(Block),
    /// `typealias type := name;`
    Alias { name: String, line: usize, ty: Type },
}

/// `kind { items };`
#[derive(Debug)]
pub(super) struct Block {
    pub(super) kind: String,
    /// Its first line.
    pub(super) line: usize,
    pub(super) values: Vec<(String, Value)>,
    pub(super) types: Vec<(String, Type)>,
}

/// The right side of `=`.
#[derive(Debug)]
pub(super) enum Value {
    /// A word, or several separated by dots.
    Word(String),
    Number(i128),
    Text(String),
}

/// A type of the recorder's traces.
#[derive(Clone, Debug)]
pub(super) enum Type {
    Integer {
        bits: u64,
        align: u64,
        signed: bool,
        byte_order: Option<String>,
    },
    Text,
    Named(String),
    Struct(Vec<Member>),
    /// Ranges of numbers with names, and the type of the number.
    Enum {
        number: Box<Type>,
        ranges: Vec<Range>,
    },
    /// One of the options: the one whose name the field `selector` has.
    Variant {
        selector: String,
        options: Vec<Member>,
    },
}

/// A name, and the first and last number that have it.
pub(super) type Range = (String, u64, u64);

/// A member of a struct.
#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) ty: Type,
    /// The length of an array.
    pub(super) length: Option<u64>,
}

impl Block {
    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        self.values.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    pub(super) fn ty(&self, name: &str) -> Option<&Type> {
        self.types.iter().find(|(known, _)| known == name).map(|(_, ty)| ty)
    }

    /// Returns the number of the attribute `name`; `None` if it is absent.
    ///
    /// # Errors
    ///
    /// If it is not a number in the range of the result.
    pub(super) fn number<N: TryFrom<i128>>(&self, name: &str) -> Result<Option<N>, Problem> {
        let number = match self.value(name) {
            None => return Ok(None),
            Some(Value::Number(number)) => N::try_from(*number).ok(),
            Some(_) => None,
        };
        number.map(Some).ok_or_else(|| self.problem(format!("`{name}` of this {} is not a number in range", self.kind)))
    }

    /// Returns the word or string of the attribute `name`.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        match self.value(name)? {
            Value::Word(text) | Value::Text(text) => Some(text),
            Value::Number(_) => None,
        }
    }

    pub(super) fn problem(&self, reason: impl Into<String>) -> Problem {
        Problem { line: self.line, reason: reason.into() }
    }
}

/// The deepest nesting of types, that of the header of events: a struct in a variant in a struct.
const DEPTH: usize = 3;

/// Reads statement after statement. Types are nested at most [`DEPTH`] deep.
pub(super) struct Parser<'a> {
    lexer: Lexer<'a>,
    next: Token<'a>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str) -> Result<Self, Problem> {
        let mut lexer = Lexer::new(text);
        let next = lexer.next()?;
        Ok(Self { lexer, next })
    }

    /// Returns the next statement; `None` at the end of the text.
    pub(super) fn statement(&mut self) -> Result<Option<Statement>, Problem> {
        if self.next == Token::End {
            return Ok(None);
        }
        let line = self.lexer.line();
        let kind = self.word("a statement such as `event`")?;
        let statement = if kind == "typealias" {
            let ty = self.ty(0)?;
            self.expect(Token::TypeAssignment)?;
            Statement::Alias { name: self.word("the new name of the type")?, line, ty }
        } else {
            Statement::Block(self.block(kind, line, true)?)
        };
        self.expect(Token::Sign(';'))?;
        Ok(Some(statement))
    }

    /// `{ items }` after `kind`; with types only if `types` is set.
    fn block(&mut self, kind: String, line: usize, with_types: bool) -> Result<Block, Problem> {
        let (mut values, mut types) = (Vec::new(), Vec::new());
        self.expect(Token::Sign('{'))?;
        while self.next != Token::Sign('}') {
            let name = self.path()?;
            match self.advance()? {
                Token::Sign('=') => values.push((name, self.value()?)),
                Token::TypeAssignment if with_types => {
                    let depth = if name == "event.header" { DEPTH } else { 1 };
                    types.push((name, self.ty(depth)?));
                }
                _ => return Err(self.problem(format!("expected `=` after `{name}`"))),
            }
            self.expect(Token::Sign(';'))?;
        }
        self.expect(Token::Sign('}'))?;
        Ok(Block { kind, line, values, types })
    }

    fn value(&mut self) -> Result<Value, Problem> {
        match &self.next {
            Token::Number(number) => {
                let number = i128::from(*number);
                self.advance()?;
                Ok(Value::Number(number))
            }
            Token::Sign('-') => {
                self.advance()?;
                match self.advance()? {
                    Token::Number(number) => Ok(Value::Number(-i128::from(number))),
                    _ => Err(self.problem("expected a number after `-`")),
                }
            }
            Token::Text(text) => {
                let text = text.clone();
                self.advance()?;
                Ok(Value::Text(text))
            }
            _ => Ok(Value::Word(self.path()?)),
        }
    }

    /// Words separated by dots.
    fn path(&mut self) -> Result<String, Problem> {
        let mut path = self.word("a name or a value")?;
        while self.next == Token::Sign('.') {
            self.advance()?;
            path.push('.');
            path.push_str(&self.word("a name after `.`")?);
        }
        Ok(path)
    }

    /// A type that may contain types `depth` deep, itself included.
    fn ty(&mut self, depth: usize) -> Result<Type, Problem> {
        let word = self.word("a type")?;
        match word.as_str() {
            "integer" => {
                let line = self.lexer.line();
                integer(&self.block(word, line, false)?)
            }
            "string" => {
                if self.next == Token::Sign('{') {
                    let line = self.lexer.line();
                    self.block(word, line, false)?;
                }
                Ok(Type::Text)
            }
            "struct" if depth > 0 => self.members(depth - 1).map(Type::Struct),
            "enum" if depth > 0 => {
                self.expect(Token::Sign(':'))?;
                let number = Box::new(self.ty(0)?);
                Ok(Type::Enum { number, ranges: self.ranges()? })
            }
            "variant" if depth > 0 => {
                self.expect(Token::Sign('<'))?;
                let selector = self.word("the name of the field that selects")?;
                self.expect(Token::Sign('>'))?;
                Ok(Type::Variant { selector, options: self.members(depth - 1)? })
            }
            "struct" | "enum" | "variant" | "floating_point" => {
                Err(self.problem(format!("the recorder's traces have no such type here: `{word}`")))
            }
            _ => Ok(Type::Named(word)),
        }
    }

    /// `{ type name; type name[3]; }`
    fn members(&mut self, depth: usize) -> Result<Vec<Member>, Problem> {
        let mut members = Vec::new();
        self.expect(Token::Sign('{'))?;
        while self.next != Token::Sign('}') {
            let ty = self.ty(depth)?;
            let name = self.word("the name of a member")?;
            let mut length = None;
            if self.next == Token::Sign('[') {
                self.advance()?;
                match self.advance()? {
                    Token::Number(number) => length = Some(number),
                    _ => return Err(self.problem(format!("expected the length of the array `{name}`"))),
                }
                self.expect(Token::Sign(']'))?;
            }
            self.expect(Token::Sign(';'))?;
            members.push(Member { name, ty, length });
        }
        self.expect(Token::Sign('}'))?;
        Ok(members)
    }

    /// `{ name = 0 ... 7, name = 8 }`
    fn ranges(&mut self) -> Result<Vec<Range>, Problem> {
        let mut ranges = Vec::new();
        self.expect(Token::Sign('{'))?;
        while self.next != Token::Sign('}') {
            let name = self.word("the name of a number")?;
            self.expect(Token::Sign('='))?;
            let (first, mut last) = (self.number()?, None);
            if self.next == Token::Sign('.') {
                for _ in 0..3 {
                    self.expect(Token::Sign('.'))?;
                }
                last = Some(self.number()?);
            }
            ranges.push((name, first, last.unwrap_or(first)));
            if self.next != Token::Sign('}') {
                self.expect(Token::Sign(','))?;
            }
        }
        self.expect(Token::Sign('}'))?;
        Ok(ranges)
    }

    fn number(&mut self) -> Result<u64, Problem> {
        match self.advance()? {
            Token::Number(number) => Ok(number),
            _ => Err(self.problem("expected a number")),
        }
    }

    fn word(&mut self, what: &str) -> Result<String, Problem> {
        match self.next {
            Token::Word(word) => {
                self.advance()?;
                Ok(word.to_owned())
            }
            _ => Err(self.problem(format!("expected {what}, found {}", describe(&self.next)))),
        }
    }

    fn expect(&mut self, token: Token<'static>) -> Result<(), Problem> {
        if self.next != token {
            return Err(self.problem(format!("expected {}, found {}", describe(&token), describe(&self.next))));
        }
        self.advance().map(drop)
    }

    fn advance(&mut self) -> Result<Token<'a>, Problem> {
        let next = self.lexer.next()?;
        Ok(std::mem::replace(&mut self.next, next))
    }

    fn problem(&self, reason: impl Into<String>) -> Problem {
        Problem { line: self.lexer.line(), reason: reason.into() }
    }
}

fn integer(attributes: &Block) -> Result<Type, Problem> {
    let bits = attributes.number("size")?.ok_or_else(|| attributes.problem("this integer has no `size`"))?;
    let align = attributes.number("align")?.unwrap_or(if bits % 8 == 0 { 8 } else { 1 });
    let signed = match attributes.value("signed") {
        None => false,
        Some(Value::Number(number)) => *number != 0,
        Some(Value::Word(word) | Value::Text(word)) => matches!(word.as_str(), "true" | "TRUE"),
    };
    Ok(Type::Integer { bits, align, signed, byte_order: attributes.text("byte_order").map(str::to_owned) })
}

fn describe(token: &Token<'_>) -> String {
    match token {
        Token::Word(word) => format!("`{word}`"),
        Token::Number(number) => format!("`{number}`"),
        Token::Text(text) => format!("the string {text:?}"),
        Token::Sign(sign) => format!("`{}`", sign.escape_debug()),
        Token::TypeAssignment => "`:=`".to_owned(),
        Token::End => "the end of the text".to_owned(),
    }
}
