//! Types that patterns see exactly, and the parts that they see of other types.

use std::borrow::Cow;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use super::*;
use crate::__traced_value as value;

#[derive(Debug)]
struct Order {
    #[expect(dead_code, reason = "it is printed")]
    id: u32,
}

struct Secret;

/// One that panics where it is printed: making values must not do that.
struct Bomb;

impl fmt::Debug for Bomb {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("printed")
    }
}

#[track_caller]
fn shows(value: Value<'_>, expected: &str) {
    assert_eq!(value.to_string(), expected);
    assert!(!expected.is_empty());
}

#[test]
fn integers_of_every_type_are_exact() {
    let negative = i8::MIN;
    assert!(matches!(value!(negative).plain, Plain::Integer(-128)));
    let greatest = u128::MAX;
    assert!(matches!(value!(greatest).plain, Plain::Large(u128::MAX)));
    let small = 7u128;
    assert!(matches!(value!(small).plain, Plain::Integer(7)));
    let some = NonZero::new(9usize);
    shows(value!(some), "Some(9)");
}

#[test]
fn truth_characters_and_texts() {
    let (truth, character, text) = (true, '\n', "a\"b");
    shows(value!(truth), "true");
    shows(value!(character), r"'\n'");
    shows(value!(text), r#""a\"b""#);
    let texts: (String, Cow<'_, str>, Box<str>, Arc<str>, Rc<String>) =
        ("s".into(), "c".into(), "b".into(), "a".into(), Rc::new("r".into()));
    for (value, expected) in [
        (value!(texts.0), "s"),
        (value!(texts.1), "c"),
        (value!(texts.2), "b"),
        (value!(texts.3), "a"),
        (value!(texts.4), "r"),
    ] {
        assert!(matches!(value.plain, Plain::Text(text) if text == expected), "{value}");
    }
}

#[test]
fn paths_are_texts_where_they_can_be() {
    use std::os::unix::ffi::OsStringExt as _;
    let (path, odd) = (Path::new("/tmp/x"), PathBuf::from(std::ffi::OsString::from_vec(b"/tmp/\xff".to_vec())));
    shows(value!(path), "\"/tmp/x\"");
    shows(value!(odd), r#"b"/tmp/\xff""#);
    let bytes = b"GET /".to_vec();
    shows(value!(bytes), "b\"GET /\"");
}

#[test]
fn through_references_and_boxes() {
    let number = 5u16;
    let far = Box::new(Arc::new(&number));
    shows(value!(far), "5");
    let mut text = String::from("t");
    let mutable = &mut text;
    shows(value!(mutable), "\"t\"");
}

#[test]
fn options_and_results_of_exact_values_at_any_depth() {
    let nested: Option<Result<Option<Option<i32>>, &str>> = Some(Ok(Some(Some(-3))));
    shows(value!(nested), "Some(Ok(Some(Some(-3))))");
    let failed: Result<u8, Option<char>> = Err(Some('x'));
    shows(value!(failed), "Err(Some('x'))");
    let none: Result<Option<u8>, String> = Ok(None);
    let value = value!(none);
    assert!(matches!(value.plain, Plain::None) && value.shell.variants().eq([Variant::Ok]));
}

#[test]
fn other_values_are_printed_by_their_debug_or_named() {
    let (order, secret) = (Order { id: 7 }, Secret);
    shows(value!(order), "Order { id: 7 }");
    let by_reference = &order;
    shows(value!(by_reference), "Order { id: 7 }");
    let printable: &dyn fmt::Debug = &order;
    shows(value!(printable), "Order { id: 7 }");
    assert!(value!(secret).to_string().ends_with("::Secret>"), "{}", value!(secret));
    let function = |number: u8| number;
    assert!(matches!(value!(function).plain, Plain::Opaque(_)));
    shows(Value::HIDDEN, "<hidden>");
}

#[test]
fn mixtures_of_exact_printable_and_unknown() {
    let mixed: Result<u32, Order> = Ok(5);
    assert!(matches!(value!(mixed).plain, Plain::Integer(5)));
    let mixed: &Result<u32, Order> = &Err(Order { id: 1 });
    shows(value!(mixed), "Err(Order { id: 1 })");
    let deep: Option<Result<u8, Order>> = Some(Err(Order { id: 2 }));
    shows(value!(deep), "Some(Err(Order { id: 2 }))");
    let unknown: Option<Arc<Result<Secret, u8>>> = Some(Arc::new(Err(3)));
    let value = value!(unknown);
    assert!(value.shell.variants().eq([Variant::Some]) && matches!(value.plain, Plain::Opaque(_)), "{value}");
}

#[test]
fn in_generic_functions_the_bounds_count() {
    fn exact<T: Inspect>(value: T) -> String {
        value!(value).to_string()
    }
    fn printable<T: fmt::Debug + ?Sized>(value: &T) -> String {
        value!(value).to_string()
    }
    fn unknown<T>(value: Option<T>) -> String {
        value!(value).to_string()
    }
    assert_eq!(exact(5), "5");
    assert_eq!(printable("x"), "\"x\"");
    assert_eq!(unknown(Some(5u8)), "Some(<u8>)");
    assert_eq!(unknown(None::<Secret>), "None");
}

#[test]
fn making_a_value_prints_nothing() {
    let bombs: Result<Option<Bomb>, Bomb> = Ok(Some(Bomb));
    let value = value!(bombs);
    assert!(value.shell.variants().eq([Variant::Ok]) && matches!(value.plain, Plain::Debug(_)));
}

#[test]
fn shells_hold_a_fixed_number_of_variants() {
    let full = (0..Shell::DEPTH).try_fold(Shell::EMPTY, |shell, _| shell.within(Variant::Err)).unwrap();
    assert_eq!(full.within(Variant::Ok), None);
    assert_eq!(full.variants().count(), Shell::DEPTH);
    assert_eq!(full.strip(full), Some(Shell::EMPTY));
    let value = Value { shell: full, plain: Plain::Bool(true) }.within(Variant::Some);
    assert!(matches!(value.plain, Plain::Opaque(_)) && value.shell == Shell::EMPTY);
}

#[test]
fn stripping_takes_off_what_is_outermost() {
    let row = |variants: &[Variant]| variants.iter().rev().fold(Shell::EMPTY, |shell, &v| shell.within(v).unwrap());
    let shell = row(&[Variant::Some, Variant::Ok, Variant::Err]);
    assert_eq!(shell.strip(Shell::EMPTY), Some(shell));
    assert_eq!(shell.strip(row(&[Variant::Some])), Some(row(&[Variant::Ok, Variant::Err])));
    assert_eq!(shell.strip(shell), Some(Shell::EMPTY));
    assert_eq!(shell.strip(row(&[Variant::Ok])), None);
    assert_eq!(row(&[Variant::Some]).strip(shell), None);
}
