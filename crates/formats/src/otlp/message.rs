//! Messages of OTLP's traces in JSON: names in lowerCamelCase, ids in hexadecimal, 64-bit numbers as text.

use serde::Serialize;

/// opentelemetry.proto.trace.v1.Span
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Span {
    pub trace_id: String,
    pub span_id: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub parent_span_id: String,
    pub name: String,
    pub kind: u32,
    pub start_time_unix_nano: String,
    pub end_time_unix_nano: String,
    pub attributes: Vec<Attribute>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

/// SPAN_KIND_INTERNAL
pub const INTERNAL: u32 = 1;

#[derive(Serialize)]
pub struct Status {
    pub message: String,
    pub code: u32,
}

/// STATUS_CODE_ERROR
pub const ERROR: u32 = 2;

/// opentelemetry.proto.common.v1.KeyValue
#[derive(Serialize)]
pub struct Attribute {
    pub key: &'static str,
    pub value: Value,
}

/// opentelemetry.proto.common.v1.AnyValue
#[derive(Serialize)]
pub enum Value {
    #[serde(rename = "stringValue")]
    Text(String),
    #[serde(rename = "intValue")]
    Number(String),
    #[serde(rename = "boolValue")]
    Flag(bool),
}

pub fn text(key: &'static str, text: impl Into<String>) -> Attribute {
    Attribute { key, value: Value::Text(text.into()) }
}

pub fn number(key: &'static str, number: impl ToString) -> Attribute {
    Attribute { key, value: Value::Number(number.to_string()) }
}

pub fn flag(key: &'static str) -> Attribute {
    Attribute { key, value: Value::Flag(true) }
}

/// opentelemetry.proto.resource.v1.Resource
#[derive(Serialize)]
pub struct Resource {
    pub attributes: Vec<Attribute>,
}

/// opentelemetry.proto.common.v1.InstrumentationScope
#[derive(Serialize)]
pub struct Scope {
    pub name: &'static str,
    pub version: &'static str,
}
