//! A snapshot of all tabs, as text and as JSON.

use serde_json::{Map, Value, json};

use super::listing::{Listing, Of, Row, shown};
use super::model::Model;
use super::tab::Tab;
use crate::columns::aligned;

/// The version of the JSON's shape.
const VERSION: u32 = 1;
/// The most rows of a table for people.
const ROWS: usize = 20;

/// What is shown of the model.
pub struct Shown<'a> {
    pub model: &'a Model,
    /// The process; none for a trace.
    pub pid: Option<u32>,
    pub ended: bool,
    pub filter: &'a str,
}

impl Shown<'_> {
    /// The sorted rows that pass the filter.
    fn listing(&self, tab: Tab, of: Of) -> Listing {
        let mut listing = self.model.listing(tab);
        listing.filter(self.filter);
        listing.sort(tab.first_sort(), of, false);
        listing
    }

    pub fn json(&self) -> Value {
        let (model, seconds) = (self.model, self.model.seconds());
        let losses = &model.losses;
        let mut object = json!({
            "version": VERSION, "pid": self.pid, "process_ended": self.ended,
            "from_ns": model.start, "to_ns": model.start.map(|_| model.now),
            "all_seconds": seconds.all, "recent_seconds": seconds.recent,
            "events": model.events, "not_followed": model.not_followed(),
            "lost_events": losses.events(),
            "overwritten_packets": losses.overwritten.iter().map(|ring| ring.packets).fold(0, u64::saturating_add),
            "damaged_places": losses.damaged.len(),
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
        let seconds = self.model.seconds().all;
        let head = match self.pid {
            Some(pid) if self.ended => format!("process {pid}, which has ended"),
            Some(pid) => format!("process {pid}"),
            None => "trace".to_owned(),
        };
        let mut text = format!("{head}: {} events in {seconds:.3} s\n", self.model.events);
        for tab in Tab::ALL {
            let listing = self.listing(tab, Of::All);
            if !listing.rows.is_empty() || listing.others.is_some() {
                text += &table(&listing, seconds);
            }
        }
        if self.model.not_followed() > 0 {
            text +=
                &format!("\n{} tasks, waits and jobs were not followed: too many at once\n", self.model.not_followed());
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
    aligned(&cells, |column| column < columns.len()).into_iter().for_each(|line| text += &format!("{line}\n"));
    if listing.rows.len() > ROWS {
        text += &format!("and {} more rows: --json has them\n", listing.rows.len() - ROWS);
    }
    text
}
