//! Draws the view.

use dyntrace_analysis::report::format::duration;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style, Stylize as _};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph, Row, Table, TableState, Wrap};

use super::listing::{self, Listing, Of, shown};
use super::model::sliding::{SECOND, WINDOW};
use super::tab::{Column, Tab};
use super::view::{Over, Picture, View};

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
        format!("  {:.1} s  {} events  {of}", picture.seconds.all, picture.events).into(),
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
    let others = usize::from(listing.others.is_some());
    let height = usize::from(area.height).saturating_sub(1 + others).max(1);
    let selected = view.selected(listing.rows.len());
    let first = selected.map_or(0, |selected| (selected + 1).saturating_sub(height));
    let cells = |row: &listing::Row| {
        let numbers = columns.iter().zip(row.numbers(view.of));
        numbers.map(|(column, number)| shown(*number, column.unit, seconds)).collect::<Vec<_>>()
    };
    let visible: Vec<&listing::Row> = listing.rows.iter().skip(first).take(height).collect();
    let names = view.tab.keys().iter().map(|name| name.to_uppercase()).collect();
    let (keys, texts) = keys(names, &visible);
    let mut rows: Vec<(Vec<String>, String)> = visible.into_iter().map(cells).zip(texts).collect();
    rows.extend(listing.others.iter().map(|row| (cells(row), format!("(others: {} rows)", listing.left_out))));
    let width = |number: usize, column: &Column| {
        let widest = rows.iter().map(|(cells, _)| cells[number].chars().count()).max().unwrap_or(0);
        // The mark of the order needs a place.
        widest.max(column.title.len() + 1)
    };
    let widths: Vec<usize> = columns.iter().enumerate().map(|(number, column)| width(number, column)).collect();
    let (sorted, reverse) = view.order();
    let shown = fitting(columns, &widths, sorted, area.width.into());
    let title = |number: usize| {
        let mark = if number != sorted {
            ""
        } else if reverse {
            "^"
        } else {
            "v"
        };
        format!("{:>width$}", format!("{}{mark}", columns[number].title), width = widths[number])
    };
    let head = Row::new(shown.iter().map(|number| title(*number)).chain([keys])).bold();
    let lines = rows.iter().map(|(cells, keys)| {
        let numbers = shown.iter().map(|number| format!("{:>width$}", cells[*number], width = widths[*number]));
        Row::new(numbers.chain([keys.clone()]))
    });
    let constraints =
        shown.iter().map(|number| Constraint::Length(widths[*number] as u16)).chain([Constraint::Fill(1)]);
    let table = Table::new(lines, constraints)
        .header(head)
        .column_spacing(2)
        .row_highlight_style(Style::new().add_modifier(Modifier::REVERSED));
    let mut state = TableState::new().with_selected(selected.map(|selected| selected - first));
    frame.render_stateful_widget(table, area, &mut state);
}

/// The columns for which a screen has room beside the keys. The one by which rows are sorted stays; the details of a row have all.
fn fitting(columns: &[Column], widths: &[usize], sorted: usize, screen: usize) -> Vec<usize> {
    /// The least room for the keys.
    const KEYS: usize = 24;
    let mut shown: Vec<usize> = (0..columns.len()).collect();
    while shown.iter().map(|number| widths[*number] + 2).sum::<usize>() + KEYS > screen {
        let can_go = shown.iter().filter(|number| columns[**number].goes > 0 && **number != sorted);
        let Some(next) = can_go.min_by_key(|number| columns[**number].goes).copied() else { break };
        shown.retain(|number| *number != next);
    }
    shown
}

/// The keys of the head and of the rows, as one column of text: under each other, unless they are very long.
fn keys(head: Vec<String>, rows: &[&listing::Row]) -> (String, Vec<String>) {
    const WIDEST: usize = 24;
    let all = || [&head].into_iter().chain(rows.iter().map(|row| &row.keys));
    let widest = |number: usize| all().map(|keys| keys[number].chars().count()).max().unwrap_or(0).min(WIDEST);
    let widths: Vec<usize> = (0..head.len()).map(widest).collect();
    let text = |keys: &Vec<String>| {
        let padded = keys.iter().zip(&widths).map(|(key, width)| format!("{key:<width$}"));
        padded.collect::<Vec<_>>().join("  ")
    };
    (text(&head), rows.iter().map(|row| text(&row.keys)).collect())
}

/// The line about events that the figures lack. It is always there.
fn losses(picture: &Picture) -> Line<'static> {
    let mut parts = vec![format!("{} events lost", picture.lost_events)];
    if picture.overwritten_packets > 0 {
        parts.push(format!("{} packets of 32 KiB overwritten unread", picture.overwritten_packets));
    }
    if picture.damaged_places > 0 {
        parts.push(format!("{} damaged places", picture.damaged_places));
    }
    if picture.not_followed > 0 {
        parts.push(format!("{} not followed", picture.not_followed));
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
        text += &format!(", {hidden} hidden by the filter {}", dyntrace_terminal::escape::name(&view.filter));
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

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use ratatui::crossterm::event::{KeyCode, KeyModifiers};
    use ratatui::style::Modifier;

    use super::*;
    use crate::top::sample::is_golden;
    use crate::top::{keys, sample};

    fn terminal(view: &View, picture: &Picture) -> Terminal<TestBackend> {
        let mut terminal = Terminal::new(TestBackend::new(100, 16)).unwrap();
        terminal.draw(|frame| draw(frame, view, picture)).unwrap();
        terminal
    }

    /// The lines of the screen.
    fn drawn(view: &View, picture: &Picture) -> String {
        let terminal = terminal(view, picture);
        let cells: Vec<&str> = terminal.backend().buffer().content.iter().map(|cell| cell.symbol()).collect();
        cells.chunks(100).map(|line| line.concat().trim_end().to_owned() + "\n").collect()
    }

    fn press(view: &mut View, picture: &Picture, keys: &[KeyCode]) -> Vec<keys::Asked> {
        keys.iter().map(|code| keys::press(view, picture, (*code).into())).collect()
    }

    #[test]
    fn each_tab() {
        let (mut view, picture) = (sample::view(), sample::picture());
        for tab in Tab::ALL {
            assert_eq!(view.tab, tab);
            is_golden(&format!("{}.txt", tab.name()), &drawn(&view, &picture));
            press(&mut view, &picture, &[KeyCode::Tab]);
        }
        assert_eq!(view.tab, Tab::Operations);
        press(&mut view, &picture, &[KeyCode::Char('4')]);
        assert_eq!(view.tab, Tab::Waits);
        press(&mut view, &picture, &[KeyCode::BackTab]);
        assert_eq!(view.tab, Tab::Tasks);
    }

    #[test]
    fn losses_and_the_end_of_the_process_are_shown() {
        let (mut view, mut picture) = (sample::view(), sample::picture());
        (view.has_ended, view.paused) = (true, true);
        (picture.lost_events, picture.overwritten_packets, picture.damaged_places) = (12, 3, 1);
        picture.not_followed = 5;
        is_golden("losses.txt", &drawn(&view, &picture));
    }

    #[test]
    fn other_times_another_order_and_a_filter() {
        let (mut view, picture) = (sample::view(), sample::picture());
        let keys = ['w', 's', 's', 'r', '/', '/', 's', 'r', 'v', '*', 'x'].map(KeyCode::Char);
        press(&mut view, &picture, &keys);
        press(&mut view, &picture, &[KeyCode::Backspace]);
        is_golden("filter.txt", &drawn(&view, &picture));
        press(&mut view, &picture, &[KeyCode::Enter]);
        assert_eq!((view.over.clone(), &*view.filter, view.order()), (Over::Nothing, "/srv*", (4, true)));
        let (listing, hidden) = view.listing(&picture);
        assert_eq!((listing.rows.len(), hidden), (3, 0));
        press(&mut view, &picture, &[KeyCode::Char('/'), KeyCode::Esc]);
        assert_eq!((view.over, &*view.filter), (Over::Nothing, ""));
    }

    #[test]
    fn the_details_of_the_selected_row() {
        let (mut view, picture) = (sample::view(), sample::picture());
        let asked = press(&mut view, &picture, &[KeyCode::Down, KeyCode::Char('j'), KeyCode::Up, KeyCode::Enter]);
        assert_eq!(asked.last(), Some(&keys::Asked::Details));
        let row = view.selected_row(&picture).unwrap();
        assert_eq!(row.keys, ["FDATASYNC", "/srv/log"]);
        view.over = Over::Details { title: row.keys.join("  "), text: details(&view, &picture, &row), from: 0 };
        is_golden("details.txt", &drawn(&view, &picture));
        press(&mut view, &picture, &[KeyCode::Down, KeyCode::Down, KeyCode::Up]);
        assert!(matches!(view.over, Over::Details { from: 1, .. }));
        press(&mut view, &picture, &[KeyCode::Char('q'), KeyCode::Char('?')]);
        is_golden("help.txt", &drawn(&view, &picture));
    }

    #[test]
    fn the_selected_row_is_reversed_and_stays_on_the_screen() {
        let (mut view, mut picture) = (sample::view(), sample::picture());
        let rows = &mut picture.listings[0].rows;
        for number in 0..50 {
            let mut row = rows[0].clone();
            row.keys[1] = format!("/srv/{number:02}");
            rows.push(row);
        }
        press(&mut view, &picture, &[KeyCode::End]);
        let terminal = terminal(&view, &picture);
        let buffer = terminal.backend().buffer();
        let is_reversed = |line: u16| buffer[(50, line)].modifier.contains(Modifier::REVERSED);
        let reversed: Vec<u16> = (2..16).filter(|line| is_reversed(*line)).collect();
        assert_eq!(reversed.len(), 1, "{}", drawn(&view, &picture));
        assert_eq!(view.selected_row(&picture).unwrap().keys, ["OPEN", "/srv/data/index"]);
        let line = drawn(&view, &picture).lines().nth(reversed[0].into()).unwrap().to_owned();
        assert!(line.contains("/srv/data/index"), "{line}");
        press(&mut view, &picture, &[KeyCode::PageUp, KeyCode::Home, KeyCode::Up]);
        assert_eq!(view.selected(53), Some(0));
        // Rows that became fewer.
        press(&mut view, &picture, &[KeyCode::End]);
        assert_eq!((view.selected(2), view.selected(0)), (Some(1), None));
    }

    #[test]
    fn keys_that_leave_pause_and_move_through_time() {
        let (mut view, picture) = (sample::view(), sample::picture());
        use keys::Asked::{Leave, Nothing, Pause, Seek};
        let codes = [KeyCode::Char('q'), KeyCode::Esc, KeyCode::Char('p'), KeyCode::Left];
        assert_eq!(press(&mut view, &picture, &codes), [Leave, Leave, Pause, Nothing]);
        assert!(view.paused);
        let interrupt = (KeyCode::Char('c'), KeyModifiers::CONTROL);
        view.over = Over::Filter;
        assert_eq!(
            keys::press(&mut view, &picture, ratatui::crossterm::event::KeyEvent::new(interrupt.0, interrupt.1)),
            Leave
        );
        let mut view = View::new("trace".to_owned(), true, String::new());
        let codes = [KeyCode::Left, KeyCode::Char(']'), KeyCode::Char('}')];
        assert_eq!(press(&mut view, &picture, &codes), [Seek(-SECOND), Seek(SECOND), Seek(10 * SECOND)]);
    }

    #[test]
    fn columns_go_on_narrow_screens() {
        let (view, picture) = (sample::view(), sample::picture());
        let heads = [80, 100, 200].map(|width| {
            let mut terminal = Terminal::new(TestBackend::new(width, 16)).unwrap();
            terminal.draw(|frame| draw(frame, &view, &picture)).unwrap();
            let buffer = terminal.backend().buffer();
            let line: String = (0..width).map(|column| buffer[(column, 2)].symbol()).collect();
            line.split_whitespace().collect::<Vec<_>>().join(" ")
        });
        assert_eq!(
            heads,
            [
                "OPS/S TOTALv ERRORS BYTES/S P99 MAX COMMAND PATH",
                "OPS OPS/S TOTALv ERRORS BYTES/S P50 P99 MAX COMMAND PATH",
                "OPS OPS/S TOTALv ERRORS BYTES/S P50 P99 MAX COMMAND PATH",
            ]
        );
    }

    #[test]
    fn any_size_of_the_terminal_is_drawn() {
        let (view, picture) = (sample::view(), sample::picture());
        for (width, height) in [(0, 0), (1, 1), (5, 3), (20, 4), (300, 100)] {
            let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
            terminal.draw(|frame| draw(frame, &view, &picture)).unwrap();
        }
    }
}
