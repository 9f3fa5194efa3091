//! Lifetimes that neither a caller nor the compiler could distinguish from `'static`.

#[dyntrace::export]
fn bound<'a: 'static>(_text: &'a str) {}

#[dyntrace::export]
fn where_bound<'a>(_text: &'a str)
where
    'a: 'static,
{
}

#[dyntrace::export]
fn inside<'a>(_texts: Vec<&'a str>) {}

#[dyntrace::export]
fn elided_inside(_texts: Vec<&str>) {}

#[dyntrace::export]
fn lent_back(text: &str) -> &str {
    text
}

fn main() {}
