//! Losses as rows: no query counts what is not there as nothing.

use serde::{Deserialize, Serialize};

/// A gap in a source, up to the end of a range: of one kind and at one place.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    /// The kind, such as `discarded` or `damaged`.
    pub kind: String,
    /// The file in the source; empty for losses of the conversion.
    pub file: String,
    /// The reason.
    pub reason: String,
    /// The offset of a damaged place.
    pub offset: Option<u64>,
    /// The number of bytes that were skipped there.
    pub bytes: Option<u64>,
    /// The number of events or rows that are missing, if it is known. It grows from range to range.
    pub count: Option<u64>,
}

impl Loss {
    fn is_at_the_place_of(&self, other: &Loss) -> bool {
        (&self.kind, &self.file, &self.reason, self.offset) == (&other.kind, &other.file, &other.reason, other.offset)
    }
}

/// Returns the losses that are new since `before`: of those that grew, the difference.
pub(crate) fn since(losses: &[Loss], before: &[Loss]) -> Vec<Loss> {
    let new = |loss: &Loss| {
        let Some(known) = before.iter().find(|known| known.is_at_the_place_of(loss)) else { return Some(loss.clone()) };
        let more = loss.count?.checked_sub(known.count.unwrap_or(0)).filter(|more| *more > 0)?;
        Some(Loss { count: Some(more), ..loss.clone() })
    };
    losses.iter().filter_map(new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_new_counts() {
        let loss = |file: &str, offset, count| Loss {
            kind: "discarded".to_owned(),
            file: file.to_owned(),
            offset,
            count,
            ..Loss::default()
        };
        let before = [loss("a", None, Some(3)), loss("b", Some(8), None), loss("c", None, Some(1))];
        let now = [
            loss("a", None, Some(10)),
            loss("b", Some(8), None),
            loss("b", Some(9), None),
            loss("c", None, Some(1)),
            loss("d", None, Some(2)),
        ];
        assert_eq!(
            since(&now, &before),
            [loss("a", None, Some(7)), loss("b", Some(9), None), loss("d", None, Some(2))]
        );
        assert_eq!(since(&now, &[]), now);
    }
}
