//! Recorded traces, read from beginning to end, with the progress on a terminal.

use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
use anyhow::{Context as _, anyhow};
#[cfg(target_os = "linux")]
use dyntrace::recorder::{Options, Session, Triggers};
#[cfg(target_os = "linux")]
use dyntrace_folders::Folder;
#[cfg(target_os = "linux")]
use dyntrace_programs::elf::Object;
use dyntrace_reader::{Event, Trace};
use dyntrace_terminal::exit::{self, Failure};
use dyntrace_terminal::{escape, private};
use indicatif::{ProgressBar, ProgressStyle};

/// Opens the traces as one.
pub fn open(traces: &[PathBuf]) -> Result<Trace, Failure> {
    Trace::open_all(traces).map_err(|error| Failure::new(exit::NO_TRACE, error))
}

/// The mode of files made from the trace.
pub fn mode(trace: &Trace) -> u32 {
    private::mode(trace.processes().iter().map(|process| &*process.path))
}

/// Why a program that has ended has left no trace in the directory of `options`. It has told its own errors, so nothing is claimed that may
/// contradict them.
#[cfg(target_os = "linux")]
pub fn nothing(options: &Options, program: &Path) -> Failure {
    if let Err(error) = begin(options) {
        return Failure::new(1, error.context("nothing was recorded"));
    }
    let shown = escape::path(program);
    let error = match Object::read(program) {
        Ok(object) if object.asked.is_some() => anyhow!(
            "nothing was recorded, although {shown} has dyntrace's recorder: it tells on its standard error why it could not begin; one with \
             raised privileges does not record itself"
        ),
        _ => anyhow!(
            "nothing was recorded: {shown} has no recorder of dyntrace's. If a program that it started has one, that tells on its standard \
             error why it could not begin; one with raised privileges does not record itself. Build the program for Linux with the crate's \
             feature recorder, without --cfg dyntrace_without_probes"
        ),
    };
    Failure::new(exit::NO_PROBES, error)
}

/// Begins a recording as the program did, and removes it.
#[cfg(target_os = "linux")]
fn begin(options: &Options) -> anyhow::Result<()> {
    const NAME: &str = ".begun";
    let folder = Folder::make(&options.directory)
        .with_context(|| format!("cannot make the folder {}", escape::path(&options.directory)))?;
    let mut options = options.clone();
    (options.directory, options.triggers) = (options.directory.join(NAME), Triggers::default());
    let begun = Session::start(options);
    let begun = begun.map(|session| session.stop().map(drop));
    // The error to report is why it could not begin.
    let _ = folder.remove_all(NAME);
    Ok(begun.map(drop)?)
}

/// How many events are read between two updates of the progress.
const AT_ONCE: u64 = 1 << 14;

/// All events in the order of time.
pub fn events<'t>(trace: &'t Trace) -> impl Iterator<Item = Event<'t>> {
    // The bar hides itself if standard error is no terminal.
    let shown = ProgressBar::new_spinner().with_style(
        ProgressStyle::with_template("{spinner} {human_pos} events, {elapsed}").expect("the template is right"),
    );
    let mut count = 0;
    let mut events = trace.events();
    std::iter::from_fn(move || {
        let event = events.next();
        count += 1;
        match event {
            Some(_) if count % AT_ONCE == 0 => shown.inc(AT_ONCE),
            Some(_) => {}
            None => shown.finish_and_clear(),
        }
        event
    })
}
