//! Patterns with `*` and `?`.

use std::fmt;

/// A pattern over whole texts: `*` stands for any text, `?` for one character, everything else for itself.
///
/// ```
/// let requests = dyntrace_metadata::Glob::from("req-*");
/// assert!(requests.matches(b"req-17"));
/// assert!(!requests.matches(b"a req-17"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob(Box<str>);

impl Glob {
    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the pattern matches `text`, which need not be UTF-8. Safe in signal handlers.
    pub fn matches(&self, text: &[u8]) -> bool {
        Glob::is_match(&self.0, text)
    }

    /// Whether a glob that is written as `pattern` matches `text`, for patterns that are kept as texts. Safe in signal handlers.
    ///
    /// ```
    /// assert!(dyntrace_metadata::Glob::is_match("req-*", b"req-17"));
    /// ```
    pub fn is_match(pattern: &str, text: &[u8]) -> bool {
        let pattern = pattern.as_bytes();
        let (mut p, mut t) = (0, 0);
        // The position after the last `*`, and the end of its match in the text. Only the last `*` matters: it can match any text that
        // an earlier one could.
        let mut star: Option<(usize, usize)> = None;
        loop {
            match pattern.get(p) {
                Some(b'*') => {
                    p += 1;
                    if p == pattern.len() {
                        return true;
                    }
                    star = Some((p, t));
                    continue;
                }
                Some(b'?') if t < text.len() => {
                    p += 1;
                    t = next_character(text, t);
                    continue;
                }
                Some(&byte) if text.get(t) == Some(&byte) => {
                    p += 1;
                    t += 1;
                    continue;
                }
                None if t == text.len() => return true,
                _ => {}
            }
            match star {
                Some((behind, end)) if end < text.len() => {
                    let end = next_character(text, end);
                    (p, t) = (behind, end);
                    star = Some((behind, end));
                }
                _ => return false,
            }
        }
    }
}

/// Where the character after the one at `at` begins. Bytes that are no UTF-8 count as characters.
fn next_character(text: &[u8], at: usize) -> usize {
    let is_continuation = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
    let most = match text[at] {
        0xc2..=0xdf => 1,
        0xe0..=0xef => 2,
        0xf0..=0xf4 => 3,
        _ => 0,
    };
    at + 1 + text[at + 1..].iter().take(most).take_while(is_continuation).count()
}

impl From<&str> for Glob {
    fn from(pattern: &str) -> Glob {
        Glob(pattern.into())
    }
}

impl From<String> for Glob {
    fn from(pattern: String) -> Glob {
        Glob(pattern.into())
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn stars_and_question_marks() {
        for (pattern, text, expected) in [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("a*", "a", true),
            ("a*c", "abbbc", true),
            ("a*c", "abcd", false),
            ("*ab", "aab", true),
            ("*ab*ab", "abxab", true),
            ("*ab*ab", "abxa", false),
            ("?", "ä", true),
            ("??", "ä", false),
            ("?", "", false),
            ("*?*", "日本", true),
            ("[a]", "[a]", true),
        ] {
            assert_eq!(Glob::from(pattern).matches(text.as_bytes()), expected, "{pattern} on {text}");
        }
        assert!(Glob::from("a?b*").matches(b"a\xffb\xfe"));
    }

    #[test]
    fn many_stars_take_no_exponential_time() {
        let text = "a".repeat(4000);
        assert!(!Glob::from("*a".repeat(500) + "b").matches(text.as_bytes()));
    }

    /// The reference implementation: the simplest code that decides whether a pattern matches a text.
    fn meaning(pattern: &[char], text: &[char]) -> bool {
        match (pattern.split_first(), text.split_first()) {
            (None, _) => text.is_empty(),
            (Some(('*', rest)), None) => meaning(rest, text),
            (Some(('*', rest)), Some((_, after))) => meaning(rest, text) || meaning(pattern, after),
            (Some(('?', rest)), Some((_, after))) => meaning(rest, after),
            (Some((c, rest)), Some((d, after))) => c == d && meaning(rest, after),
            (Some(_), None) => false,
        }
    }

    proptest! {
        #[test]
        fn means_what_the_simplest_matcher_says(pattern in "[ab*?ä]{0,7}", text in "[abä日]{0,9}") {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            let expected = meaning(&chars(&pattern), &chars(&text));
            prop_assert_eq!(Glob::from(pattern).matches(text.as_bytes()), expected);
        }

        #[test]
        fn takes_any_bytes(pattern: String, text: Vec<u8>) {
            Glob::from(pattern).matches(&text);
            prop_assert!(Glob::from("*").matches(&text));
        }
    }
}
