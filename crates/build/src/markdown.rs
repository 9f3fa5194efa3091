//! Converts plain text to Markdown, so that a D comment does not become links, tags, tables or code that rustdoc
//! would test.

/// Returns `text` as lines of Markdown that render as the text itself. Pairs of backticks stay code.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = String> {
    text.lines().map(|line| escape(line.trim()))
}

/// Returns text for a table cell, in which `|` is escaped even in code.
pub(crate) fn cell(text: &str) -> String {
    escape(text).replace('|', r"\|")
}

/// Converts one line. Text between two backticks stays; elsewhere Markdown signs get a backslash, and URLs become links.
fn escape(line: &str) -> String {
    let mut escaped = String::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        if let Some(length) = code(rest).or_else(|| link(rest)) {
            escaped.push_str(&rest[..length]);
            rest = &rest[length..];
        } else if let Some(length) = address(rest) {
            escaped.push_str(&format!("<{}>", &rest[..length]));
            rest = &rest[length..];
        } else {
            // A row of backticks is escaped as a whole, or its last one would begin code.
            let row = rest.bytes().take_while(|byte| *byte == b'`').count();
            let (piece, behind) = rest.split_at(row.max(first.len_utf8()));
            for c in piece.chars() {
                if r"\`*[]<>&".contains(c) || escaped.is_empty() && "#~=+".contains(c) {
                    escaped.push('\\');
                }
                escaped.push(c);
            }
            rest = behind;
        }
    }
    escaped
}

/// Returns the length of the code between single backticks at the beginning of `rest`.
fn code(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('`')?;
    let end = inner.find('`')?;
    (end > 0 && !inner[end + 1..].starts_with('`')).then_some(end + 2)
}

/// Returns the length of the URL in `<` and `>`, which is a link already, at the beginning of `rest`.
fn link(rest: &str) -> Option<usize> {
    let length = address(rest.strip_prefix('<')?)?;
    rest[1 + length..].starts_with('>').then_some(length + 2)
}

/// Returns the length of the URL at the beginning of `rest`.
fn address(rest: &str) -> Option<usize> {
    if !rest.starts_with("http://") && !rest.starts_with("https://") {
        return None;
    }
    let end = rest.find(|c: char| c.is_whitespace() || "<>()[]`|\"\\,".contains(c)).unwrap_or(rest.len());
    Some(rest[..end].trim_end_matches('.').len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_markdown() {
        assert_eq!(escape(r#"as "<0.N.0>" or [x], a_b"#), r#"as "\<0.N.0\>" or \[x\], a_b"#);
        assert_eq!(escape("a * b &amp;"), r"a \* b \&amp;");
        assert_eq!(cell("a | `b | c`"), r"a \| `b \| c`");
        assert_eq!(escape("# 1 # 2"), r"\# 1 # 2");
    }

    #[test]
    fn code_stays() {
        assert_eq!(escape("as `<0.N.0>` [x]"), r"as `<0.N.0>` \[x\]");
        assert_eq!(escape("one ` only <"), r"one \` only \<");
        assert_eq!(escape("```rust"), r"\`\`\`rust");
        assert_eq!(escape("``` <x> `a`"), r"\`\`\` \<x\> `a`");
    }

    #[test]
    fn addresses_are_links() {
        assert_eq!(escape("see https://example.org/a_b."), "see <https://example.org/a_b>.");
        assert_eq!(escape("see <https://example.org> <x>"), r"see <https://example.org> \<x\>");
    }

    #[test]
    fn indented_text_is_no_code() {
        assert_eq!(lines("a\n\n        let x = 1;").collect::<Vec<_>>(), ["a", "", "let x = 1;"]);
    }
}
