//! The fields of spans and events as texts for probes.

use std::error::Error;
use std::fmt::{self, Write as _};

use dyntrace::sdt::Buffer;
use tracing_core::field::{Field, Visit};

/// The fields of an event or a span, as probes show them. Made only while a probe is enabled.
#[derive(Default)]
pub(crate) struct Fields {
    pub(crate) message: Option<String>,
    /// The first field that is an integer; 0 if it has more than 64 bits.
    pub(crate) number: Option<i64>,
    /// A JSON object without its last brace.
    object: String,
    left_out: usize,
}

/// The room that fields leave: for `,"...":99` and a brace.
const ROOM_AT_THE_END: usize = 16;

impl Fields {
    /// Returns the fields other than the message as a JSON object of at most [`Buffer::LIMIT`] bytes.
    pub(crate) fn json(mut self) -> String {
        if self.left_out > 0 {
            let left_out = self.left_out;
            self.member("...", |out| write!(out, "{left_out}"));
        }
        if self.object.is_empty() { "{}".to_owned() } else { self.object + "}" }
    }

    /// Adds a field, unless it does not fit.
    fn add(&mut self, name: &str, value: impl FnOnce(&mut String) -> fmt::Result) {
        let before = self.object.len();
        self.member(name, value);
        if self.object.len() > Buffer::LIMIT - ROOM_AT_THE_END {
            self.object.truncate(before);
            self.left_out += 1;
        }
    }

    fn member(&mut self, name: &str, value: impl FnOnce(&mut String) -> fmt::Result) {
        self.object.push(if self.object.is_empty() { '{' } else { ',' });
        quote(name, &mut self.object);
        self.object.push(':');
        // A `String` takes all text.
        let _ = value(&mut self.object);
    }

    fn text(&mut self, field: &Field, text: &str) {
        if field.name() == "message" {
            self.message = Some(text.to_owned());
        } else {
            self.add(field.name(), |out| {
                quote(text, out);
                Ok(())
            });
        }
    }

    fn number(&mut self, field: &Field, number: impl fmt::Display + TryInto<i64>) {
        self.add(field.name(), |out| write!(out, "{number}"));
        if self.number.is_none() {
            // Never that of another field.
            self.number = Some(number.try_into().unwrap_or_default());
        }
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        if value.is_finite() {
            self.add(field.name(), |out| write!(out, "{value}"));
        } else {
            self.text(field, &value.to_string());
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.number(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.number(field, value);
    }

    fn record_i128(&mut self, field: &Field, value: i128) {
        self.number(field, value);
    }

    fn record_u128(&mut self, field: &Field, value: u128) {
        self.number(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field.name(), |out| write!(out, "{value}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.text(field, value);
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.text(field, &value.to_string());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.text(field, &format!("{value:?}"));
    }
}

/// Appends `text` as a JSON string.
fn quote(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\0'..='\x1f' => {
                // A `String` takes all text.
                let _ = write!(out, "\\u{:04x}", u32::from(character));
            }
            _ => out.push(character),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_is_a_json_string() {
        let all: String = (0..0x3000).filter_map(char::from_u32).collect();
        let mut quoted = String::new();
        quote(&all, &mut quoted);
        assert_eq!(serde_json::from_str::<String>(&quoted).expect("JSON"), all);
    }

    #[test]
    fn fields_that_do_not_fit_are_counted() {
        let mut fields = Fields::default();
        for number in 0..2000 {
            let text = "x".repeat(number % 700);
            fields.add(&format!("field_{number}"), |out| {
                quote(&text, out);
                Ok(())
            });
        }
        let json = fields.json();
        assert!(json.len() <= Buffer::LIMIT, "{}", json.len());
        let read: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&json).expect("JSON");
        let left_out = read["..."].as_u64().expect("a number");
        assert_eq!(read.len() as u64 - 1 + left_out, 2000);
    }

    #[test]
    fn no_fields() {
        assert_eq!(Fields::default().json(), "{}");
    }
}
