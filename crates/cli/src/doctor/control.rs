//! Checks whether a running process lets its recorder be controlled.

use dyntrace::recorder::control::{Connection, ControlError};

use super::finding::{Finding, Status};
use crate::record::attach;

const TOPIC: &str = "control";

pub fn check(pid: u32) -> Finding {
    match Connection::open(pid) {
        Ok(_) => Finding::ok(TOPIC, format!("process {pid} has a control socket")),
        Err(ControlError::NoControl(_)) => match attach::RequestWords::find(pid) {
            Ok(words) => {
                let when = format!("when dyntrace record -p or trace -p asks it to, {}", words.when());
                Finding::ok(TOPIC, format!("process {pid} opens a control socket {when}"))
            }
            Err(failure) => refused(&failure.error),
        },
        Err(error @ (ControlError::Silent(_) | ControlError::System { .. } | ControlError::Hidden(_))) => {
            Finding { status: Status::Unknown, ..refused(&error.into()) }
        }
        Err(error) => refused(&error.into()),
    }
}

/// The way out comes last, as in every message.
fn refused(error: &anyhow::Error) -> Finding {
    let text = format!("{error:#}");
    match text.split_once(": ") {
        Some((what, remedy)) => Finding::warn(TOPIC, what, remedy),
        None => Finding::warn(TOPIC, text, "start the program with DYNTRACE=control in its environment"),
    }
}
