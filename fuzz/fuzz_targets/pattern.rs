//! Whatever is written as a pattern is understood or refused, its errors can be shown, and any call can be compared with it:
//! `cargo +nightly fuzz run pattern`.
#![no_main]

use dyntrace::__traced::{Call, Value, Variant};
use dyntrace::trace::Pattern;
use libfuzzer_sys::fuzz_target;

/// A call with arguments made of the pattern's own text.
struct Odd<'t>(&'t str);

impl Call for Odd<'_> {
    fn arity(&self) -> usize {
        self.0.len() % 5
    }

    fn argument(&self, number: usize) -> Option<Value<'_>> {
        let text = Value::from(self.0);
        Some(match number {
            0 => text,
            1 => text.within(Variant::Some),
            2 => text.within(Variant::Err).within(Variant::Ok),
            _ => Value::HIDDEN,
        })
    }

    fn pid(&self) -> u64 {
        self.0.len() as u64
    }

    fn user_tag(&self) -> Option<&str> {
        self.0.get(..self.0.len() / 2)
    }

    fn thread(&self) -> u64 {
        u64::MAX
    }
}

fuzz_target!(|text: &str| {
    match text.parse::<Pattern>() {
        Ok(pattern) => {
            assert_eq!(pattern.to_string().parse(), Ok(pattern.clone()));
            let name = text.split('(').next().unwrap_or_default().trim();
            assert!(!pattern.selects(name, 2) || name.starts_with(pattern.prefix()));
            pattern.match_spec().evaluate(&Odd(text));
            pattern.nearest([name, "shop::cart::price/2"]);
        }
        Err(error) => {
            assert!(text.get(error.span()).is_some());
            assert_eq!(error.to_string().lines().count(), 3);
        }
    }
});
