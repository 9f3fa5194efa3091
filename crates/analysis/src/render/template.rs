//! Templates of lines: `tag={$thread_id,$tag} | $command:op ($command)`. `$name` is the value of a field, `$name:op` the name of the
//! file driver's command whose number it is.

/// A part of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    Literal(&'static str),
    /// The field at this position of the event.
    Field(usize),
    /// The name of the command whose number the field is.
    Command(usize),
}

/// Splits `template`; `position` finds the fields of the event. `None` if the event lacks one: its provider is of another version.
pub fn parse(template: &'static str, position: impl Fn(&str) -> Option<usize>) -> Option<Vec<Piece>> {
    let mut words = template.split('$');
    let mut pieces: Vec<Piece> = words.next().into_iter().map(Piece::Literal).collect();
    for word in words {
        let end = word.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(word.len());
        let (name, rest) = word.split_at(end);
        let at = position(name)?;
        let (piece, rest) = match rest.strip_prefix(":op") {
            Some(rest) => (Piece::Command(at), rest),
            None => (Piece::Field(at), rest),
        };
        pieces.extend([piece, Piece::Literal(rest)]);
    }
    pieces.retain(|piece| *piece != Piece::Literal(""));
    Some(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(name: &str) -> Option<usize> {
        ["thread_id", "tag", "command", "s1"].iter().position(|known| *known == name)
    }

    #[test]
    fn text_fields_and_commands() {
        let pieces = parse("x {$thread_id,$tag} $command:op ($command)$s1", position);
        let expected = [
            Piece::Literal("x {"),
            Piece::Field(0),
            Piece::Literal(","),
            Piece::Field(1),
            Piece::Literal("} "),
            Piece::Command(2),
            Piece::Literal(" ("),
            Piece::Field(2),
            Piece::Literal(")"),
            Piece::Field(3),
        ];
        assert_eq!(pieces.as_deref(), Some(&expected[..]));
        assert_eq!(parse("", position).as_deref(), Some(&[][..]));
    }

    #[test]
    fn an_event_without_such_a_field() {
        assert_eq!(parse("$tag $s2", position), None);
    }
}
