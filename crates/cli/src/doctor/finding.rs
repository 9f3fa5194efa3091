//! What a check found.

use serde::Serialize;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// As it should be.
    Ok,
    /// Something will not work, or not well.
    Warn,
    /// Tracing will not work, or silently see nothing.
    Fail,
}

/// What a check found.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// What was checked.
    pub topic: &'static str,
    /// How bad it is.
    pub status: Status,
    /// What is so.
    pub text: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl Finding {
    /// All is well.
    pub fn ok(topic: &'static str, text: impl Into<String>) -> Finding {
        Finding { topic, status: Status::Ok, text: text.into(), remedy: None }
    }

    /// Something is not as it could be.
    pub fn warn(topic: &'static str, text: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { topic, status: Status::Warn, text: text.into(), remedy: Some(remedy.into()) }
    }

    /// Something is wrong.
    pub fn fail(topic: &'static str, text: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { topic, status: Status::Fail, text: text.into(), remedy: Some(remedy.into()) }
    }
}
