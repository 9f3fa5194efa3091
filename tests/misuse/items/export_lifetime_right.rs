//! Borrowed arguments: for the call, or `'static`.
use dyntrace::code::lookup;

#[dyntrace::export]
fn look<'a>(text: &'a str, number: &mut u32) -> usize {
    *number += 1;
    text.len()
}

#[dyntrace::export]
fn keep(_text: &'static str) {}

#[dyntrace::export]
fn keep_all(_texts: Vec<&'static str>) {}

fn main() {
    look("rye", &mut 7);
    keep("rye");
    keep_all(vec!["rye"]);
    let text = String::from("gone soon");
    let _ = lookup::<fn(&str) -> usize>("victim", "look").map(|look| look.call(&text).is_ok());
    let _ = lookup::<fn(&'static str)>("victim", "keep").map(|keep| keep.call("rye").is_ok());
    let _ = lookup::<fn(Vec<&'static str>)>("victim", "keep_all").map(|keep| keep.call(vec!["rye"]).is_ok());
}
