use dyntrace::code::{Error, lookup};

fn one(text: &'static str) -> Result<bool, Error> {
    Ok(lookup::<fn(_)>("victim", "keep")?.call(text).is_ok())
}

fn many(text: &'static str) -> Result<bool, Error> {
    Ok(lookup::<fn(_)>("victim", "keep_all")?.call(vec![text]).is_ok())
}

fn main() {
    let _ = [one("stays"), many("stays")];
}
