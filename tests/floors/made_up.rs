//! Made-up crates, with and without faults.

use crate::house::{Table, faults};
use crate::modules::Sources;

const TABLE: &str = "
```
floor 2  src/lib.rs    the root
floor 1  src/upper/    a room with
         two lines
         src/beside.rs another
floor 0  src/lower.rs
```
";

fn found(files: &[(&str, &str)]) -> Vec<String> {
    let mut sources: Sources = [
        ("lib.rs", "mod beside; mod lower; mod upper; pub use lower::low;"),
        ("lower.rs", "pub fn low() {}"),
        ("beside.rs", ""),
        ("upper/mod.rs", "mod a; mod b; mod c; pub use a::A; pub use b::B; pub use c::C;"),
        ("upper/a.rs", "pub struct A;"),
        ("upper/b.rs", "pub struct B;"),
        ("upper/c.rs", "pub struct C;"),
    ]
    .map(|(file, text)| (file.to_owned(), text.to_owned()))
    .into();
    sources.extend(files.iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned())));
    faults(&sources, "dyntrace", &Table::read(TABLE, "src/"))
}

/// The one fault of the made-up crate with these files.
fn fault(files: &[(&str, &str)]) -> String {
    let faults = found(files);
    assert_eq!(faults.len(), 1, "{faults:?}");
    faults.concat()
}

#[test]
fn arrows_down_and_beside_are_right() {
    let files = [
        ("upper/a.rs", "use crate::lower::low; use crate::beside; pub struct A; fn a() { low(); beside::b() }"),
        ("beside.rs", "use crate::lower; pub fn b() { lower::low() }"),
    ];
    assert_eq!(found(&files), [""; 0]);
}

#[test]
fn an_arrow_up_is_found_in_every_form() {
    for code in [
        "use crate::upper::A;",
        "use crate::{upper::{A as Other}};",
        "use super::upper::A;",
        "use crate::upper; fn f(_: upper::A) {}",
        "fn f() { let _ = crate::upper::A; }",
        "fn f() { println!(\"{:?}\", crate::upper::A); }",
        "macro_rules! m { () => { $crate::upper::A } }",
        "fn f() { fn g() -> Option<dyntrace::upper::A> { None } }",
        "impl<T> From<T> for super::upper::A {}",
        "fn f() { use crate::upper::A; }",
        "mod inside { use super::super::upper::A; }",
    ] {
        let found = fault(&[("lower.rs", &format!("\n{code}\npub fn low() {{}}"))]);
        let expected = ["src/lower.rs:2: ", " is in src/upper/a.rs: lower is on floor 0 and upper on floor 1. Move"];
        assert!(expected.iter().all(|part| found.contains(part)), "{code}: {found}");
    }
}

#[test]
fn comments_strings_and_tests_have_no_arrows() {
    for code in [
        "// use crate::upper::A;",
        "/// [`A`](crate::upper::A)\nstruct S;",
        "const S: &str = \"use crate::upper::A;\";",
        "#[cfg(test)] mod tests { use crate::upper::A; }",
        "#[cfg(all(not(loom), test))]\n#[doc(hidden)]\nfn f() { crate::upper::A; }",
        "#[cfg(any(all(test, unix), test))] use crate::upper::A;",
        "enum E { #[cfg(test)] A(crate::upper::A), B }",
    ] {
        assert_eq!(found(&[("lower.rs", &format!("{code}\npub fn low() {{}}"))]), [""; 0], "{code}");
    }
    let found = fault(&[("lower.rs", "#[cfg(any(test, unix))] use crate::upper::A;\npub fn low() {}")]);
    assert!(found.contains("floor"), "{found}");
}

#[test]
fn a_circle_of_rooms_is_found() {
    let files =
        [("upper/a.rs", "use crate::beside::b; pub struct A;"), ("beside.rs", "use crate::upper::B; pub fn b() {}")];
    let found = fault(&files);
    let expected = ["a circle of rooms", "beside -> upper: src/beside.rs:1", "upper -> beside: src/upper/a.rs:1"];
    assert!(expected.iter().all(|part| found.contains(part)), "{found}");
}

#[test]
fn a_circle_of_three_files_is_found_and_one_of_two_is_none() {
    let two = [("upper/a.rs", "use super::b::B; pub struct A;"), ("upper/b.rs", "use super::a::A; pub struct B;")];
    assert_eq!(found(&two), [""; 0]);
    let three = [
        ("upper/a.rs", "use super::B; pub struct A;"),
        ("upper/b.rs", "use super::c; pub struct B; const C: c::C = c::C;"),
        ("upper/c.rs", "pub struct C; fn a() { super::a::A; }"),
    ];
    let found = fault(&three);
    let expected = ["a circle of 3 files", "src/upper/a.rs:1: `super::B` is in src/upper/b.rs", "src/upper/c.rs:1"];
    assert!(expected.iter().all(|part| found.contains(part)), "{found}");
}

#[test]
fn re_exports_are_no_items_of_the_parent() {
    // `a` and `b` import each other's items through the parent, which is not part of their circle.
    let passes = [("upper/a.rs", "use super::B; pub struct A;"), ("upper/b.rs", "use super::A; pub struct B;")];
    assert_eq!(found(&passes), [""; 0]);
    // A parent with code that uses the children, and that they use, is part of the circle.
    let works = [
        (
            "upper/mod.rs",
            "mod a; mod b; mod c; pub use a::A; pub use b::B; pub use c::C; fn all(_: A, _: B) {} fn f() {}",
        ),
        ("upper/a.rs", "use super::f; pub struct A;"),
        ("upper/b.rs", "pub struct B; fn b() { super::f() }"),
    ];
    let found = fault(&works);
    assert!(found.contains("a circle of 3 files") && found.contains("src/upper/mod.rs"), "{found}");
}

#[test]
fn the_library_does_not_name_the_roots_re_exports() {
    let found = fault(&[("beside.rs", "pub fn b() { crate::low() }")]);
    let expected = ["src/beside.rs:1: `crate::low` is in src/lib.rs", "Name the room that defines it"];
    assert!(expected.iter().all(|part| found.contains(part)), "{found}");
}

#[test]
fn an_exported_macro_is_where_it_is_defined() {
    let files = [
        ("lower.rs", "#[macro_export] macro_rules! lows { () => {} } pub fn low() {}"),
        ("beside.rs", "pub fn b() { crate::lows!() }"),
    ];
    assert_eq!(found(&files), [""; 0]);
}

#[test]
fn all_files_of_a_platform_are_read() {
    const OS: &str =
        "#[cfg_attr(unix, path = \"lower/one.rs\")] #[cfg_attr(not(unix), path = \"lower/two.rs\")] mod os;";
    let lower = format!("{OS} pub fn low() {{}}");
    for (one, two) in [("", "use crate::upper::A;"), ("use crate::upper::A;", "")] {
        let found = fault(&[("lower.rs", &lower), ("lower/one.rs", one), ("lower/two.rs", two)]);
        assert!(found.contains("is in src/upper/a.rs: lower is on floor 0"), "{found}");
    }
}

#[test]
fn the_file_where_no_condition_holds_is_read() {
    let lower = "#[cfg_attr(unix, path = \"lower/one.rs\")] mod os; pub fn low() {}";
    for (one, usual) in [("", "use crate::upper::A;"), ("use crate::upper::A;", "")] {
        let found = fault(&[("lower.rs", lower), ("lower/one.rs", one), ("lower/os.rs", usual)]);
        assert!(found.contains("is in src/upper/a.rs: lower is on floor 0"), "{found}");
    }
}

#[test]
fn an_included_file_is_read() {
    let files =
        [("lower.rs", "include!(\"lower/made.rs\"); pub fn low() {}"), ("lower/made.rs", "use crate::upper::A;")];
    assert!(fault(&files).contains("is in src/upper/a.rs: lower is on floor 0"));
}

#[test]
fn rooms_and_table_are_the_same() {
    let found = found(&[("lib.rs", "mod lower; mod new;"), ("new.rs", "")]);
    let expected = ["src/new.rs is in no room", "has src/beside", "has src/upper"];
    assert!(found.len() == 3 && expected.iter().all(|part| found.iter().any(|one| one.contains(part))), "{found:?}");
}
