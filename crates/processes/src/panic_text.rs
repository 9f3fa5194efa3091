//! The message of a panic.

use std::any::Any;

/// Returns the message in a payload of [`catch_unwind`](std::panic::catch_unwind).
pub fn panic_text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("(a panic without a text)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_others() {
        for (payload, text) in [
            (Box::new("fixed") as Box<dyn Any + Send>, "fixed"),
            (Box::new(String::from("made")), "made"),
            (Box::new(7), "(a panic without a text)"),
        ] {
            assert_eq!(panic_text(&*payload), text);
        }
    }
}
