//! Which calls match which patterns.

use std::fmt;

use super::*;
use crate::__traced_value as value;
use crate::breakpoint::pattern::evaluate::MOST_TEXT;
use crate::breakpoint::value::{Plain, Variant};

struct Bomb;

impl fmt::Debug for Bomb {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("printed")
    }
}

#[track_caller]
fn meets(text: &str, arguments: &[Value<'_>]) -> bool {
    let call = Written { arguments: arguments.to_vec(), pid: 57, tag: Some("req-81"), thread: 3 };
    pattern(text).match_spec().evaluate(&call).is_some()
}

#[test]
fn arguments() {
    let (seven, most) = (7u8, u128::MAX);
    let nested: Result<Option<&str>, Bomb> = Ok(Some("a\n"));
    let failed: Result<Option<&str>, Bomb> = Err(Bomb);
    let arguments = [value!(seven), value!(most), value!(nested), value!(failed), Value::HIDDEN];
    for (text, expected) in [
        ("f", true),
        ("f(..)", true),
        ("f(7, _, _, _, _)", true),
        ("f(0b111, ..)", true),
        ("f(8, ..)", false),
        ("f(-7, ..)", false),
        ("f('7', ..)", false),
        ("f(Some(7), ..)", false),
        ("f(_, 0xffffffff_ffffffff_ffffffff_ffffffff, ..)", true),
        ("f(_, _, Ok(Some(\"a\\n\")), ..)", true),
        ("f(_, _, Ok(Some(\"a\")), ..)", false),
        ("f(_, _, Ok(None), ..)", false),
        ("f(_, _, Ok(_), ..)", true),
        ("f(_, _, Err(_), ..)", false),
        ("f(.., Err(_), secret)", true),
        ("f(.., Err(5), _)", false),
        ("f(.., Ok(_), _)", false),
        ("f(.., None)", false),
        ("f(.., _, _, _, _, _, _)", false),
        ("f(_, _)", false),
    ] {
        assert_eq!(meets(text, &arguments), expected, "{text}");
    }
}

#[test]
fn guards() {
    let (a, b, text, flag, letter) = (7i64, -3i8, "price list", true, 'p');
    let none: Option<u8> = None;
    let some = Some(5usize);
    let arguments = [value!(a), value!(b), value!(text), value!(flag), value!(letter), value!(none), value!(some)];
    for (guard, expected) in [
        ("a > 5", true),
        ("a > 7", false),
        ("a >= 7 && a <= 7 && a != 8", true),
        ("b < 0 || a / 0 == 1", true),
        ("a / 0 == 1 || b < 0", false),
        ("!(a / 0 == 1)", false),
        ("a + b * 2 == 1", true),
        ("(a + b) * 2 == 8", true),
        ("(a + 1) * (a - 2) * (b - 1) == -160", true),
        ("a - 1 - 1 == 5", true),
        ("a % 4 == 3 && -a % 4 == -3 && -(b) == 3", true),
        ("170141183460469231731687303715884105727 + a > 0", false),
        ("170141183460469231731687303715884105728 > a", true),
        ("170141183460469231731687303715884105728 - 1 > a", false),
        ("-170141183460469231731687303715884105728 / -1 > 0 || true", false),
        ("starts_with(text, \"price\") && ends_with(text, \"list\") && contains(text, \"e l\")", true),
        ("starts_with(text, \"list\")", false),
        ("matches(text, \"p*e ?ist\") && matches(text, \"*price list*\")", true),
        ("matches(text, \"price\")", false),
        ("starts_with(\"price list of May\", text)", true),
        ("contains(a, \"7\") || true", false),
        ("text > \"prica\" && text < \"prz\"", true),
        ("text == \"price\"", false),
        ("flag", true),
        ("!flag", false),
        ("flag == true && (a > 5) == flag", true),
        ("a", false),
        ("letter == 'p' && letter < 'q'", true),
        ("letter == \"p\"", false),
        ("letter != \"p\"", true),
        ("letter < a || true", false),
        ("none == None && none != 0", true),
        ("x == a - 2", true),
        ("pid == 57 && pid == <0.57.0>", true),
        ("pid == <0.58.0>", false),
        ("tag == \"req-81\" && starts_with(tag, \"req-\")", true),
        ("matches(tag, \"req-*\") && !matches(tag, \"*-82\") && matches(tag, \"req-8?\")", true),
        ("matches(tag, \"req\")", false),
        ("tag == None", false),
        ("thread == 3", true),
        ("a > 5 && (b > 5 || (flag && !(letter == 'q')))", true),
    ] {
        let text = format!("f(a, b, text, flag, letter, none, Some(x)) if {guard}");
        assert_eq!(meets(&text, &arguments), expected, "{guard}");
    }
}

#[test]
fn a_shell_is_no_value_by_itself() {
    let (some, other) = (Some(5u8), Some("x"));
    assert!(meets("f(x, y) if x != 5 && x != y && y != None", &[value!(some), value!(other)]));
    assert!(meets("f(x, x2) if x == x2", &[value!(some), value!(some)]));
    assert!(!meets("f(x, y) if x < y || true", &[value!(some), value!(some)]));
}

#[test]
fn an_unavailable_argument_fails_the_guard_and_is_never_printed() {
    let (bomb, boxed) = (Bomb, Some(Bomb));
    for value in [value!(bomb), Value::HIDDEN, Value::opaque(&bomb), Value::of(Plain::Bytes(b"7"))] {
        for guard in
            ["x == 7", "x != 7", "!(x == 7)", "x > 7", "x", "!x", "x + 1 == 2 || true", "contains(x, \"7\")", "x == x"]
        {
            assert!(!meets(&format!("f(x) if {guard}"), &[value]), "{guard}");
        }
        assert!(meets("f(x) if true || x == 7", &[value]) && meets("f(x)", &[value]));
    }
    // Nor is a value that the pattern looks into, if a guard without its parts is not met.
    assert!(!meets("f(Order { id, .. }) if matches(tag, \"other-*\")", &[value!(bomb)]));
    let (hidden, some) = (Value::HIDDEN, Value::HIDDEN.within(Variant::Some));
    for [x, y] in [[hidden, some], [some, hidden], [hidden, hidden], [some, some]] {
        assert!(!meets("f(x, y) if x != y || true", &[x, y]), "{x} {y}");
    }
    assert!(meets("f(x) if x != None && x != true", &[value!(boxed)]));
    assert!(!meets("f(Some(x)) if x != None", &[value!(boxed)]));
}

#[test]
fn without_a_tag() {
    let call = Written { arguments: Vec::new(), pid: 1, tag: None, thread: 1 };
    let meets = |text| pattern(text).match_spec().evaluate(&call).is_some();
    assert!(meets("f if tag == None && tag != \"x\""));
    assert!(!meets("f if starts_with(tag, \"\") || true"));
    assert!(!meets("f if matches(tag, \"*\") || true"));
}

#[test]
fn much_text_fails_the_guard() {
    let text = "a".repeat(MOST_TEXT / 2 + 1);
    assert!(meets("f(x) if contains(x, \"aa\")", &[value!(text)]));
    assert!(!meets("f(x) if contains(x, \"b\") || contains(x, \"a\")", &[value!(text)]));
    assert!(meets("f(x) if starts_with(x, \"a\") && ends_with(x, \"a\") && x > \"\" && x != \"a\"", &[value!(text)]));
    for test in ["x == y", "starts_with(x, y)", "ends_with(x, y)", "contains(x, y)", "x <= y"] {
        assert!(meets(&format!("f(x, y) if {test}"), &[value!(text), value!(text)]), "{test}");
        assert!(!meets(&format!("f(x, y) if {test} && {test}"), &[value!(text), value!(text)]), "{test}");
    }
}

#[test]
fn actions_of_patterns() {
    let call = Written { arguments: Vec::new(), pid: 1, tag: None, thread: 1 };
    let actions = |text: &str| pattern(text).match_spec().evaluate(&call);
    assert_eq!(
        actions("f if pid == 1 do count, return"),
        Some(Actions { count: true, return_: true, ..Actions::default() })
    );
    assert_eq!(actions("f if pid == 2 do count, return"), None);
}
