use dyntrace::code::{Error, export};

fn one(text: String) -> Result<bool, Error> {
    Ok(export::<fn(_)>("victim", "keep")?.call(&*text).is_ok())
}

fn many(text: String) -> Result<bool, Error> {
    Ok(export::<fn(_)>("victim", "keep_all")?.call(vec![&*text]).is_ok())
}

fn main() {
    let _ = [one("gone soon".into()), many("gone soon".into())];
}
