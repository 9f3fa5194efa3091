//! Tests of patterns: their text, their errors, and the calls that match.

mod errors;
mod evaluation;
mod parts;
mod round_trip;

use super::*;
use crate::breakpoint::value::Value;
use dyntrace_processes::seq_trace;

/// A call as it is written down in tests.
pub struct Written<'a> {
    pub arguments: Vec<Value<'a>>,
    pub pid: u64,
    pub tag: Option<&'a str>,
    pub thread: u64,
}

impl Call for Written<'_> {
    fn arguments(&self) -> &[Value<'_>] {
        &self.arguments
    }

    fn pid(&self) -> u64 {
        self.pid
    }

    fn user_tag(&self) -> Option<&str> {
        self.tag
    }

    fn thread(&self) -> u64 {
        self.thread
    }
}

#[track_caller]
fn pattern(text: &str) -> Pattern {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn functions_are_selected_by_name_and_number_of_arguments() {
    for (text, arity, expected) in [
        ("a::f", 0, true),
        ("a::f", 9, true),
        ("a::f/2", 2, true),
        ("a::f/2", 1, false),
        ("a::f()", 0, true),
        ("a::f()", 1, false),
        ("a::f(_, x,)", 2, true),
        ("a::f(_, x)", 3, false),
        ("a::f(..)", 0, true),
        ("a::f(_, ..)", 0, false),
        ("a::f(_, .., 5)", 2, true),
        ("a::f(_, .., 5)", 7, true),
        ("a::f/7(_, .., 5)", 7, true),
        ("a::f/7(_, .., 5)", 6, false),
        ("b::f", 0, false),
    ] {
        assert_eq!(pattern(text).selects("a::f", arity), expected, "{text}");
    }
}

#[test]
fn shown_as_written() {
    let text = "  shop::*::price( Some(qty) )if qty>5  do  silent,return ";
    assert_eq!(pattern(text).to_string(), text.trim());
    assert_eq!(pattern(&pattern(text).to_string()), pattern(text.trim()));
}

#[test]
fn actions() {
    let of = |text: &str| pattern(text).spec.actions();
    assert_eq!(of("f"), Actions::default());
    assert_eq!(of("f do message"), Actions::default());
    assert_eq!(
        of("f do caller, return,exception, error, return_to"),
        Actions { caller: true, return_: true, exception: true, error: true, return_to: true, ..Actions::default() }
    );
    assert_eq!(
        of("f(_) if pid == 3 do silent, count, memory, set(call), clear( silent )"),
        Actions {
            silent: true,
            count: true,
            memory: true,
            set: Flags { call: true, ..Flags::default() },
            clear: Flags { silent: true, ..Flags::default() },
            ..Actions::default()
        }
    );
}

#[test]
fn actions_on_tokens() {
    let of = |text: &str| pattern(text).spec.actions();
    let change = TokenChange {
        label: Some(-17),
        set: seq_trace::Flags::SEND | seq_trace::Flags::RECEIVE,
        clear: seq_trace::Flags::PRINT,
    };
    assert_eq!(
        of("f do set_seq_token(label, -17), set_seq_token( send,true ), set_seq_token(receive, true), \
            set_seq_token(print, false), get_seq_token"),
        Actions { set_token: change, get_token: true, ..Actions::default() }
    );
}

#[test]
fn stacks_have_a_depth() {
    for (action, callers) in [("", 8), ("(1)", 1), (" ( 0x20 )", 32)] {
        let actions = pattern(&format!("f do current_stacktrace{action}, caller")).spec.actions();
        assert_eq!(actions, Actions { stacktrace: Some(callers), caller: true, ..Actions::default() });
    }
}

#[test]
fn as_long_as_can_be() {
    let most = parser::MAX_LENGTH;
    pattern(&"a".repeat(most));
    pattern(&format!("f({})", "_,".repeat(most / 2 - 2)));
    pattern(&format!("f(x) if x == \"{}\"", "é".repeat(most / 2 - 10)));
    let spaces = " ".repeat(most - 1);
    pattern(&format!("f{spaces}"));
    assert_eq!(pattern(&format!("f({})", "7,".repeat(20_000))).spec.arity.least, 20_000);
}
