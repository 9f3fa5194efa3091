//! The terminal while `top` has it, and what happens there.

use std::io;
use std::mem::ManuallyDrop;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};
use dyntrace_analysis::view::PAUSE;
use dyntrace_terminal::exit::Failure;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEvent, KeyEventKind};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::keys::{self, Asked};
use super::screen::{details, draw};
use super::source::{Source, State};
use super::tab::Tab;
use super::view::{Over, Picture, View};

/// The time between two pictures, if no key is pressed.
const PICTURE: Duration = Duration::from_millis(500);

/// The terminal in raw mode, with a screen of its own. Dropping it, and a panic, restores the terminal.
struct Screen(ManuallyDrop<DefaultTerminal>);

impl Screen {
    fn take() -> Result<Screen, Failure> {
        let terminal = ratatui::try_init().context("cannot use the terminal: --once prints the tables without one")?;
        Ok(Screen(ManuallyDrop::new(terminal)))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // There is no terminal to report it on. The terminal's own drop does so, and panics.
        let _ = self.0.show_cursor();
        let _ = ratatui::try_restore();
    }
}

/// Shows the source until the user leaves, the terminal is gone, or a signal asks to end.
pub fn show(source: &mut dyn Source, view: &mut View) -> Result<(), Failure> {
    let mut screen = Screen::take()?;
    let inputs = inputs();
    let mut picture = Picture::of(source.model());
    let mut pictured = Instant::now();
    let mut why: Option<Receiver<String>> = None;
    let mut is_new = true;
    loop {
        if is_new {
            match screen.0.draw(|frame| draw(frame, view, &picture)) {
                Err(_) if is_gone() => return Ok(()),
                drawn => drawn.map(drop).context("cannot write to the terminal")?,
            }
        }
        is_new = false;
        let mut asked = Asked::Nothing;
        match inputs.recv_timeout(PAUSE) {
            _ if is_gone() => return Ok(()),
            Ok(Input::Key(key)) => {
                asked = keys::press(view, &picture, key);
                is_new = true;
            }
            Ok(Input::Other) => is_new = true,
            Ok(Input::Failed(error)) => Err(error).context("cannot read from the terminal")?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => Err(anyhow!("the thread that reads from the terminal has ended"))?,
        }
        let is_trace = source.pid().is_none();
        match asked {
            Asked::Nothing => {}
            Asked::Leave => return Ok(()),
            Asked::Pause => source.play(!view.paused),
            Asked::Seek(by) => {
                source.seek(by);
                picture = Picture::of(source.model());
            }
            Asked::Details => why = explain(source.pid(), view, &picture),
        }
        match (&why, &mut view.over) {
            (Some(told), Over::Details { text, .. }) => {
                if let Ok(more) = told.try_recv() {
                    text.push_str(&more);
                    (why, is_new) = (None, true);
                }
            }
            // They were closed.
            _ => why = None,
        }
        match source.look(Duration::ZERO)? {
            State::Interrupted => return Ok(()),
            State::Ended => {
                is_new |= !view.has_ended && !is_trace;
                view.has_ended = !is_trace;
            }
            State::Runs => {}
        }
        if pictured.elapsed() >= PICTURE {
            pictured = Instant::now();
            if !view.paused {
                picture = Picture::of(source.model());
                is_new = true;
            }
        }
    }
}

enum Input {
    Key(KeyEvent),
    /// Such as a new size.
    Other,
    Failed(io::Error),
}

/// Reads in a thread of its own, for crossterm reads a terminal that is gone for ever.
fn inputs() -> Receiver<Input> {
    let (sender, inputs) = mpsc::channel();
    thread::spawn(move || {
        loop {
            let input = match event::read() {
                Ok(Event::Key(key)) if key.kind != KeyEventKind::Release => Input::Key(key),
                Ok(_) => Input::Other,
                Err(error) => Input::Failed(error),
            };
            let is_last = matches!(input, Input::Failed(_));
            if sender.send(input).is_err() || is_last {
                return;
            }
        }
    });
    inputs
}

/// Whether the terminal is gone: its window was closed, its connection or its multiplexer has ended. A background job and one under
/// `nohup` get no signal then.
fn is_gone() -> bool {
    let out = io::stdout();
    let mut terminal = [PollFd::new(&out, PollFlags::empty())];
    let polled = poll(&mut terminal, Some(&Timespec::default()));
    polled.is_ok() && terminal[0].revents().intersects(PollFlags::HUP | PollFlags::ERR)
}

/// Shows the details of the selected row. Returns where the waits of its tasks will come from, if it is of a task of a process: the
/// process's debug information takes seconds to read.
fn explain(pid: Option<u32>, view: &mut View, picture: &Picture) -> Option<Receiver<String>> {
    let row = view.selected_row(picture)?;
    let mut text = details(view, picture, &row);
    let pid = pid.filter(|_| view.tab == Tab::Tasks && !view.has_ended);
    if let Some(pid) = pid {
        text += &format!("\ndyntrace why -p {pid}, of these tasks:\n\n");
    }
    view.over = Over::Details { title: row.keys.join("  "), text, from: 0 };
    let (pid, function) = (pid?, row.keys.into_iter().next()?);
    let (sender, told) = mpsc::channel();
    // The user may have closed the details meanwhile.
    thread::spawn(move || sender.send(waits(pid, &function)).is_ok());
    Some(told)
}

/// The text of `dyntrace why` about the tasks of a function.
#[cfg(target_os = "linux")]
fn waits(pid: u32, function: &str) -> String {
    let told = dyntrace_inspect::why_of(pid, function).unwrap_or_else(|failure| format!("{:#}\n", failure.error));
    anstream::adapter::strip_str(&told).to_string()
}

#[cfg(not(target_os = "linux"))]
fn waits(_pid: u32, _function: &str) -> String {
    String::new()
}
