//! A snapshot of all tabs, as text and as JSON.

use dyntrace_terminal::columns::aligned;
use serde_json::{Map, Value, json};

use super::listing::{Listing, Of, Row, shown};
use super::tab::Tab;
use super::view::Picture;

/// The version of the JSON's shape.
const VERSION: u32 = 1;
/// The most rows of a table for people.
const ROWS: usize = 20;

/// The figures that are printed, and of what they are.
pub struct Shown<'a> {
    pub picture: &'a Picture,
    /// The process; none for a trace.
    pub pid: Option<u32>,
    pub ended: bool,
    pub filter: &'a str,
}

impl Shown<'_> {
    /// The sorted rows that pass the filter.
    fn listing(&self, tab: Tab, of: Of) -> Listing {
        let mut listing = self.picture.listings[tab as usize].clone();
        listing.filter(self.filter);
        listing.sort(tab.first_sort(), of, false);
        listing
    }

    pub fn json(&self) -> Value {
        let picture = self.picture;
        let mut object = json!({
            "version": VERSION, "pid": self.pid, "process_ended": self.ended,
            "from_ns": picture.start, "to_ns": picture.start.map(|_| picture.now),
            "all_seconds": picture.seconds.all, "recent_seconds": picture.seconds.recent,
            "events": picture.events, "not_followed": picture.not_followed, "lost_events": picture.lost_events,
            "overwritten_packets": picture.overwritten_packets, "damaged_places": picture.damaged_places,
        });
        for tab in Tab::ALL {
            let listing = self.listing(tab, Of::All);
            object[tab.name()] = json!({
                "rows": listing.rows.iter().map(|each| row(tab, each)).collect::<Value>(),
                "others": listing.others.as_ref().map(|each| row(tab, each)),
                "left_out": listing.left_out,
            });
        }
        object
    }

    /// Tables of the tabs with rows. Rates are of the whole time.
    pub fn text(&self) -> String {
        let seconds = self.picture.seconds.all;
        let head = match self.pid {
            Some(pid) if self.ended => format!("process {pid}, which has ended"),
            Some(pid) => format!("process {pid}"),
            None => "trace".to_owned(),
        };
        let mut text = format!("{head}: {} events in {seconds:.3} s\n", self.picture.events);
        for tab in Tab::ALL {
            let listing = self.listing(tab, Of::All);
            if !listing.rows.is_empty() || listing.others.is_some() {
                text += &table(&listing, seconds);
            }
        }
        if self.picture.not_followed > 0 {
            text +=
                &format!("\n{} tasks, waits and jobs were not followed: too many at once\n", self.picture.not_followed);
        }
        text
    }
}

fn row(tab: Tab, row: &Row) -> Value {
    let numbers = |of: Of, is_now: bool| {
        let columns = tab.columns().iter().zip(row.numbers(of)).filter(|(column, _)| column.is_now == is_now);
        columns.map(|(column, number)| (column.name.to_owned(), json!(number))).collect::<Map<_, _>>()
    };
    let mut object = numbers(Of::All, true);
    object.extend(tab.keys().iter().zip(&row.keys).map(|(name, key)| ((*name).to_owned(), json!(key))));
    object.insert("all".to_owned(), numbers(Of::All, false).into());
    object.insert("recent".to_owned(), numbers(Of::Recent, false).into());
    object.into()
}

fn table(listing: &Listing, seconds: f64) -> String {
    let (tab, columns) = (listing.tab, listing.tab.columns());
    let keys = tab.keys().iter().map(|key| key.to_uppercase());
    let mut cells = vec![columns.iter().map(|column| column.title.to_owned()).chain(keys).collect::<Vec<_>>()];
    let line = |row: &Row, keys: Vec<String>| {
        let numbers = columns.iter().zip(&row.all).map(|(column, number)| shown(*number, column.unit, seconds));
        numbers.chain(keys).collect()
    };
    cells.extend(listing.rows.iter().take(ROWS).map(|row| line(row, row.keys.clone())));
    let mut names = vec![String::new(); tab.keys().len()];
    names[0] = "(others)".to_owned();
    cells.extend(listing.others.iter().map(|row| line(row, names.clone())));
    let mut text = format!("\n{}\n", tab.name());
    aligned(&cells, |column| column < columns.len())
        .into_iter()
        .for_each(|line| text += &format!("{}\n", line.trim_end()));
    if listing.rows.len() > ROWS {
        text += &format!("and {} more rows: --json has them\n", listing.rows.len() - ROWS);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::top::sample;

    fn shown(picture: &Picture, filter: &str) -> (String, Value) {
        let shown = Shown { picture, pid: Some(4711), ended: true, filter };
        (shown.text(), shown.json())
    }

    #[test]
    fn tables_of_all_tabs_with_rows() {
        let (text, _) = shown(&sample::picture(), "");
        sample::is_golden("once.txt", &text);
    }

    #[test]
    fn a_filter_holds_for_all_tabs() {
        let (text, json) = shown(&sample::picture(), "slow");
        assert_eq!(json["pools"]["rows"].as_array().unwrap().len(), 1);
        assert_eq!(json["tasks"]["rows"].as_array().unwrap().len(), 0);
        assert!(text.contains("slow") && !text.contains("fast") && !text.contains("/srv/data"), "{text}");
    }

    #[test]
    fn each_row_has_both_times() {
        let (_, json) = shown(&sample::picture(), "");
        let row = &json["operations"]["rows"][0];
        assert_eq!(
            (&row["command"], &row["all"]["count"], &row["recent"]["count"]),
            (&"READ".into(), &14400.into(), &4800.into())
        );
        assert_eq!(json["operations"]["others"]["recent"]["count"], 7);
        assert_eq!(
            (&json["tasks"]["rows"][1]["alive"], &json["tasks"]["rows"][1]["recent"]["max_ns"]),
            (&3.into(), &Value::Null)
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_page_has_the_fields() {
        let mut fields = crate::page::Fields::new(&[
            ("operations.rows[]", "operation"),
            ("operations.others", "operation"),
            ("tags.rows[]", "tag"),
            ("tags.others", "tag"),
            ("tasks.rows[]", "task"),
            ("tasks.others", "task"),
            ("waits.rows[]", "wait"),
            ("waits.others", "wait"),
            ("messages.rows[]", "messages row"),
            ("messages.others", "messages row"),
            ("pools.rows[]", "pool"),
            ("pools.others", "pool"),
            ("operation.all", "operation figures"),
            ("operation.recent", "operation figures"),
            ("tag.all", "operation figures"),
            ("tag.recent", "operation figures"),
            ("task.all", "task figures"),
            ("task.recent", "task figures"),
            ("wait.all", "wait figures"),
            ("wait.recent", "wait figures"),
            ("messages row.all", "message figures"),
            ("messages row.recent", "message figures"),
            ("pool.all", "pool figures"),
            ("pool.recent", "pool figures"),
        ]);
        // All that may be null is null in one, and is not in another.
        let mut picture = sample::picture();
        fields.add(&shown(&picture, "").1);
        picture.listings[0].others = None;
        fields.add(&shown(&picture, "").1);
        let may_be_null = ["p50_ns", "p99_ns", "max_ns", "threads", "not_polled"];
        for (tab, listing) in Tab::ALL.into_iter().zip(&mut picture.listings) {
            let full = vec![Some(1); tab.columns().len()];
            let is_null = tab.columns().iter().map(|column| may_be_null.contains(&column.name));
            let part: Vec<_> = is_null.map(|null| (!null).then_some(1)).collect();
            let keys = vec!["x".to_owned(); tab.keys().len()];
            listing.rows = vec![Row { keys: keys.clone(), all: part.clone(), recent: part }];
            listing.others = Some(Row { keys, all: full.clone(), recent: full });
        }
        picture.start = None;
        fields.add(&Shown { picture: &picture, pid: None, ended: false, filter: "" }.json());
        fields.are_those_below("dyntrace top --json");
    }
}
