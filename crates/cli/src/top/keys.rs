//! Keys, and how each changes the view.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::listing::Of;
use super::model::sliding::SECOND;
use super::tab::Tab;
use super::view::{Over, Picture, View};

pub const HELP: &str = "\
Tab, Shift-Tab, 1 to 6   choose a tab
Up, Down, k, j           choose a row; PageUp, PageDown, Home, End
s, r                     sort by the next column; reverse the order
w                        figures of the last 10 s, or of all the time
/                        filter: a part of a text, or a pattern such as *.log
p, Space                 pause; of a trace: let the time go on
Left, Right, [, ]        of a trace: 1 s back or on; { and }: 10 s
Enter                    details; of a task of a process: what dyntrace why says
q, Esc, Ctrl-C           leave

STILL counts tasks that are alive and were not polled in the last 10 s.
BUSY is the time in polls as a share of the time; of several threads it may exceed 100 %.";

/// How many rows a page has.
const PAGE: isize = 20;
/// The longest filter.
const FILTER: usize = 200;

/// A request that the view leaves to its owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    Nothing,
    Leave,
    /// Pause, or go on.
    Pause,
    /// Move the time by nanoseconds.
    Seek(i64),
    /// Show details of the selected row.
    Details,
}

pub fn press(view: &mut View, picture: &Picture, key: KeyEvent) -> Asked {
    if key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL) {
        return Asked::Leave;
    }
    match &mut view.over {
        Over::Filter => write(view, key.code),
        Over::Details { .. } => read(view, key.code),
        Over::Nothing => choose(view, picture, key.code),
    }
}

/// While the filter is written.
fn write(view: &mut View, code: KeyCode) -> Asked {
    match code {
        KeyCode::Enter => view.over = Over::Nothing,
        KeyCode::Esc => {
            view.filter.clear();
            view.over = Over::Nothing;
        }
        KeyCode::Backspace => {
            view.filter.pop();
        }
        KeyCode::Char(char) if view.filter.len() < FILTER && !dyntrace_terminal::escape::is_unsafe(char) => {
            view.filter.push(char)
        }
        _ => {}
    }
    Asked::Nothing
}

/// While a box covers the table.
fn read(view: &mut View, code: KeyCode) -> Asked {
    match (code, &mut view.over) {
        (KeyCode::Down | KeyCode::Char('j'), Over::Details { text, from, .. }) => {
            let lines = text.lines().count().try_into().unwrap_or(u16::MAX);
            *from = (*from + 1).min(lines);
        }
        (KeyCode::Up | KeyCode::Char('k'), Over::Details { from, .. }) => *from = from.saturating_sub(1),
        (KeyCode::Esc | KeyCode::Enter | KeyCode::Char('q' | '?'), _) => view.over = Over::Nothing,
        _ => {}
    }
    Asked::Nothing
}

fn choose(view: &mut View, picture: &Picture, code: KeyCode) -> Asked {
    let rows = || view.listing(picture).0.rows.len();
    match code {
        KeyCode::Char('q') | KeyCode::Esc => return Asked::Leave,
        KeyCode::Tab => view.tab = Tab::ALL[(view.tab as usize + 1) % Tab::ALL.len()],
        KeyCode::BackTab => view.tab = Tab::ALL[(view.tab as usize + Tab::ALL.len() - 1) % Tab::ALL.len()],
        KeyCode::Char(digit @ '1'..='6') => view.tab = Tab::ALL[digit as usize - '1' as usize],
        KeyCode::Down | KeyCode::Char('j') => view.select(1, rows()),
        KeyCode::Up | KeyCode::Char('k') => view.select(-1, rows()),
        KeyCode::PageDown => view.select(PAGE, rows()),
        KeyCode::PageUp => view.select(-PAGE, rows()),
        KeyCode::Home => view.select(isize::MIN, rows()),
        KeyCode::End => view.select(isize::MAX, rows()),
        KeyCode::Char('s') => view.sort_next(),
        KeyCode::Char('r') => view.reverse(),
        KeyCode::Char('w') => view.of = if view.of == Of::All { Of::Recent } else { Of::All },
        KeyCode::Char('/') => view.over = Over::Filter,
        KeyCode::Char('?') => view.over = Over::Details { title: "Keys".to_owned(), text: HELP.to_owned(), from: 0 },
        KeyCode::Char('p' | ' ') => {
            view.paused = !view.paused;
            return Asked::Pause;
        }
        KeyCode::Enter => return Asked::Details,
        KeyCode::Left | KeyCode::Char('[') if view.is_trace => return Asked::Seek(-SECOND),
        KeyCode::Right | KeyCode::Char(']') if view.is_trace => return Asked::Seek(SECOND),
        KeyCode::Char('{') if view.is_trace => return Asked::Seek(-10 * SECOND),
        KeyCode::Char('}') if view.is_trace => return Asked::Seek(10 * SECOND),
        _ => {}
    }
    Asked::Nothing
}
