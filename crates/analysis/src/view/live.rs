//! Events of a running recording, as they arrive.

use std::io::Write;
use std::time::Duration;

use dyntrace_reader::{Error, Event, Follower, Losses};
use dyntrace_terminal::signals::Interrupts;

use super::{AT_ONCE, Format};

/// The time between two looks.
pub const PAUSE: Duration = Duration::from_millis(50);

/// The events of a recording on their way to the user.
pub struct Live<W, F> {
    pub from: Follower,
    pub format: Format,
    pub is_wanted: F,
    pub to: W,
}

impl<W: Write, F: FnMut(&Event<'_>) -> bool> Live<W, F> {
    /// Prints the events up to the previous look, in the order of time. Returns false when the recording has ended and all is printed.
    /// A recording that has not begun has no events.
    pub fn look(&mut self) -> anyhow::Result<bool> {
        self.print(|from, each| from.poll(each))
    }

    /// Prints the remaining events and the end of the format.
    pub fn end(&mut self) -> anyhow::Result<()> {
        self.print(|from, each| from.drain(each).map(|()| true))?;
        let mut out = Vec::new();
        self.format.0.end(&mut out);
        self.to.write_all(&out)?;
        Ok(self.to.flush()?)
    }

    fn print(
        &mut self,
        read: impl FnOnce(&mut Follower, &mut dyn FnMut(&Event<'_>)) -> Result<bool, Error>,
    ) -> anyhow::Result<bool> {
        let (mut out, mut written) = (Vec::new(), Ok(()));
        self.format.0.forget_classes();
        let goes_on = read(&mut self.from, &mut |event| {
            if (self.is_wanted)(event) {
                self.format.0.event(event, &mut out);
            }
            if out.len() >= AT_ONCE && written.is_ok() {
                written = self.to.write_all(&out);
                out.clear();
            }
        });
        written.and_then(|()| self.to.write_all(&out)).and_then(|()| self.to.flush())?;
        match goes_on {
            Err(Error::NoTrace { .. }) => Ok(true),
            goes_on => Ok(goes_on?),
        }
    }

    /// Prints events until the recording ends or the user interrupts.
    pub fn until_end(&mut self) -> anyhow::Result<Losses> {
        // The second one does not wait for a reader of the output.
        let interrupts = Interrupts::receive(2)?;
        while self.look()? && interrupts.wait(PAUSE).is_none() {}
        self.end()?;
        Ok(self.from.losses())
    }
}
