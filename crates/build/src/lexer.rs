//! Cuts a definition into words and signs, and takes comments and `#pragma` lines out of it. The lines are kept beside.
//!
//! Each token keeps its place in the file, for errors that are found later.

use crate::error::Problem;

/// A word (letters, digits and `_`) or a sign (any other single character).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'t> {
    pub text: &'t str,
    /// Its first byte in the file.
    pub start: usize,
    /// The doc comment right before it, `/**` and `*/` included; empty if there is none.
    pub doc: &'t str,
}

impl Token<'_> {
    pub fn is_word(&self) -> bool {
        self.text.starts_with(is_word_char)
    }

    /// The byte behind it.
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// A problem and the byte it begins at.
pub(crate) type Located = (usize, Problem);

/// Returns the tokens, and each `#pragma` line as one token.
pub(crate) fn tokens(text: &str) -> Result<(Vec<Token<'_>>, Vec<Token<'_>>), Located> {
    let (mut tokens, mut pragmas) = (Vec::new(), Vec::new());
    let mut doc = "";
    let mut start = 0;
    while let Some(first) = text[start..].chars().next() {
        let rest = &text[start..];
        let length = if let Some(comment) = rest.strip_prefix("/*") {
            let end = comment.find("*/").ok_or((start, Problem::UnterminatedComment))? + "/**/".len();
            if is_doc(&rest[..end]) {
                doc = &rest[..end];
            }
            end
        } else if rest.starts_with("//") {
            line_length(rest)
        } else if first == '#' {
            if !rest[1..].trim_start_matches([' ', '\t']).starts_with("pragma") {
                return Err((start, Problem::Preprocessor));
            }
            pragmas.push(Token { text: &rest[..line_length(rest)], start, doc: "" });
            line_length(rest)
        } else if first.is_whitespace() {
            first.len_utf8()
        } else {
            let length = match rest.find(|c| !is_word_char(c)) {
                Some(0) => first.len_utf8(),
                Some(end) => end,
                None => rest.len(),
            };
            tokens.push(Token { text: &rest[..length], start, doc });
            doc = "";
            length
        };
        start += length;
    }
    Ok((tokens, pragmas))
}

fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// `/**` begins a doc comment; `/**/` is empty and `/***` a ruled line.
fn is_doc(comment: &str) -> bool {
    comment.starts_with("/**") && !comment.starts_with("/***") && comment.len() > "/**/".len()
}

fn line_length(rest: &str) -> usize {
    rest.find('\n').unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        tokens(text).unwrap().0.iter().map(|token| token.text).collect()
    }

    #[test]
    fn words_and_signs() {
        assert_eq!(texts("probe a__b(char *x);"), ["probe", "a__b", "(", "char", "*", "x", ")", ";"]);
        assert_eq!(texts("ä1 é"), ["ä", "1", "é"]);
        assert_eq!(texts(""), [""; 0]);
    }

    #[test]
    fn comments_and_pragmas_go() {
        assert_eq!(tokens("a // #pragma b\n#pragma c\nd").unwrap().1[0].text, "#pragma c");
        assert_eq!(texts("a/* b; */c // d\n#pragma D x y\n # pragma D z\ne"), ["a", "c", "e"]);
        assert_eq!(texts("#pragma D without end"), [""; 0]);
    }

    #[test]
    fn only_the_last_doc_comment_counts_and_only_for_the_next_token() {
        let tokens = tokens("/** one */ /** two */ /* three */ /**/ /*** four ***/ a b").unwrap().0;
        assert_eq!(tokens[0].doc, "/** two */");
        assert_eq!(tokens[1].doc, "");
    }

    #[test]
    fn unterminated_texts() {
        assert_eq!(tokens("a /* b"), Err((2, Problem::UnterminatedComment)));
        assert_eq!(tokens("/*/"), Err((0, Problem::UnterminatedComment)));
        assert_eq!(tokens("a\n#include <b>"), Err((2, Problem::Preprocessor)));
    }
}
