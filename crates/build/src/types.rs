//! The types of parameters: C's spellings, each with the kind that a tracer gets.

use crate::error::Problem;
use crate::lexer::Token;
use crate::model::Kind;

/// Returns the kind that a tracer gets for the type, or why no probe can have it.
///
/// `int` has four bytes, `long` eight, as on every 64-bit system that has probes. In a 32-bit program `long` has eight, too, so that one
/// definition reads the traces of both.
pub(crate) fn kind(tokens: &[Token<'_>]) -> Result<Kind, Problem> {
    let found = spelling(tokens);
    let stars = tokens.iter().filter(|token| token.text == "*").count();
    let mut words: Vec<&str> =
        tokens.iter().map(|token| token.text).filter(|text| !["*", "const"].contains(text)).collect();
    // C accepts the words of an integer type in any order; `int` is redundant beside the others.
    words.sort_unstable();
    let int = words.iter().position(|word| *word == "int");
    if let Some(int) = int.filter(|_| ["short", "long", "signed", "unsigned"].iter().any(|word| words.contains(word)))
        && !words.contains(&"char")
    {
        words.remove(int);
    }

    Ok(match words.as_slice() {
        ["char"] if stars == 1 && tokens[0].text != "*" => Kind::Text,
        ["float"] if stars == 0 => return Err(Problem::FloatingPoint { found, instead: "uint32_t" }),
        ["double"] if stars == 0 => return Err(Problem::FloatingPoint { found, instead: "uint64_t" }),
        [word, ..] if stars > 0 && is_word(word) => return Err(Problem::Pointer { found }),
        ["char"] | ["char", "signed"] | ["int8_t"] => Kind::I32,
        ["short"] | ["short", "signed"] | ["int16_t"] => Kind::I32,
        ["int"] | ["signed"] | ["int32_t"] => Kind::I32,
        ["char", "unsigned"] | ["uint8_t"] => Kind::U32,
        ["short", "unsigned"] | ["uint16_t"] => Kind::U32,
        ["unsigned"] | ["uint32_t"] => Kind::U32,
        ["long"] | ["long", "signed"] | ["long", "long"] | ["long", "long", "signed"] => Kind::I64,
        ["int64_t"] | ["intptr_t"] | ["ssize_t"] => Kind::I64,
        ["long", "unsigned"] | ["long", "long", "unsigned"] => Kind::U64,
        ["uint64_t"] | ["uintptr_t"] | ["size_t"] => Kind::U64,
        _ => return Err(Problem::Type { found }),
    })
}

/// The type as C programs write it.
pub(crate) fn spelling(tokens: &[Token<'_>]) -> String {
    tokens.iter().map(|token| token.text).collect::<Vec<_>>().join(" ")
}

/// Words of types, which cannot be the name of a parameter.
pub(crate) fn is_type_word(word: &str) -> bool {
    const WORDS: [&str; 10] =
        ["char", "short", "int", "long", "signed", "unsigned", "const", "float", "double", "void"];
    const DEFINED: [&str; 12] = [
        "int8_t",
        "int16_t",
        "int32_t",
        "int64_t",
        "uint8_t",
        "uint16_t",
        "uint32_t",
        "uint64_t",
        "intptr_t",
        "uintptr_t",
        "size_t",
        "ssize_t",
    ];
    WORDS.contains(&word) || DEFINED.contains(&word)
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer;

    fn of(text: &str) -> Result<Kind, Problem> {
        kind(&lexer::tokens(text).unwrap().0)
    }

    #[test]
    fn spellings_of_integers() {
        for (c, kind) in [
            ("int", Kind::I32),
            ("unsigned", Kind::U32),
            ("int unsigned", Kind::U32),
            ("signed int", Kind::I32),
            ("char", Kind::I32),
            ("unsigned char", Kind::U32),
            ("short int", Kind::I32),
            ("unsigned short", Kind::U32),
            ("long", Kind::I64),
            ("long long int", Kind::I64),
            ("unsigned long", Kind::U64),
            ("long unsigned int long", Kind::U64),
            ("const int", Kind::I32),
            ("uint16_t", Kind::U32),
            ("size_t", Kind::U64),
        ] {
            assert_eq!(of(c), Ok(kind), "{c}");
        }
    }

    #[test]
    fn spellings_of_strings() {
        for c in ["char *", "const char *", "char const *", "char *const"] {
            assert_eq!(of(c), Ok(Kind::Text), "{c}");
        }
    }

    #[test]
    fn what_no_probe_can_have() {
        assert_eq!(of("float"), Err(Problem::FloatingPoint { found: "float".into(), instead: "uint32_t" }));
        assert_eq!(of("double"), Err(Problem::FloatingPoint { found: "double".into(), instead: "uint64_t" }));
        assert_eq!(of("void *"), Err(Problem::Pointer { found: "void *".into() }));
        assert_eq!(of("char **"), Err(Problem::Pointer { found: "char * *".into() }));
        for c in [
            "void",
            "strnig",
            "char int",
            "long char",
            "long long long",
            "unsigned signed",
            "const",
            "int [ 4 ]",
            "* char",
            "7",
        ] {
            assert!(of(c).is_err(), "{c}");
        }
    }
}
