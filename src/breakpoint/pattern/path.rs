//! Names of functions, with globs: `*` and `?` within a segment, `**` for any number of segments.

use super::cursor::Cursor;
use super::error::PatternError;
use crate::breakpoint::site::EXPORT;
use crate::glob::Glob;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// Its text, with one space behind `export`.
    text: Box<str>,
    is_export: bool,
    segments: Box<[Segment]>,
    /// The number of leading segments without globs, and their length in the prefix.
    plain: (usize, usize),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    /// `**`
    Any,
    One(Glob),
}

impl Path {
    pub fn parse(cursor: &mut Cursor<'_>) -> Result<Path, PatternError> {
        let mut segments = Vec::new();
        let mut rest = cursor.clone();
        // Otherwise it is a function's name.
        let is_export = rest.eat_word(EXPORT.trim_end()) && rest.eat_close(" ");
        if is_export {
            *cursor = rest;
        }
        let beginning = cursor.at();
        loop {
            let start = cursor.end();
            let text = cursor.take_while(|c| c.is_alphanumeric() || matches!(c, '_' | '#' | '*' | '?'));
            match text {
                "" => return Err(cursor.expected("a function's path, such as shop::**::price")),
                "**" => {
                    // Two in a row mean the same as one.
                    if segments.last() != Some(&Segment::Any) {
                        segments.push(Segment::Any);
                    }
                }
                _ if text.as_bytes().windows(2).any(|two| two == b"**") => {
                    return Err(cursor.error("expected `**` alone between `::`, or one `*`", start..cursor.end()));
                }
                _ => segments.push(Segment::One(text.into())),
            }
            if !cursor.eat_close("::") {
                let export = if is_export { EXPORT } else { "" };
                let text = [export, cursor.since(beginning)].concat().into();
                let mut path = Path { text, is_export, segments: segments.into(), plain: (0, 0) };
                path.plain = path.plain();
                return Ok(path);
            }
        }
    }

    /// Returns whether the path matches this name. Takes time up to the product of both lengths.
    pub fn matches(&self, name: &str) -> bool {
        let name = match (self.is_export, name.strip_prefix(EXPORT)) {
            (true, Some(name)) => name,
            (false, None) => name,
            _ => return false,
        };
        self.matches_from(0, name)
    }

    /// Like [`matches`](Path::matches), for a name that begins with the prefix.
    pub fn matches_after_prefix(&self, name: &str) -> bool {
        match self.plain {
            (0, _) => self.matches(name),
            (segments, length) => self.matches_from(segments, &name[length..]),
        }
    }

    fn plain(&self) -> (usize, usize) {
        // By bytes, as `split`: names are short.
        let pairs = self.prefix().as_bytes().windows(2).zip(2..);
        let ends = pairs.filter(|(two, _)| two == b"::").map(|(_, end)| end);
        ends.fold((0, 0), |(count, _), end| (count + 1, end))
    }

    /// Returns whether the segments from this one on match the rest of a name.
    fn matches_from(&self, mut at: usize, rest: &str) -> bool {
        let mut rest = Some(rest);
        // The segments behind the last `**`, and the rest of the name that it may still extend over. Only the last one matters: it can
        // match any segments that an earlier one could.
        let mut star: Option<(usize, &str)> = None;
        loop {
            match (self.segments.get(at), rest) {
                (Some(Segment::Any), _) => {
                    at += 1;
                    star = rest.map(|rest| (at, rest));
                    continue;
                }
                (Some(Segment::One(glob)), Some(text)) => {
                    let (segment, behind) = split(text);
                    if glob.matches(segment.as_bytes()) {
                        at += 1;
                        rest = behind;
                        continue;
                    }
                }
                (None, None) => return true,
                _ => {}
            }
            let Some((behind, text)) = star else { return false };
            at = behind;
            rest = split(text).1;
            star = rest.map(|rest| (behind, rest));
        }
    }

    /// Returns the common prefix of all names that this path matches, to search sorted lists.
    pub fn prefix(&self) -> &str {
        let (plain, globs) = self.text.split_at(self.text.find(['*', '?']).unwrap_or(self.text.len()));
        // `**` may match no segment; then there is no `::` before it.
        if globs.starts_with("**") { plain.trim_end_matches("::") } else { plain }
    }

    /// Returns the only name that this path matches, if it has no globs.
    pub fn only(&self) -> Option<&str> {
        (self.prefix().len() == self.text.len()).then_some(&self.text)
    }

    /// Returns its text.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Splits off the first segment.
fn split(name: &str) -> (&str, Option<&str>) {
    // Names are short: a general search for two bytes would take longer to set up than to run.
    match name.as_bytes().windows(2).position(|two| two == b"::") {
        None => (name, None),
        Some(at) => (&name[..at], Some(&name[at + 2..])),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn path(text: &str) -> Path {
        let mut cursor = Cursor::new(text);
        let path = Path::parse(&mut cursor).unwrap_or_else(|error| panic!("{error}"));
        assert!(cursor.is_at_end(), "{text}");
        path
    }

    #[test]
    fn globs_of_segments() {
        for (pattern, name, expected) in [
            ("shop::cart::price", "shop::cart::price", true),
            ("shop::cart::price", "shop::cart::prices", false),
            ("shop::*::price", "shop::cart::price", true),
            ("shop::*::price", "shop::price", false),
            ("shop::*::price", "shop::cart::Order::price", false),
            ("shop::**::price", "shop::price", true),
            ("shop::**::price", "shop::cart::Order::price", true),
            ("shop::**::price", "shop::cart::Order::prices", false),
            ("shop::**", "shop::cart::Order::price", true),
            ("shop::**", "shop", true),
            ("shop::**", "shopping::cart", false),
            ("**", "price", true),
            ("**::price", "a::price::b::price", true),
            ("**::a::*::b", "a::a::x::a::y::b", true),
            ("**::a::**::b::**", "x::b::a::c", false),
            ("s?op::*art::pr*", "shop::cart::price", true),
            ("price", "shop::price", false),
            ("a::**::**::b", "a::b", true),
            ("läden::preis*", "läden::preisliste", true),
            ("export pricing::*", "export pricing::price", true),
            ("export  **", "export pricing::price", true),
            ("export **", "pricing::price", false),
            ("**", "export pricing::price", false),
            ("export::price", "export::price", true),
            ("export", "export", true),
        ] {
            assert_eq!(path(pattern).matches(name), expected, "{pattern} on {name}");
        }
    }

    #[test]
    fn hostile_globs_take_no_exponential_time() {
        let name = vec!["a"; 2000].join("::");
        assert!(path(&("**::".repeat(10_000) + "a")).matches(&name));
        assert!(!path(&("**::a::*a*::".repeat(400) + "b")).matches(&name));
        let long = "a".repeat(20_000);
        assert!(!path(&("*a".repeat(1000) + "b")).matches(&long));
    }

    #[test]
    fn the_literal_prefix_of_a_path() {
        for (pattern, prefix) in [
            ("shop::cart::price", "shop::cart::price"),
            ("shop::**::price", "shop"),
            ("shop::pr*::x", "shop::pr"),
            ("?", ""),
            ("**", ""),
        ] {
            assert_eq!(path(pattern).prefix(), prefix);
        }
    }

    /// The reference implementation: the simplest code that decides whether a path matches a name.
    fn meaning(path: &[&str], name: &[&str]) -> bool {
        match (path.split_first(), name.split_first()) {
            (None, _) => name.is_empty(),
            (Some((&"**", rest)), None) => meaning(rest, name),
            (Some((&"**", rest)), Some((_, behind))) => meaning(rest, name) || meaning(path, behind),
            (Some((segment, rest)), Some((first, behind))) => {
                Glob::from(*segment).matches(first.as_bytes()) && meaning(rest, behind)
            }
            (Some(_), None) => false,
        }
    }

    proptest! {
        #[test]
        fn means_what_the_simplest_matcher_says(
            pattern in prop::collection::vec("\\*\\*|\\*|a|b|a\\*|\\*b", 1..7),
            name in prop::collection::vec("[ab]{1,2}", 1..7),
        ) {
            let pattern: Vec<&str> = pattern.iter().map(String::as_str).collect();
            let name: Vec<&str> = name.iter().map(String::as_str).collect();
            prop_assert_eq!(path(&pattern.join("::")).matches(&name.join("::")), meaning(&pattern, &name));
        }

        #[test]
        fn every_name_meant_begins_with_the_prefix(
            pattern in prop::collection::vec("\\*\\*|\\*|a|b", 1..5),
            name in prop::collection::vec("[ab]", 1..5),
        ) {
            let (path, name) = (path(&pattern.join("::")), name.join("::"));
            prop_assert!(!path.matches(&name) || name.starts_with(path.prefix()));
            prop_assert!(!name.starts_with(path.prefix()) || path.matches_after_prefix(&name) == path.matches(&name));
        }
    }
}
