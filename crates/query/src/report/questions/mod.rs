//! The questions of the page, in its order. Their texts are those of dyntrace's folder `fleet`, to which the links in `questions` lead.

use maud::{Markup, html};

use super::pictures;
use super::rows::Rows;

/// The condition of `changed.sql` that another one replaces.
pub const NEW: &str = "hostname LIKE 'new-%'";
/// The tag of `hops.sql` that another one replaces.
const TAG: &str = "'req-1'";

/// A question, and how its answer is shown.
pub struct Question {
    /// The name of its section and file.
    pub id: &'static str,
    pub title: &'static str,
    /// How to read the answer.
    pub reading: &'static str,
    sql: &'static str,
    /// The table without which there is no answer.
    pub table: &'static str,
    /// Why there are no rows although that table has some.
    pub nothing: &'static str,
    /// Whether times of hosts are compared, which needs the table `clocks`.
    pub is_across_clocks: bool,
    pub picture: fn(&Rows) -> Markup,
}

pub const ALL: [Question; 8] = [
    Question {
        id: "losses",
        title: "What is missing, and where?",
        reading: "Read this first: an answer about a host that lost events is an answer about a part. “not joined” are events or rows that \
                  the conversion could not put together. A host without losses has a row, too.",
        sql: include_str!("losses.sql"),
        table: "events",
        nothing: "There are no events and no losses.",
        is_across_clocks: false,
        picture: |_| html! {},
    },
    Question {
        id: "errors",
        title: "What fails, where, and on how many hosts?",
        reading: "Failed operations by the first two names of the path, the most frequent first. The same failure on many hosts points to \
                  what they share; on one host, to that host.",
        sql: include_str!("errors.sql"),
        table: "operations",
        nothing: "No operation failed.",
        is_across_clocks: false,
        picture: pictures::errors,
    },
    Question {
        id: "hosts",
        title: "How long do the operations of each host take?",
        reading: "The host with the slowest hundredth comes first. A 99th percentile far from the median says that few operations are very \
                  slow; a median unlike those of other hosts says that all are.",
        sql: include_str!("../hosts.sql"),
        table: "operations",
        nothing: "There are no operations.",
        is_across_clocks: false,
        picture: pictures::hosts,
    },
    Question {
        id: "slowest",
        title: "Which requests took longest, and where did their time go?",
        reading: "A request is the file operations of a process that have one user tag. Its queue wait, service and delivery are sums over \
                  its operations; as these overlap, the sums can exceed the time that it took.",
        sql: include_str!("slowest.sql"),
        table: "operations",
        nothing: "No operation has a user tag.",
        is_across_clocks: false,
        picture: pictures::slowest,
    },
    Question {
        id: "hops",
        title: "Where did the time of one request go, from process to process?",
        reading: "A hop is a process in which the tag had file operations. “since last” is the time between the end of the hop before and \
                  the begin of this one, wrong by at most “error”; it is negative if they overlap.",
        sql: include_str!("hops.sql"),
        table: "operations",
        nothing: "No operation has this user tag.",
        is_across_clocks: true,
        picture: pictures::hops,
    },
    Question {
        id: "unlike",
        title: "Which hosts are unlike the others, and in which command?",
        reading: "Distance is how far the times of a host's operations are from those of all other hosts. 0 is alike; 1 is all slower, \
                  or all faster.",
        sql: include_str!("unlike.sql"),
        table: "operations",
        nothing: "There is nothing to compare: no command has 20 answered operations on a host and 20 on the others.",
        is_across_clocks: false,
        picture: pictures::unlike,
    },
    Question {
        id: "messages",
        title: "How long do messages take, and between which hosts?",
        reading: "Times of messages that are not “aligned” have the difference of two clocks in them: only their changes say something. \
                  “error” is the most by which the time of an aligned message is wrong.",
        sql: include_str!("messages.sql"),
        table: "messages",
        nothing: "No message with a sequential trace token was both sent and received here.",
        is_across_clocks: true,
        picture: pictures::messages,
    },
    Question {
        id: "changed",
        title: "What changed between two versions?",
        reading: "The command whose 99th percentile grew most comes first: a ratio above 1 is slower than before. Small numbers of \
                  operations make large ratios by chance.",
        sql: include_str!("changed.sql"),
        table: "operations",
        nothing: "No operation was answered.",
        is_across_clocks: false,
        picture: pictures::changed,
    },
];

impl Question {
    /// Returns the SQL, about this tag and this condition for operations of the new version.
    pub fn sql(&self, tag: Option<&str>, new: Option<&str>) -> String {
        match (self.id, tag, new) {
            ("hops", Some(tag), _) => self.sql.replace(TAG, &format!("'{}'", tag.replace('\'', "''"))),
            ("changed", _, Some(new)) => self.sql.replace(NEW, &format!("({new})")),
            _ => self.sql.to_owned(),
        }
    }
}

/// Returns the most rows that the text lets through, and the text without that limit.
pub fn limit(sql: &str) -> Option<(u64, &str)> {
    let (unlimited, limit) = sql.trim_end().rsplit_once("\nLIMIT ")?;
    Some((limit.parse().ok()?, unlimited))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(id: &str) -> &'static Question {
        ALL.iter().find(|question| question.id == id).unwrap()
    }

    #[test]
    fn a_tag_and_a_condition_take_their_places() {
        let hops = question("hops").sql(Some("it's"), None);
        assert!(hops.contains("WHERE user_tag = 'it''s'") && !hops.contains(TAG));
        let changed = question("changed").sql(None, Some("program = 'two'"));
        assert!(changed.contains("CASE WHEN (program = 'two') THEN 'new'") && !changed.contains(NEW));
        assert!(question("changed").sql(None, None).contains(&format!("CASE WHEN {NEW} THEN 'new'")));
    }

    #[test]
    fn limits_are_last() {
        let limited = ALL.iter().filter(|question| question.sql.contains("LIMIT"));
        let found: Vec<_> = limited.map(|question| (question.id, limit(question.sql).unwrap().0)).collect();
        assert_eq!(found, [("errors", 50), ("slowest", 20), ("unlike", 20)]);
        assert!(limit(question("hops").sql).is_none());
    }
}
