//! A session that collects its events.

use std::sync::mpsc::{Receiver, channel};

use dyntrace::trace::{Event, Info, Limits, Session};

/// A session, and the events that its tracer got.
pub struct Watch {
    pub session: Session,
    events: Receiver<Event>,
}

impl Watch {
    pub fn with(limits: Limits) -> Watch {
        let (send, events) = channel();
        let tracer = move |event: &Event| {
            let _ = send.send(event.clone());
        };
        Watch { session: Session::start(limits, tracer).unwrap(), events }
    }

    /// With one pattern, which must name one function.
    pub async fn on(pattern: &str) -> Watch {
        let watch = Watch::with(Limits::default());
        let set = watch.session.set(pattern).await.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(set.functions, 1, "{pattern}");
        watch
    }

    /// Closes the session. Returns all its events.
    pub async fn end(self) -> (Vec<Event>, Info) {
        let info = self.session.close().await;
        (self.events.try_iter().collect(), info)
    }

    /// The same, shown without the times.
    pub async fn lines(self) -> Vec<String> {
        let (events, _) = self.end().await;
        let shown = events.into_iter().map(|mut event| {
            (event.took, event.polled) = (None, None);
            event.to_string()
        });
        shown.map(|line| line.replace("traced::", "")).collect()
    }
}
