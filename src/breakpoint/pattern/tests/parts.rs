//! Which calls match patterns that look into structures, tuples, enumerations and slices.

use std::fmt;

use proptest::prelude::*;

use super::*;
use crate::__traced_value as value;
use crate::breakpoint::pattern::unquoted::Unquoted;

#[derive(Debug)]
#[expect(dead_code, reason = "printed")]
struct Order {
    id: u64,
    name: &'static str,
    grade: char,
    lines: Vec<Line>,
    state: State,
    paid: Option<bool>,
}

#[derive(Debug)]
#[expect(dead_code, reason = "printed")]
struct Line(i32, (&'static str, u8));

#[derive(Debug)]
#[expect(dead_code, reason = "printed")]
enum State {
    Open,
    Shipped { to: String, by: Result<u8, Odd> },
}

#[derive(Debug)]
struct Empty;

/// Prints brackets and quotes that close nothing.
struct Odd;

impl fmt::Debug for Odd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("don't \\xff 10\" of )")
    }
}

struct Partial;

impl fmt::Debug for Partial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Partial").field("id", &7).finish_non_exhaustive()
    }
}

#[track_caller]
fn meets(text: &str, arguments: &[Value<'_>]) -> bool {
    let call = Written { arguments: arguments.to_vec(), pid: 57, tag: None, thread: 3 };
    pattern(text).match_spec().evaluate(&call).is_some()
}

fn order() -> Order {
    Order {
        id: 7,
        name: "a \"b\", {c}\n",
        grade: '"',
        lines: vec![Line(-1, ("rye", 2)), Line(5, (")", 3)), Line(6, ("", 4))],
        state: State::Shipped { to: "Ulm, 'x'".to_owned(), by: Ok(3) },
        paid: Some(true),
    }
}

#[test]
fn fields_and_items_are_compared() {
    let order = order();
    for (text, expected) in [
        ("Order { .. }", true),
        ("shop::Order { .. }", true),
        ("Ordered { .. }", false),
        ("Order", false),
        ("Order(..)", false),
        ("Order { id: 7, .. }", true),
        ("Order { id: 8, .. }", false),
        ("Order { id: \"7\", .. }", false),
        ("Order { id: _, name: _, grade: _, lines: _, state: _, paid: _ }", true),
        ("Order { id, name, grade, lines, state }", false),
        ("Order { id, name, grade, lines, state, paid, no }", false),
        ("Order { no: _, .. }", false),
        ("Order { name: \"a \\\"b\\\", {c}\\n\", grade: '\"', .. }", true),
        ("Order { name: \"a\", .. }", false),
        ("Order { paid: Some(true), .. }", true),
        ("Order { paid: Some(_), .. }", true),
        ("Order { paid: None, .. }", false),
        ("Order { paid: Some(false), .. }", false),
        ("Order { lines: [_, _, _], .. }", true),
        ("Order { lines: [_, _], .. }", false),
        ("Order { lines: [_, _, _, _, ..], .. }", false),
        ("Order { lines: [Line(-1, _), .., Line(6, (\"\", 4))], .. }", true),
        ("Order { lines: [.., Line(5, (\")\", _)), _], .. }", true),
        ("Order { lines: [.., Line(6, _), _], .. }", false),
        ("Order { lines: [Line(.., (.., 2)), ..], .. }", true),
        ("Order { state: State::Shipped { to: \"Ulm, 'x'\", by: Ok(3) }, .. }", true),
        ("Order { state: Shipped { by: Err(_), .. }, .. }", false),
        ("Order { state: Open, .. }", false),
        ("Order { id, .. }) if id > 6 && id < 8 && (id + 1) * 2 == 16", true),
        ("Order { id, .. }) if id > 7", false),
        ("Order { name, .. }) if contains(name, \"{c}\") && ends_with(name, \"\\n\")", true),
        ("Order { paid, .. }) if paid != None && paid != 7", true),
        ("Order { paid: Some(paid), .. }) if paid", true),
        ("Order { state, .. }) if state != None || true", false),
        ("Order { lines: [.., Line(n, _)], id, .. }) if n == id - 1", true),
    ] {
        let text = if text.contains(") if ") { format!("f({text}") } else { format!("f({text})") };
        assert_eq!(meets(&text, &[value!(order)]), expected, "{text}");
    }
}

#[test]
fn all_kinds_of_values_are_looked_into() {
    let (tuple, one, list, none) = ((1, "x"), (5u8,), [1u32, 2, 3], ());
    let (bytes, empty, open) = (vec![0u8, 255], Empty, State::Open);
    assert!(meets("f((1, \"x\"))", &[value!(tuple)]) && !meets("f((1, \"y\"))", &[value!(tuple)]));
    assert!(meets("f((5,))", &[value!(one)]) && !meets("f((5, _))", &[value!(one)]));
    assert!(meets("f(())", &[value!(none)]) && !meets("f((_,))", &[value!(none)]));
    assert!(meets("f([first, .., last]) if first + last == 4", &[value!(list)]));
    assert!(meets("f([0, 0xff])", &[value!(bytes)]) && !meets("f([0])", &[value!(bytes)]));
    assert!(meets("f(Empty)", &[value!(empty)]) && !meets("f(Full)", &[value!(empty)]));
    assert!(meets("f(State::Open)", &[value!(open)]));
    let seven = 7;
    assert!(!meets("f((7,))", &[value!(seven)]) && !meets("f(Order { .. })", &[Value::HIDDEN]));
}

#[test]
fn variants_around_are_parts_too() {
    let (some, deep): (Option<Order>, Result<Option<Order>, Odd>) = (Some(order()), Ok(Some(order())));
    assert!(meets("f(Some(Order { id: 7, .. }))", &[value!(some)]));
    assert!(!meets("f(Some(Order { id: 8, .. }))", &[value!(some)]) && !meets("f(Order { .. })", &[value!(some)]));
    assert!(meets("f(Ok(Some(Order { id, .. }))) if id == 7", &[value!(deep)]));
    assert!(!meets("f(Err(Order { .. }))", &[value!(deep)]));
}

#[test]
fn arguments_are_found_from_both_ends() {
    let (order, tuple) = (order(), (1, 2));
    let arguments = [value!(tuple), value!(tuple), value!(order)];
    assert!(meets("f((a, _), .., Order { id, .. }) if a + id == 8", &arguments));
    assert!(meets("f(.., (_, b), Order { id, .. }) if b + id == 9", &arguments));
    assert!(!meets("f(.., (_, b), (_, _))", &arguments));
}

#[test]
fn a_type_with_its_own_debug_has_no_parts() {
    let (odd, partial) = ((1, Odd, 2), Partial);
    assert!(meets("f((1, ..))", &[value!(odd)]));
    assert!(meets("f(Partial { id: 7, .. })", &[value!(partial)]));
    for text in ["f(Partial { id: 7 })", "f(Partial { id: 7, no: _ })"] {
        assert!(!meets(text, &[value!(partial)]), "{text}");
    }
}

/// A panic ends the text, and so does a full buffer. The parts before it stay.
#[test]
fn half_a_value_has_its_first_parts() {
    struct Bomb;
    impl fmt::Debug for Bomb {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            panic!("printed")
        }
    }
    let (bomb, long) = ((1, Bomb, 2), (1, "x".repeat(Unquoted::LIMIT), 2));
    for value in [value!(bomb), value!(long)] {
        assert!(meets("f((1, ..))", &[value]));
        for text in ["f((1, _, 2))", "f((1, _, ..))", "f((.., 2))", "f((_, _, two)) if two == 2"] {
            assert!(!meets(text, &[value]), "{text}");
        }
    }
}

#[test]
fn nothing_is_printed_in_vain() {
    use std::cell::Cell;
    struct Counts<'c>(&'c Cell<u32>);
    impl fmt::Debug for Counts<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.set(self.0.get() + 1);
            f.write_str("Counts(5)")
        }
    }
    let printed = Cell::new(0);
    let (counts, seven) = (Counts(&printed), 7);
    assert!(!meets("f(Counts(5), 8)", &[value!(counts), value!(seven)]));
    assert!(meets("f(_, 7)", &[value!(counts), value!(seven)]));
    assert_eq!(printed.get(), 0);
    assert!(meets("f(Counts(n), 7) if n == 5 && n + n == 10", &[value!(counts), value!(seven)]));
    assert_eq!(printed.get(), 1);
}

proptest! {
    /// Any text and any character compare equal to themselves, in every position.
    #[test]
    fn texts_are_what_they_are(one in any::<String>(), letter in any::<char>(), other in any::<String>(), number: i128) {
        let tuple = (&one, letter, [&other], number);
        let shown = |text: &str| Value::from(text).to_string();
        let letter = Value::of(crate::breakpoint::value::Plain::Char(letter)).to_string();
        let text = format!("f(({}, {letter}, [{}], {number}))", shown(&one), shown(&other));
        prop_assert!(meets(&text, &[value!(tuple)]), "{}", text);
    }

    /// No output of a type's `Debug` makes matching panic.
    #[test]
    fn anything_may_be_printed(text in "[A-Za-z0-9 ,:.{}()\\[\\]\"'\\\\]{0,40}") {
        struct Prints<'t>(&'t str);
        impl fmt::Debug for Prints<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.0)
            }
        }
        let prints = Prints(&text);
        for pattern in ["f(Order { id, .. }) if id > 5", "f((.., [x, ..], _)) if x == \"a\"", "f([.., Some(A), 'x'])"] {
            meets(pattern, &[value!(prints)]);
        }
    }
}
