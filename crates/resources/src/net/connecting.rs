//! Connections that are being made: resources of their own, as the stream does not exist yet.

use std::panic::Location;

use dyntrace_processes::probes::resource as probes;
use dyntrace_processes::waiting::{In, Numbered, Resource, ResourceKind, Waiting};

/// The socket that connects, and the address to which it does.
pub(super) struct Connecting<F: Fn() -> Option<String>> {
    resource: Resource,
    to: F,
}

impl<F: Fn() -> Option<String>> Connecting<F> {
    /// Fires `resource-new`. `to` is the peer's address, for tracers.
    #[inline]
    pub(super) fn new(kind: ResourceKind, place: &'static Location<'static>, to: F) -> Self {
        let connecting = Connecting { resource: Resource::at(kind, place), to };
        if probes::new::is_enabled() {
            connecting.number();
        }
        connecting
    }

    /// Awaits the connection, with the probes of a wait.
    #[inline]
    pub(super) fn connect<C: Future>(&self, operation: &'static str, future: C) -> Waiting<C, In<&Self>> {
        Waiting::new(In(self, operation), self.resource.place(), future)
    }
}

impl<F: Fn() -> Option<String>> Numbered for Connecting<F> {
    fn number(&self) -> u64 {
        self.resource.number_named(|| (self.to)().map(|to| format!("to {to}")))
    }
}
