//! The result of a check.

use serde::Serialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Ok,
    /// Something will not work, or not well.
    Warn,
    /// The check could not be made.
    Unknown,
    /// Tracing will fail, or see no events.
    Fail,
}

#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    pub topic: &'static str,
    pub status: Status,
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl Finding {
    pub fn ok(topic: &'static str, text: impl Into<String>) -> Finding {
        Finding { topic, status: Status::Ok, text: text.into(), remedy: None }
    }

    pub fn warn(topic: &'static str, text: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { topic, status: Status::Warn, text: text.into(), remedy: Some(remedy.into()) }
    }

    pub fn unknown(topic: &'static str, text: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { topic, status: Status::Unknown, text: text.into(), remedy: Some(remedy.into()) }
    }

    pub fn fail(topic: &'static str, text: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { topic, status: Status::Fail, text: text.into(), remedy: Some(remedy.into()) }
    }
}
