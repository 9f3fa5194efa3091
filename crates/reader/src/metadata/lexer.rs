//! Splits text into words, numbers, strings and signs.

use super::problem::Problem;

/// A token of TSDL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// An identifier or a keyword.
    Word(&'a str),
    /// A number without its sign.
    Number(u64),
    /// A string, without its quotes and escapes.
    Text(String),
    /// A character with a meaning of its own.
    Sign(char),
    /// `:=`
    TypeAssignment,
    /// The end of the text.
    End,
}

/// Reads token after token.
pub(super) struct Lexer<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text, line: 1 }
    }

    /// Returns the line of the next token, or of the end of the last one before white space.
    pub(super) fn line(&self) -> usize {
        self.line
    }

    /// Returns the next token; at the end, always [`Token::End`].
    pub(super) fn next(&mut self) -> Result<Token<'a>, Problem> {
        self.skip_blanks()?;
        let Some(first) = self.rest.chars().next() else { return Ok(Token::End) };
        if first == '"' {
            return self.text();
        }
        if first.is_ascii_digit() {
            return self.number();
        }
        if is_word(first) {
            let length = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
            return Ok(Token::Word(self.take(length)));
        }
        if self.rest.starts_with(":=") {
            self.take(2);
            return Ok(Token::TypeAssignment);
        }
        self.take(first.len_utf8());
        Ok(Token::Sign(first))
    }

    fn skip_blanks(&mut self) -> Result<(), Problem> {
        loop {
            let blanks = self.rest.find(|c: char| !c.is_ascii_whitespace()).unwrap_or(self.rest.len());
            self.take(blanks);
            if self.rest.starts_with("//") {
                let length = self.rest.find('\n').unwrap_or(self.rest.len());
                self.take(length);
            } else if self.rest.starts_with("/*") {
                match self.rest[2..].find("*/") {
                    Some(length) => self.take(length + 4),
                    None => return Err(self.problem("this comment has no end")),
                };
            } else {
                return Ok(());
            }
        }
    }

    fn number(&mut self) -> Result<Token<'a>, Problem> {
        let length = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
        let word = self.take(length);
        let digits = word.trim_end_matches(['u', 'U', 'l', 'L']);
        let number = if let Some(hexadecimal) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            u64::from_str_radix(hexadecimal, 16)
        } else if let Some(octal) = digits.strip_prefix('0').filter(|octal| !octal.is_empty()) {
            u64::from_str_radix(octal, 8)
        } else {
            digits.parse()
        };
        number.map(Token::Number).map_err(|_| self.problem(&format!("`{word}` is not a 64-bit number")))
    }

    fn text(&mut self) -> Result<Token<'a>, Problem> {
        let mut text = String::new();
        self.take(1);
        loop {
            let plain = self.rest.find(['"', '\\', '\n']).unwrap_or(self.rest.len());
            text.push_str(self.take(plain));
            match self.rest.as_bytes() {
                [b'"', ..] => {
                    self.take(1);
                    return Ok(Token::Text(text));
                }
                [b'\\', ..] => {
                    self.take(1);
                    text.push(self.escaped()?);
                }
                _ => return Err(self.problem("this string has no end")),
            }
        }
    }

    /// Returns the character of a C escape.
    fn escaped(&mut self) -> Result<char, Problem> {
        let octal = self.rest.bytes().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
        if octal > 0 {
            let number = u32::from_str_radix(self.take(octal), 8).ok().and_then(char::from_u32);
            return number.ok_or_else(|| self.problem("this escape is not a character"));
        }
        let escaped = match self.rest.as_bytes().first() {
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(byte @ (b'"' | b'\\' | b'\'')) => char::from(*byte),
            _ => return Err(self.problem("this string has an unknown escape")),
        };
        self.take(1);
        Ok(escaped)
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.line += memchr::memchr_iter(b'\n', taken.as_bytes()).count();
        self.rest = rest;
        taken
    }

    fn problem(&self, reason: &str) -> Problem {
        Problem { line: self.line, reason: reason.to_owned() }
    }
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Result<Vec<Token<'_>>, Problem> {
        let mut lexer = Lexer::new(text);
        let mut tokens = Vec::new();
        loop {
            match lexer.next()? {
                Token::End => return Ok(tokens),
                token => tokens.push(token),
            }
        }
    }

    #[test]
    fn words_numbers_strings_and_signs() {
        use Token::*;
        assert_eq!(
            tokens("/* a */ x.y := 0x1F 010 0 7u; // b\n\"q\\\"\\n\\0331\\\\ä\"").expect("tokens"),
            [
                Word("x"),
                Sign('.'),
                Word("y"),
                TypeAssignment,
                Number(31),
                Number(8),
                Number(0),
                Number(7),
                Sign(';'),
                Text("q\"\n\u{1b}1\\ä".to_owned())
            ]
        );
    }

    #[test]
    fn an_unterminated_text_is_reported_with_its_line() {
        for text in ["\n/* x", "\n\"x", "\n\"x\n\"", "\n\"\\q\"", "\n99999999999999999999"] {
            assert_eq!(tokens(text).expect_err("a problem").line, 2, "{text:?}");
        }
    }
}
