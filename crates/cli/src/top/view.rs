//! The user's choices: the tab, the row, the order, the filter, the times.

use super::listing::{Listing, Of, Row, Seconds};
use super::model::Model;
use super::tab::Tab;

/// The figures that the screen shows. While it is paused they stay, and the recording is read on.
#[derive(Clone, Debug)]
pub struct Picture {
    pub listings: Vec<Listing>,
    pub seconds: Seconds,
    /// When the recording began, in nanoseconds since 1970; `None` before the first event of a trace.
    pub start: Option<i64>,
    /// The instant.
    pub now: i64,
    pub events: u64,
    pub lost_events: u64,
    pub overwritten_packets: u64,
    pub damaged_places: usize,
    pub not_followed: u64,
}

impl Picture {
    pub fn of(model: &Model) -> Picture {
        Picture {
            listings: Tab::ALL.into_iter().map(|tab| model.listing(tab)).collect(),
            seconds: model.seconds(),
            start: model.start,
            now: model.now,
            events: model.events,
            lost_events: model.losses.events(),
            overwritten_packets: model.losses.overwritten.iter().map(|ring| ring.packets).fold(0, u64::saturating_add),
            damaged_places: model.losses.damaged.len(),
            not_followed: model.not_followed(),
        }
    }
}

/// A page that covers the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Over {
    Nothing,
    /// The filter is being written.
    Filter,
    /// A text, from this line on.
    Details {
        title: String,
        text: String,
        from: u16,
    },
}

pub struct View {
    pub tab: Tab,
    /// By tab: the column, and whether the smallest come first.
    orders: [(usize, bool); Tab::ALL.len()],
    /// By tab.
    selected: [usize; Tab::ALL.len()],
    pub filter: String,
    pub of: Of,
    pub paused: bool,
    pub over: Over,
    /// `process 4711`, or the trace.
    pub subject: String,
    /// Whether the process has ended.
    pub has_ended: bool,
    pub is_trace: bool,
}

impl View {
    pub fn new(subject: String, is_trace: bool, filter: String) -> View {
        View {
            tab: Tab::Operations,
            orders: Tab::ALL.map(|tab| (tab.first_sort(), false)),
            selected: [0; Tab::ALL.len()],
            filter,
            of: Of::Recent,
            paused: is_trace,
            over: Over::Nothing,
            subject,
            has_ended: false,
            is_trace,
        }
    }

    pub fn order(&self) -> (usize, bool) {
        self.orders[self.tab as usize]
    }

    /// Sorts by the next column.
    pub fn sort_next(&mut self) {
        let columns = self.tab.columns().len();
        let (column, reverse) = &mut self.orders[self.tab as usize];
        (*column, *reverse) = ((*column + 1) % columns, false);
    }

    pub fn reverse(&mut self) {
        let (_, reverse) = &mut self.orders[self.tab as usize];
        *reverse = !*reverse;
    }

    /// Moves the selection, within the rows.
    pub fn select(&mut self, by: isize, rows: usize) {
        let selected = &mut self.selected[self.tab as usize];
        *selected = selected.saturating_add_signed(by).min(rows.saturating_sub(1));
    }

    /// The sorted rows that pass the filter, and how many do not.
    pub fn listing(&self, picture: &Picture) -> (Listing, usize) {
        let mut listing = picture.listings[self.tab as usize].clone();
        let hidden = listing.filter(&self.filter);
        let (column, reverse) = self.order();
        listing.sort(column, self.of, reverse);
        (listing, hidden)
    }

    /// The place of the selected row; rows may have become fewer.
    pub fn selected(&self, rows: usize) -> Option<usize> {
        (rows > 0).then(|| self.selected[self.tab as usize].min(rows - 1))
    }

    pub fn selected_row(&self, picture: &Picture) -> Option<Row> {
        let (mut listing, _) = self.listing(picture);
        Some(listing.rows.swap_remove(self.selected(listing.rows.len())?))
    }
}
