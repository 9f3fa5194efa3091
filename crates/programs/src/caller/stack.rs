//! The callers on a stack, without dyntrace's own functions between a traced function and its body.

use super::code::{Code, Function, is_own, is_standard, last};

/// A line for each caller of the function `traced`, the innermost first. The first of the `frames` is in that function.
pub fn lines(traced: &str, frames: &[impl AsRef<Code>]) -> Vec<String> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    let mut is_behind_own = false;
    for line in callers(traced, frames).into_iter().rev() {
        match line {
            Line::Function(function) if is_own(function) => is_behind_own = true,
            Line::Function(function) if is_behind_own && is_standard(function) => {}
            line => {
                // The body of a traced function is a part of that function.
                if is_behind_own && lines.last().is_some_and(|outer| outer.is_of_same(&line)) {
                    lines.pop();
                }
                is_behind_own = false;
                lines.push(line);
            }
        }
    }
    lines.iter().rev().map(Line::text).collect()
}

/// The functions outside of the traced function.
fn callers<'c>(traced: &str, frames: &'c [impl AsRef<Code>]) -> Vec<Line<'c>> {
    let Some(inside) = frames.first().map(AsRef::as_ref) else { return Vec::new() };
    let all: Vec<Line<'c>> = frames.iter().flat_map(|frame| of_frame(frame.as_ref())).collect();
    let at_first =
        |is_such: &dyn Fn(&Function) -> bool| all.iter().position(|line| line.function().is_some_and(is_such));
    let of_traced = inside.functions.iter().position(|function| last(&function.name) == last(traced));
    let skipped = match of_traced {
        // The entry of an export is not inlined, and nothing is inlined into it.
        _ if traced.starts_with("export ") => inside.functions.len().max(1),
        Some(number) => number + 1,
        // It is inlined into the function of the symbol, or nothing is known.
        None if !inside.are_all && !inside.functions.iter().any(is_own) => 0,
        // Debug information may have another name for it, but it comes first.
        None => at_first(&|function| !is_own(function) && !is_standard(function)).map_or(1, |number| number + 1),
    };
    all.into_iter().skip(skipped).collect()
}

fn of_frame(code: &Code) -> Vec<Line<'_>> {
    match &*code.functions {
        [] => vec![Line::Place(&code.place)],
        functions => functions.iter().map(Line::Function).collect(),
    }
}

/// A function, or a place without a known one.
enum Line<'c> {
    Function(&'c Function),
    Place(&'c str),
}

impl<'c> Line<'c> {
    fn function(&self) -> Option<&'c Function> {
        match *self {
            Line::Function(function) => Some(function),
            Line::Place(_) => None,
        }
    }

    fn is_of_same(&self, other: &Line<'_>) -> bool {
        let names = [self.function(), other.function()].map(|function| function.map(|function| last(&function.name)));
        names[0].is_some() && names[0] == names[1]
    }

    fn text(&self) -> String {
        match self {
            Line::Place(place) => (*place).to_owned(),
            Line::Function(Function { name, at: Some(at) }) => format!("{name} at {at}"),
            Line::Function(Function { name, at: None }) => name.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::super::code::tests::code;
    use super::*;

    const ORDER: (&str, &str) = ("shop::order", "cart.rs:88");
    const MAIN: (&str, &str) = ("shop::main", "main.rs:3");

    #[track_caller]
    fn check(traced: &str, frames: &[(&[(&str, &str)], bool)], expected: &[&str]) {
        let frames: Vec<Rc<Code>> =
            frames.iter().map(|(functions, are_all)| Rc::new(code(functions, *are_all))).collect();
        assert_eq!(lines(traced, &frames), expected);
    }

    #[test]
    fn callers_are_behind_the_traced_function() {
        let price = ("shop::price", "cart.rs:7");
        let all = ["shop::order at cart.rs:88", "shop::main at main.rs:3"];
        check("shop::price", &[(&[price], true), (&[ORDER, MAIN], true)], &all);
        check("shop::price", &[(&[price, ORDER], true), (&[MAIN], true)], &all);
        check("shop::price", &[(&[("written otherwise", ""), ORDER], true), (&[MAIN], true)], &all);
        check("export price", &[(&[("entry", "")], true), (&[ORDER], true), (&[MAIN], true)], &all);
        check("shop::price", &[(&[price], true), (&[], false)], &["/bin/shop+0x7"]);
        check("shop::price", &[(&[("shop::order", "")], false), (&[MAIN], true)], &["shop::order", all[1]]);
        check("shop::price", &[(&[], false), (&[], false)], &["/bin/shop+0x7"; 2]);
        check("shop::price", &[], &[]);
    }

    #[test]
    fn frames_between_the_two_are_left_out() {
        let hit = ("dyntrace::breakpoint::hit::begun", "");
        let glue = ("std::panicking::try", "/rustc/1/std/panicking.rs:5");
        let (body, order) = (("shop::order", "cart.rs:89"), ("order", "cart.rs:80"));
        let thread = ("std::rt::lang_start", "/rustc/1/std/rt.rs:7");
        check(
            "shop::price",
            &[(&[("shop::price", "")], true), (&[body, glue], true), (&[hit], false), (&[order, MAIN, thread], true)],
            &["shop::order at cart.rs:89", "shop::main at main.rs:3", "std::rt::lang_start at /rustc/1/std/rt.rs:7"],
        );
        // A function that calls itself is no body.
        check(
            "shop::price",
            &[(&[("shop::price", "")], true), (&[ORDER], true), (&[ORDER], true)],
            &["shop::order at cart.rs:88"; 2],
        );
    }

    #[test]
    fn asynchronous_functions_are_behind_what_polls_them() {
        let own = ("hit_future", "/home/dyntrace/src/breakpoint/hit/future.rs:30");
        let traced = ("shop::price", "cart.rs:7");
        check("shop::price", &[(&[own], true), (&[traced], true), (&[ORDER], true)], &["shop::order at cart.rs:88"]);
        check("shop::price", &[(&[own, traced, ORDER], true)], &["shop::order at cart.rs:88"]);
    }
}
