//! A glob as a condition in the languages of tracers. None has globs, or loops in all versions: the texts between the stars are looked
//! for one after another, each at its first place after the one before it. That decides a glob, as the first place leaves most room.

use dyntrace::recorder::Glob;

use crate::tracer::TracerKind;

/// A glob without `?`, by the texts between its stars.
#[derive(Debug, PartialEq, Eq)]
pub struct Condition<'g> {
    first: &'g str,
    /// The texts after stars. `None`: there is no star.
    rest: Option<Rest<'g>>,
}

#[derive(Debug, PartialEq, Eq)]
struct Rest<'g> {
    /// Those that stars surround, none empty.
    middle: Vec<&'g str>,
    last: &'g str,
}

/// The most texts between stars. Each is a search, and the kernel's verifier accepts no more: two are too many for DTrace 2.0.7.
fn most(kind: TracerKind) -> usize {
    match kind {
        TracerKind::Dtrace => 1,
        TracerKind::Bpftrace | TracerKind::Stap => 4,
    }
}

impl<'g> Condition<'g> {
    /// The condition of `glob` for a tracer of this kind, or why that cannot have it.
    pub fn new(glob: &'g Glob, kind: TracerKind) -> Result<Condition<'g>, &'static str> {
        let text = glob.as_str();
        if text.contains('?') {
            return Err("it has a ?, which stands for one character");
        }
        if text.contains(char::is_control) {
            return Err("it has a control character");
        }
        let mut pieces: Vec<&str> = text.split('*').collect();
        let last = pieces.pop().unwrap_or_default();
        if pieces.is_empty() {
            return Ok(Condition { first: last, rest: None });
        }
        let first = pieces.remove(0);
        pieces.retain(|piece| !piece.is_empty());
        if pieces.len() > most(kind) {
            return Err("it has too many texts between stars");
        }
        Ok(Condition { first, rest: Some(Rest { middle: pieces, last }) })
    }

    /// bpftrace: statements that return from the clause if the string at the address `argument` does not match.
    pub fn for_bpftrace(&self, argument: &str) -> String {
        let first = literal(self.first);
        let Some(Rest { middle, last }) = &self.rest else {
            return format!("\tif (str({argument}) != {first}) {{ return; }}\n");
        };
        let mut said = String::new();
        let length = self.first.len();
        if length > 0 {
            said += &format!("\tif (strncmp(str({argument}), {first}, {length}) != 0) {{ return; }}\n");
        }
        let mut place = format!("{argument} + {length}");
        for (number, piece) in middle.iter().enumerate() {
            let (piece, length) = (literal(piece), piece.len());
            let at = format!("$dyntrace_at{number}");
            said += &format!("\t{at} = (int64)strstr(str({place}), {piece});\n\tif ({at} < 0) {{ return; }}\n");
            place = format!("{place} + {at} + {length}");
        }
        if !last.is_empty() {
            let (last, length) = (literal(last), last.len());
            let left = "$dyntrace_left";
            said += &format!("\t{left} = (int64)strlen(str({place}));\n\tif ({left} < {length}) {{ return; }}\n");
            said += &format!("\tif (str({place} + {left} - {length}) != {last}) {{ return; }}\n");
        }
        said
    }

    /// DTrace: statements that set `this->dyntrace_is` to whether the string at the address `argument` matches.
    pub fn for_dtrace(&self, argument: &str) -> String {
        let (tag, is, at) = ("this->dyntrace_tag", "this->dyntrace_is", "this->dyntrace_at");
        let mut said = format!("\t{tag} = {argument} == 0 ? \"\" : copyinstr({argument});\n");
        let first = literal(self.first);
        let Some(Rest { middle, last }) = &self.rest else {
            return said + &format!("\t{is} = {tag} == {first};\n");
        };
        let length = self.first.len();
        said += &match length {
            0 => format!("\t{is} = 1;\n"),
            _ => format!("\t{is} = substr({tag}, 0, {length}) == {first};\n"),
        };
        said += &format!("\t{at} = {length};\n");
        for piece in middle {
            let (piece, length) = (literal(piece), piece.len());
            said += &format!("\tthis->dyntrace_found = index({tag}, {piece}, {at});\n");
            said += &format!("\t{is} = {is} && this->dyntrace_found >= 0;\n");
            said += &format!("\t{at} = this->dyntrace_found + {length};\n");
        }
        if !last.is_empty() {
            let (last, length) = (literal(last), last.len());
            said += &format!("\tthis->dyntrace_end = (int)strlen({tag}) - {length};\n");
            said += &format!("\t{is} = {is} && this->dyntrace_end >= {at} &&\n");
            said += &format!("\t    substr({tag}, this->dyntrace_end) == {last};\n");
        }
        said
    }

    /// SystemTap: the function `dyntrace_is`, which returns whether a string matches.
    pub fn for_stap(&self) -> String {
        let mut said = String::from("\nfunction dyntrace_is:long(tag:string)\n{\n");
        let first = literal(self.first);
        let Some(Rest { middle, last }) = &self.rest else {
            return said + &format!("\treturn tag == {first}\n}}\n");
        };
        let length = self.first.len();
        if length > 0 {
            said += &format!("\tif (substr(tag, 0, {length}) != {first}) return 0\n");
            said += &format!("\ttag = substr(tag, {length}, strlen(tag))\n");
        }
        for piece in middle {
            let (piece, length) = (literal(piece), piece.len());
            said += &format!("\tat = strpos(tag, {piece})\n\tif (at < 0) return 0\n");
            said += &format!("\ttag = substr(tag, at + {length}, strlen(tag))\n");
        }
        if !last.is_empty() {
            let (last, length) = (literal(last), last.len());
            said += &format!("\tif (strlen(tag) < {length}) return 0\n");
            said += &format!("\tif (substr(tag, strlen(tag) - {length}, {length}) != {last}) return 0\n");
        }
        said + "\treturn 1\n}\n"
    }
}

/// A string in any of the languages.
fn literal(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', r"\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The steps that every language takes.
    fn matches(condition: &Condition<'_>, tag: &str) -> bool {
        let Some(Rest { middle, last }) = &condition.rest else { return tag == condition.first };
        let Some(mut left) = tag.strip_prefix(condition.first) else { return false };
        for piece in middle {
            let Some((_, after)) = left.split_once(piece) else { return false };
            left = after;
        }
        left.ends_with(last)
    }

    #[test]
    fn globs_that_no_tracer_says() {
        let why = |glob: &str| Condition::new(&Glob::from(glob), TracerKind::Bpftrace).unwrap_err();
        assert!(why("req-?").contains('?'));
        assert!(why("a\nb").contains("control character"));
        assert!(why("*a*b*c*d*e*").contains("too many texts"));
        assert!(Condition::new(&Glob::from("a*b*c**d*e*f"), TracerKind::Bpftrace).is_ok());
        assert!(Condition::new(&Glob::from("a*b*c"), TracerKind::Dtrace).is_ok());
        assert!(Condition::new(&Glob::from("a*b*c*d"), TracerKind::Dtrace).is_err());
    }

    #[test]
    fn a_literal_holds_any_text() {
        assert_eq!(literal(r#"a"b\c"#), r#""a\"b\\c""#);
    }

    #[test]
    fn any_tag_needs_no_condition() {
        let glob = Glob::from("*");
        assert_eq!(Condition::new(&glob, TracerKind::Bpftrace).unwrap().for_bpftrace("arg2"), "");
    }

    proptest! {
        #[test]
        fn the_texts_between_stars_decide(glob in "[ab*]{0,6}", tag in "[ab]{0,8}") {
            let glob = Glob::from(glob);
            if let Ok(condition) = Condition::new(&glob, TracerKind::Bpftrace) {
                prop_assert_eq!(matches(&condition, &tag), glob.matches(tag.as_bytes()));
            }
        }
    }
}
