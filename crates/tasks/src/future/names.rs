//! Names of futures for people.

use std::sync::Arc;

use crate::dwarf::{Type, Types};

/// Shortens `a::b::C<d::E>` to `C<E>`. Paths of coroutines and closures stay whole.
pub(crate) fn short(path: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    for c in path.chars() {
        if c.is_alphanumeric() || "_:{}#".contains(c) {
            word.push(c);
        } else {
            out += last(&word);
            word.clear();
            out.push(c);
        }
    }
    out += last(&word);
    out.replace(", Global>", ">")
}

fn last(word: &str) -> &str {
    if word.contains('{') { word } else { word.rsplit("::").next().unwrap_or(word) }
}

/// Returns a future's name: an `async fn` by its path, a block by the path of its function and `{async block}`.
pub(crate) fn of(types: &Types<'_>, kind: &Type) -> Arc<str> {
    types.names.get(kind.id, || make(types, kind).into())
}

fn make(types: &Types<'_>, kind: &Type) -> String {
    if !kind.is_coroutine() {
        return short(&kind.path);
    }
    let block = if kind.name.starts_with("{async_block") { "::{async block}" } else { "" };
    // debug information numbers the impls of a module, the symbol names them
    if kind.path.contains("{impl#")
        && let Some(symbol) = types.resume_symbol(kind.id)
    {
        return of_symbol(&symbol, block);
    }
    let path = kind.path.strip_suffix(kind.name.as_str()).unwrap_or(&kind.path).trim_end_matches("::");
    format!("{}{block}", without_numbers(path))
}

fn of_symbol(symbol: &str, block: &str) -> String {
    let mut symbol = symbol;
    while let Some(outer) = strip_closure(symbol) {
        symbol = outer;
    }
    format!("{symbol}{block}")
}

/// Cuts `::{{closure}}` (legacy mangling) or `::{closure#0}` (v0) from the end.
fn strip_closure(symbol: &str) -> Option<&str> {
    let (outer, last) = symbol.rsplit_once("::")?;
    (last == "{{closure}}" || last.starts_with("{closure#") && last.ends_with('}')).then_some(outer)
}

/// Removes the numbers of the async functions and blocks on the way.
fn without_numbers(path: &str) -> String {
    let kept = path.split("::").filter(|name| !name.starts_with("{async_fn#") && !name.starts_with("{async_block#"));
    kept.collect::<Vec<_>>().join("::")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_shortened_within_parameters() {
        assert_eq!(short("core::pin::Pin<alloc::boxed::Box<a::B, alloc::alloc::Global>>"), "Pin<Box<B>>");
        assert_eq!(short("(a::B, c::D)"), "(B, D)");
        assert_eq!(short("a::F<b::c::{async_fn_env#0}>"), "F<b::c::{async_fn_env#0}>");
    }

    #[test]
    fn closures_of_symbols_are_cut() {
        assert_eq!(of_symbol("<a::B>::run::{closure#0}::{closure#1}", ""), "<a::B>::run");
        assert_eq!(of_symbol("a::run::{{closure}}", "::{async block}"), "a::run::{async block}");
    }

    #[test]
    fn numbers_on_the_way_are_removed() {
        assert_eq!(without_numbers("a::run::{async_fn#0}::inner"), "a::run::inner");
    }
}
