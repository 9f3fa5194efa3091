//! Any text is parsed as a pattern or refused, its errors can be shown, and any call can be compared with the pattern:
//! `cargo +nightly fuzz run pattern`.
#![no_main]

use std::fmt;

use dyntrace::__traced::{Call, Plain, Printed, Value, Variant};
use dyntrace::trace::Pattern;
use libfuzzer_sys::fuzz_target;

/// A call with arguments made of the pattern's own text.
struct Odd<'t>(&'t str, Vec<Value<'t>>);

impl Call for Odd<'_> {
    fn arguments(&self) -> &[Value<'_>] {
        &self.1
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

/// Prints the pattern's own text.
struct Raw<'t>(&'t str);

impl fmt::Debug for Raw<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

fuzz_target!(|text: &str| {
    match text.parse::<Pattern>() {
        Ok(pattern) => {
            assert_eq!(pattern.to_string().parse(), Ok(pattern.clone()));
            let name = text.split('(').next().unwrap_or_default().trim();
            assert!(!pattern.selects(name, 2) || name.starts_with(pattern.prefix()));
            let value = Value::from(text);
            // Parsed as the type that its text looks like.
            let raw = Raw(text);
            let printed = Value::of(Plain::Debug(Printed::new(&raw)));
            let all = [value, printed, value.within(Variant::Some), printed.within(Variant::Ok), Value::HIDDEN];
            pattern.match_spec().evaluate(&Odd(text, all.into_iter().cycle().take(text.len() % 6).collect()));
            pattern.nearest([name, "shop::cart::price/2"]);
        }
        Err(error) => {
            assert!(text.get(error.span()).is_some());
            assert_eq!(error.to_string().lines().count(), 3);
        }
    }
});
