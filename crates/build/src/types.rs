//! The types of parameters: C's spellings, each with the kind that a tracer gets.

use crate::error::Problem;
use crate::lexer::Token;
use crate::model::ArgumentKind;

/// Returns the kind that a tracer gets for the type, or why no probe can have it.
///
/// `int` has four bytes, `long` eight, as on every 64-bit system that has probes. In a 32-bit program `long` has eight, too, so that one
/// definition reads the traces of both.
pub(crate) fn kind(tokens: &[Token<'_>]) -> Result<ArgumentKind, Problem> {
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
        ["char"] if stars == 1 && tokens[0].text != "*" => ArgumentKind::Text,
        ["float"] if stars == 0 => return Err(Problem::FloatingPoint { found, instead: "uint32_t" }),
        ["double"] if stars == 0 => return Err(Problem::FloatingPoint { found, instead: "uint64_t" }),
        [word, ..] if stars > 0 && is_word(word) => return Err(Problem::Pointer { found }),
        ["char"] | ["char", "signed"] | ["int8_t"] => ArgumentKind::I32,
        ["short"] | ["short", "signed"] | ["int16_t"] => ArgumentKind::I32,
        ["int"] | ["signed"] | ["int32_t"] => ArgumentKind::I32,
        ["char", "unsigned"] | ["uint8_t"] => ArgumentKind::U32,
        ["short", "unsigned"] | ["uint16_t"] => ArgumentKind::U32,
        ["unsigned"] | ["uint32_t"] => ArgumentKind::U32,
        ["long"] | ["long", "signed"] | ["long", "long"] | ["long", "long", "signed"] => ArgumentKind::I64,
        ["int64_t"] | ["intptr_t"] | ["ssize_t"] => ArgumentKind::I64,
        ["long", "unsigned"] | ["long", "long", "unsigned"] => ArgumentKind::U64,
        ["uint64_t"] | ["uintptr_t"] | ["size_t"] => ArgumentKind::U64,
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
        "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "intptr_t",
        "uintptr_t", "size_t", "ssize_t",
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

    fn of(text: &str) -> Result<ArgumentKind, Problem> {
        kind(&lexer::tokens(text).unwrap().0)
    }

    #[test]
    fn spellings_of_integers() {
        for (c, kind) in [
            ("int", ArgumentKind::I32),
            ("unsigned", ArgumentKind::U32),
            ("int unsigned", ArgumentKind::U32),
            ("signed int", ArgumentKind::I32),
            ("char", ArgumentKind::I32),
            ("unsigned char", ArgumentKind::U32),
            ("short int", ArgumentKind::I32),
            ("unsigned short", ArgumentKind::U32),
            ("long", ArgumentKind::I64),
            ("long long int", ArgumentKind::I64),
            ("unsigned long", ArgumentKind::U64),
            ("long unsigned int long", ArgumentKind::U64),
            ("const int", ArgumentKind::I32),
            ("uint16_t", ArgumentKind::U32),
            ("size_t", ArgumentKind::U64),
        ] {
            assert_eq!(of(c), Ok(kind), "{c}");
        }
    }

    #[test]
    fn spellings_of_strings() {
        for c in ["char *", "const char *", "char const *", "char *const"] {
            assert_eq!(of(c), Ok(ArgumentKind::Text), "{c}");
        }
    }

    #[test]
    fn types_that_no_probe_can_have() {
        assert_eq!(of("float"), Err(Problem::FloatingPoint { found: "float".into(), instead: "uint32_t" }));
        assert_eq!(of("double"), Err(Problem::FloatingPoint { found: "double".into(), instead: "uint64_t" }));
        assert_eq!(of("void *"), Err(Problem::Pointer { found: "void *".into() }));
        assert_eq!(of("char **"), Err(Problem::Pointer { found: "char * *".into() }));
        for c in [
            "void", "strnig", "char int", "long char", "long long long", "unsigned signed", "const", "int [ 4 ]",
            "* char", "7",
        ] {
            assert!(of(c).is_err(), "{c}");
        }
    }
}
