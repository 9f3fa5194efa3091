//! The clauses of a script, for changes of it.

use super::{Named, Part, parts};
use crate::tracer::TracerKind;

/// A body in braces that is in no other: that of a clause, or of a function, a macro or settings.
#[derive(Clone, Copy)]
pub struct Clause<'t> {
    /// The text since the clause before it.
    pub before: &'t str,
    /// Its probes with the predicate, or its name.
    pub header: &'t str,
    /// Its statements, with the braces.
    pub body: &'t str,
}

impl Clause<'_> {
    /// The names of its probes, as in a provider's definition.
    pub fn probes(&self, kind: TracerKind) -> Vec<String> {
        Named::read(self.header, kind).names()
    }

    /// Its text with `first` before its statements.
    pub fn with_first(&self, first: &str) -> String {
        format!("{}{}{{{first}{}", self.before, self.header, &self.body[1..])
    }
}

/// The script `text` with the texts of `change` instead of its clauses.
pub fn with_clauses(text: &str, kind: TracerKind, mut change: impl FnMut(Clause<'_>) -> String) -> String {
    let (mut changed, mut done, mut at) = (String::new(), 0, 0);
    let (mut header, mut body, mut depth) = (None, 0, 0_u32);
    for part in parts(text, kind) {
        let (Part::Code(piece) | Part::Text(piece) | Part::Comment(piece)) = part;
        let code = if matches!(part, Part::Code(_)) { piece } else { "" };
        for (at, c) in code.char_indices().map(|(offset, c)| (at + offset, c)) {
            match c {
                '{' => {
                    if depth == 0 {
                        body = at;
                    }
                    depth += 1;
                }
                '}' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        let begin = header.take().unwrap_or(body);
                        let (before, header) = (&text[done..begin], &text[begin..body]);
                        changed += &change(Clause { before, header, body: &text[body..=at] });
                        done = at + 1;
                    }
                }
                _ if depth > 0 => {}
                ';' => header = None,
                '\n' if header.is_some_and(|begin| is_line(&text[begin..])) => header = None,
                c if !c.is_whitespace() => header = header.or(Some(at)),
                _ => {}
            }
        }
        at += piece.len();
    }
    changed + &text[done..]
}

/// Whether `text` begins with a declaration that ends with its line.
fn is_line(text: &str) -> bool {
    text.starts_with('#') || text.starts_with("global ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_of_every_language() {
        for (kind, text, expected) in [
            (
                TracerKind::Dtrace,
                "#pragma D option quiet\n\ninline int a = 1;\n/* x { */\nb$target:::c\n/a/\n{ f(\"}\"); }\n",
                "b$target:::c\n/a/\n",
            ),
            (
                TracerKind::Stap,
                "global a, b[2]\n# {\nprobe process(@1).mark(\"c\"), timer.s(1) { if (a) { b } }\n",
                "probe process(@1).mark(\"c\"), timer.s(1) ",
            ),
            (
                TracerKind::Bpftrace,
                "import \"{\";\nusdt:$1:b:c\n/has_key(@a, (1))/\n// }\n{ }\n",
                "usdt:$1:b:c\n/has_key(@a, (1))/\n// }\n",
            ),
        ] {
            let mut headers = Vec::new();
            let same = with_clauses(text, kind, |clause| {
                headers.push(clause.header.to_owned());
                assert_eq!(clause.probes(kind), ["c"]);
                clause.with_first("")
            });
            assert_eq!((same.as_str(), headers), (text, vec![expected.to_owned()]));
        }
    }
}
