//! Texts that are no patterns: the position of the error, and what was expected.

use crate::breakpoint::pattern::*;
use proptest::prelude::*;

fn error(text: &str) -> PatternError {
    match text.parse::<Pattern>() {
        Err(error) => error,
        Ok(_) => panic!("this is a pattern: {text}"),
    }
}

#[test]
fn each_says_where_and_what() {
    for (text, marked, message) in [
        ("", "", "expected a function's path, such as shop::**::price, found the end of the pattern"),
        ("(x)", "(", "expected a function's path"),
        ("a::", "", "expected a function's path"),
        ("a::b**::c", "b**", "expected `**` alone between `::`, or one `*`"),
        ("a:b", ":", "expected `if` and a guard, `do` and actions, or the end, found `:`"),
        ("f/", "", "expected a number of arguments"),
        ("f/70000", "70000", "expected a number of arguments of at most 65535"),
        ("f/2(_)", "(_)", "expected patterns for 2 arguments, as `/2` says"),
        ("f(_", "", "expected `,` or `)`, found the end of the pattern"),
        ("f(_ _)", "_", "expected `,` or `)`, found `_`"),
        ("f(.., _, ..)", "..", "expected one `..` at most"),
        (
            "f(-x)",
            "-",
            "expected a pattern: a literal, `_`, a name, `..`, Some(), None, Ok(), Err(), or a value with parts",
        ),
        ("f(Order {)", ")", "expected the name of a field, or `..`, found `)`"),
        ("f(Order { id: })", "}", "expected a pattern"),
        ("f(Order { id = 7 })", "=", "expected `,` or `}`, found `=`"),
        ("f(Order { id, id })", "id", "expected another name: `id` is taken"),
        ("f(Order { .., .. })", "..", "expected one `..` at most"),
        ("f(Order { tag })", "tag", "expected another name than `tag`"),
        ("f(shop::5)", "5", "expected a name"),
        ("f((x))", "(x)", "expected `,` in a tuple of one value, as in (x,)"),
        ("f([1, 2)", ")", "expected `,` or `]`, found `)`"),
        ("f(Order { total: Some })", "}", "expected `(`"),
        ("f(Some)", ")", "expected `(`"),
        ("f(Some())", ")", "expected a pattern"),
        ("f(x, Ok(x))", "x", "expected another name: `x` is taken by an argument before"),
        ("f(tag)", "tag", "expected another name than `tag`, which has a meaning of its own"),
        ("f(\"x)", "\"", "expected `\"` at the end of this text"),
        ("f('ab')", "'a", "expected one character in quotes"),
        ("f(\"\\q\")", "\\q", "expected one of \\n"),
        ("f('\\x80')", "\\x80", "expected one of \\n"),
        ("f('\\x+f')", "\\x+f", "expected one of \\n"),
        ("f(\"\\u{110000}\")", "\\u{110000}", "expected one of \\n"),
        ("f(12ab)", "12ab", "expected an integer, such as"),
        ("f(0x)", "0x", "expected an integer, such as"),
        (
            "f(-0x1_0000_0000_0000_0000_0000_0000_0000_0000)",
            "-0x1_0000_0000_0000_0000_0000_0000_0000_0000",
            "expected an integer of at most 128 bits",
        ),
        ("f(1.5)", ".", "expected `,` or `)`"),
        ("f if", "", "expected a value, found the end of the pattern"),
        ("f(x) if x >", "", "expected a value"),
        ("f(x) if y > 5", "y", "expected one of the names x, pid, tag, thread, found `y`"),
        ("f(x) if x + 5", "x + 5", "expected a condition, found an integer"),
        ("f(x) if x == 5 && 3", "3", "expected a condition, found an integer"),
        ("f(x) if x + \"a\" > 5", "\"a\"", "expected an integer, found a text"),
        ("f(x) if !5", "5", "expected a condition, found an integer"),
        ("f(x) if -'a' == x", "'a'", "expected an integer, found a character"),
        ("f if tag == 5", "5", "expected a text, found an integer"),
        ("f if tag < None", "tag < None", "expected integers, characters or texts, found None"),
        ("f(x) if 1 < x < 5", "<", "expected `&&`, for comparisons make no row, found `<`"),
        ("f(x) if (x == 5", "", "expected `)`, found the end of the pattern"),
        ("f(x) if x == 5)", ")", "expected an operator, `do` and actions, or the end, found `)`"),
        ("f(x) if starts_with(x)", ")", "expected `,`"),
        ("f(x, y) if matches(x, y)", "y", "expected a glob: a text of at most 256 bytes"),
        ("f(x) if matches(x, 5)", "5", "expected a text, found an integer"),
        ("f(x) if contains(x, 5)", "5", "expected a text, found an integer"),
        ("f if pid == <1.5.0>", "<", "expected a value, or a pid such as <0.57.0>"),
        ("f do", "", "expected an action: message, silent"),
        ("f do call", "call", "expected an action: message, silent"),
        ("f do set(x)", "x", "expected a process's trace flag: call, silent or set_on_spawn"),
        ("f do set_seq_token(colour, 7)", "colour", "expected a component of a token: label, send, receive, print"),
        ("f do set_seq_token(label, 9223372036854775808)", "9223372036854775808", "expected a label: an integer of 64"),
        ("f do set_seq_token(label, x)", "", "expected a label: an integer of 64 bits"),
        ("f do set_seq_token(send, 1)", "1", "expected true or false"),
        ("f do set_seq_token(send)", ")", "expected `,`"),
        ("f do current_stacktrace(0)", "0", "expected a number of callers from 1 to 32"),
        ("f do current_stacktrace(33)", "33", "expected a number of callers from 1 to 32"),
        ("f do current_stacktrace(x)", "", "expected a number of callers from 1 to 32"),
        ("f do current_stacktrace(8", "", "expected `)`"),
        ("f do caller return", "return", "expected `,` and an action, or the end, found `return`"),
        ("f do silent, message", "message", "expected either message or silent, found both"),
        ("f do set(call), clear(call)", "clear(call)", "expected a flag to be either set or cleared, found both"),
    ] {
        let error = error(text);
        assert_eq!(&text[error.span()], marked, "{error}");
        assert!(error.message().starts_with(message), "{error}");
    }
}

#[test]
fn the_place_is_marked() {
    let shown = error("läden::f(ä) if\u{1b}\tß > 5 && ä > 1").to_string();
    let mut lines = shown.lines();
    assert_eq!(lines.next(), Some("expected a value, found `\\u{1b}`, at column 15"));
    assert_eq!(lines.next(), Some("  läden::f(ä) if\u{fffd} ß > 5 && ä > 1"));
    assert_eq!(lines.next(), Some("                ^"));
    assert_eq!(lines.next(), None);
    assert!(error("f(x) if x >").to_string().ends_with("\n             ^"));
}

#[test]
fn of_long_patterns_a_part_is_shown() {
    let text = format!("f({}!{})", "_, ".repeat(5000), "_, ".repeat(5000));
    let error = error(&text);
    assert_eq!(error.column(), 15_003);
    let shown = error.to_string();
    let lines: Vec<_> = shown.lines().collect();
    assert!(lines[1].starts_with("  ...") && lines[1].chars().count() < 100, "{shown}");
    assert_eq!(lines[1].find('!'), lines[2].find('^'), "{shown}");
}

#[test]
fn bounds() {
    let too_long = "a".repeat(parser::MAX_LENGTH + 1);
    assert_eq!(error(&too_long).message(), "expected a pattern of at most 65536 bytes");
    for (open, inner, close) in [("(", "x", ")"), ("!", "x", ""), ("-", "(x)", ""), ("contains(", "x", ", x)")] {
        let nested =
            |depth: usize| format!("f(x) if x == 1 || {}{inner}{} == 5", open.repeat(depth), close.repeat(depth));
        let most = (parser::MAX_LENGTH - 100) / (open.len() + close.len());
        assert!(error(&nested(most)).message().starts_with("expected nothing nested deeper than 32 levels"));
    }
    let nested = |depth: usize| format!("f({}x{})", "Some(".repeat(depth), ")".repeat(depth));
    assert!(nested(32).parse::<Pattern>().is_ok());
    assert_eq!(error(&nested(33)).message(), "expected at most 32 variants, one in the other");
    assert_eq!(error(&nested(10_000)).message(), "expected at most 32 variants, one in the other");
    let inside = |depth: usize| format!("f({}x{})", "(_, ".repeat(depth), ")".repeat(depth));
    assert!(inside(32).parse::<Pattern>().is_ok());
    assert_eq!(error(&inside(33)).message(), "expected nothing nested deeper than 32 levels");
    assert_eq!(error(&inside(10_000)).message(), "expected nothing nested deeper than 32 levels");
    // The place is that of a whole character.
    let text = format!("f({}É(1)", "(_, ".repeat(32));
    assert_eq!(
        (&text[error(&text).span()], error(&text).message()),
        ("É", "expected nothing nested deeper than 32 levels")
    );
    let row = |count: usize| format!("f({})", "(_, 1), ".repeat(count));
    assert!(row(8).parse::<Pattern>().is_ok());
    assert_eq!(error(&row(9)).message(), "expected at most 8 arguments that are looked into");
    let ones = |count: usize| format!("f(x) if x == 1{} do caller", "+1".repeat(count - 1));
    assert!(ones(4096).parse::<Pattern>().is_ok());
    let long = error(&ones(4097));
    assert_eq!((long.message(), long.column()), (spec::TOO_LONG, 9));
    let waiting = |depth: usize| format!("f(x) if {}1 == 1{}", "(1 + x == 2) == (".repeat(depth), ")".repeat(depth));
    assert!(waiting(7).parse::<Pattern>().is_ok());
    assert_eq!(error(&waiting(8)).message(), spec::TOO_DEEP);
}

/// Pieces of patterns, in any order.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[ \\PC]{0,3}",
        prop::sample::select(vec![
            "f", "::", "**", "*", "(", ")", ",", "..", "_", "x", "Some(", "Ok(", "Order { ", "id", ":", " }", "[", "]",
            "None", "1", "-", "0x", "\"", "\"a\"", "'a'", "\\", " if ", " do ", "==", "<", "<0.5.0>", "!", "&&", "||",
            "+", "/", "%", "tag", "pid", "contains(", "set(", "caller", "\u{0}", "é",
        ])
        .prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_text_is_understood_or_refused(text in prop_oneof![pieces(), any::<String>(), pieces().prop_map(|rest| "f(x) if ".to_owned() + &rest)]) {
        match text.parse::<Pattern>() {
            Ok(pattern) => prop_assert_eq!(pattern.to_string().parse(), Ok(pattern)),
            Err(error) => {
                prop_assert!(text.get(error.span()).is_some());
                prop_assert_eq!(error.to_string().lines().count(), 3, "{}", error);
            }
        }
    }
}
