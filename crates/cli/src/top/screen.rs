//! Draws the view.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style, Stylize as _};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph, Row, Table, TableState, Wrap};

use super::keys;
use super::listing::{self, Listing, Of, shown};
use super::model::sliding::{SECOND, WINDOW};
use super::tab::{Column, Tab};
use super::view::{Over, Picture, View};
use crate::report::format::duration;

/// Draws the whole screen.
pub fn draw(frame: &mut Frame<'_>, view: &View, picture: &Picture) {
    let [head, tabs, body, foot] =
        Layout::vertical([Constraint::Length(1), Constraint::Length(1), Constraint::Min(0), Constraint::Length(2)])
            .areas(frame.area());
    frame.render_widget(self::head(view, picture), head);
    frame.render_widget(self::tabs(view), tabs);
    let (listing, hidden) = view.listing(picture);
    table(frame, body, view, picture, &listing);
    frame.render_widget(Paragraph::new(vec![losses(picture), state(view, &listing, hidden)]), foot);
    match &view.over {
        Over::Nothing | Over::Filter => {}
        Over::Help => over(frame, body, "Keys", keys::HELP, 0),
        Over::Details { title, text, from } => over(frame, body, title, text, *from),
    }
}

fn head(view: &View, picture: &Picture) -> Line<'static> {
    let of = match view.of {
        Of::All => "since the beginning".to_owned(),
        Of::Recent => format!("last {WINDOW} s"),
    };
    let mut spans = vec![
        Span::from(format!("dyntrace top  {}", view.subject)).bold(),
        format!("  {:.1} s  {} events  {of}", picture.at as f64 / SECOND as f64, picture.events).into(),
    ];
    if view.has_ended {
        spans.push(Span::from("  the process has ended").yellow().bold());
    }
    if view.paused {
        spans.push(Span::from("  PAUSED").yellow().bold());
    }
    Line::from(spans)
}

fn tabs(view: &View) -> Line<'static> {
    let tab = |(number, tab): (usize, Tab)| {
        let style = if tab == view.tab { Style::new().add_modifier(Modifier::REVERSED) } else { Style::new() };
        [Span::styled(format!(" {} {} ", number + 1, tab.name()), style), Span::from(" ")]
    };
    Line::from_iter(Tab::ALL.into_iter().enumerate().flat_map(tab))
}

fn table(frame: &mut Frame<'_>, area: Rect, view: &View, picture: &Picture, listing: &Listing) {
    if listing.rows.is_empty() && listing.others.is_none() {
        let text = if view.filter.is_empty() { view.tab.nothing() } else { "no row passes the filter" };
        return frame.render_widget(Paragraph::new(format!("\n{text}")).dim(), area);
    }
    let columns = view.tab.columns();
    let seconds = match view.of {
        Of::All => picture.seconds.all,
        Of::Recent => picture.seconds.recent,
    };
    // Only rows on the screen become text.
    let height = usize::from(area.height.saturating_sub(1));
    let selected = view.selected(listing.rows.len());
    let first = selected.map_or(0, |selected| (selected + 1).saturating_sub(height));
    let cells = |row: &listing::Row| {
        let numbers = columns.iter().zip(row.numbers(view.of));
        numbers.map(|(column, number)| shown(*number, column.unit, seconds)).collect::<Vec<_>>()
    };
    let mut rows: Vec<(Vec<String>, String)> =
        listing.rows.iter().skip(first).take(height).map(|row| (cells(row), row.keys.join("  "))).collect();
    rows.extend(listing.others.iter().map(|row| (cells(row), format!("(others: {} rows)", listing.left_out))));
    let width = |number: usize, column: &Column| {
        let widest = rows.iter().map(|(cells, _)| cells[number].chars().count()).max().unwrap_or(0);
        // The mark of the order needs a place.
        widest.max(column.title.len() + 1)
    };
    let widths: Vec<usize> = columns.iter().enumerate().map(|(number, column)| width(number, column)).collect();
    let (sorted, reverse) = view.order();
    let title = |(number, column): (usize, &Column)| {
        let mark = if number != sorted {
            ""
        } else if reverse {
            "^"
        } else {
            "v"
        };
        format!("{:>width$}", format!("{}{mark}", column.title), width = widths[number])
    };
    let keys = view.tab.keys().join("  ").to_uppercase();
    let head = Row::new(columns.iter().enumerate().map(title).chain([keys])).bold();
    let lines = rows.iter().map(|(cells, keys)| {
        let numbers = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}"));
        Row::new(numbers.chain([keys.clone()]))
    });
    let constraints = widths.iter().map(|width| Constraint::Length(*width as u16)).chain([Constraint::Fill(1)]);
    let table = Table::new(lines, constraints)
        .header(head)
        .column_spacing(2)
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED));
    let mut state = TableState::new().with_selected(selected.map(|selected| selected - first));
    frame.render_stateful_widget(table, area, &mut state);
}

/// What is missing from the figures: always there.
fn losses(picture: &Picture) -> Line<'static> {
    let mut parts = vec![format!("{} events lost", picture.lost_events)];
    if picture.overwritten_packets > 0 {
        parts.push(format!("{} packets of 32 KiB overwritten before they were read", picture.overwritten_packets));
    }
    if picture.damaged_places > 0 {
        parts.push(format!("{} damaged places", picture.damaged_places));
    }
    if picture.not_followed > 0 {
        parts.push(format!("{} tasks, waits and jobs not followed", picture.not_followed));
    }
    let is_whole = parts.len() == 1 && picture.lost_events == 0;
    let line = Line::from(parts.join(", "));
    if is_whole { line.dim() } else { line.red().bold() }
}

fn state(view: &View, listing: &Listing, hidden: usize) -> Line<'static> {
    if view.over == Over::Filter {
        return Line::from(format!("filter: {}_   Enter: keep, Esc: remove", view.filter));
    }
    let mut text = format!("{} rows", listing.rows.len());
    if !view.filter.is_empty() {
        text += &format!(", {hidden} hidden by the filter {}", crate::escape::name(&view.filter));
    }
    let time = if view.is_trace { "  left/right: time  p: play" } else { "  p: pause" };
    Line::from(format!("{text}   s: sort  r: reverse  w: times  /: filter{time}  Enter: details  ?: keys  q: leave"))
}

/// A box over the table.
fn over(frame: &mut Frame<'_>, area: Rect, title: &str, text: &str, from: u16) {
    frame.render_widget(Clear, area);
    let block = Block::bordered().title(format!(" {title} ")).title_bottom(" Esc: back ");
    frame.render_widget(Paragraph::new(text).block(block).wrap(Wrap { trim: false }).scroll((from, 0)), area);
}

/// The figures of a row, for its details: both times beside each other.
pub fn details(view: &View, picture: &Picture, row: &listing::Row) -> String {
    let mut text = String::new();
    for (name, key) in view.tab.keys().iter().zip(&row.keys) {
        text += &format!("{name}: {}\n", if key.is_empty() { "(none)" } else { key });
    }
    let recent = duration((picture.seconds.recent * SECOND as f64) as i64);
    let all = duration((picture.seconds.all * SECOND as f64) as i64);
    text += &format!("\n{:<12} {:>14} {:>14}\n", "", format!("last {recent}"), format!("all {all}"));
    for (number, column) in view.tab.columns().iter().enumerate() {
        let recent = shown(row.recent[number], column.unit, picture.seconds.recent);
        let all = shown(row.all[number], column.unit, picture.seconds.all);
        text += &format!("{:<12} {recent:>14} {all:>14}\n", column.title);
    }
    text
}
