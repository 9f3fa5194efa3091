//! Every kind of function can have the attribute.

use std::fmt::Debug;

use dyntrace::traced;

use crate::support::Watch;

#[traced]
fn plain(a: u32, b: &str) -> String {
    format!("{a}{b}")
}

#[traced]
fn nothing() {}

#[traced]
fn generic<T: Debug, const N: usize>(values: [T; N]) -> usize {
    values.len()
}

#[traced]
fn borrows<'a>(text: &'a str, mut rest: &[u8]) -> &'a str {
    while let [first, more @ ..] = rest {
        if usize::from(*first) < text.len() {
            return &text[usize::from(*first)..];
        }
        rest = more;
    }
    text
}

#[traced]
fn taken_apart((a, b): (u8, u8), [c, _]: [u8; 2], _: u8) -> u8 {
    a + b + c
}

#[traced]
fn opaque(text: impl AsRef<str> + Clone) -> Result<impl Iterator<Item = char> + Clone, std::num::ParseIntError> {
    let count: usize = text.as_ref().parse()?;
    Ok(std::iter::repeat_n('x', count))
}

#[traced]
fn callable(least: usize) -> impl Fn(&str, &str) -> bool {
    move |a, b| a.len() + b.len() >= least
}

#[traced]
fn perhaps_callable(least: usize) -> Option<Box<impl FnMut(&[u8]) -> usize>> {
    (least > 0).then(|| Box::new(move |bytes: &[u8]| bytes.len().max(least)))
}

#[traced]
async fn callable_later(least: usize) -> impl Fn(&str) -> bool {
    move |a: &str| a.len() >= least
}

#[traced(skip(a), secret(password))]
fn hidden(a: u8, password: &str) -> usize {
    usize::from(a) + password.len()
}

struct Opaque;

#[traced]
fn unprintable(_thing: Opaque) -> Opaque {
    Opaque
}

#[traced]
fn exits(code: i32) -> ! {
    std::panic::panic_any(code)
}

#[traced]
fn deep(level: u32) -> u32 {
    if level == 0 { 0 } else { 1 + deep(level - 1) }
}

#[derive(Debug, Default)]
struct Cart {
    items: Vec<String>,
}

#[traced]
impl Cart {
    const fn empty() -> Cart {
        Cart { items: Vec::new() }
    }

    fn add(&mut self, item: impl Into<String>) -> &mut String {
        self.items.push(item.into());
        self.items.last_mut().unwrap()
    }

    fn first(&self) -> Option<&String> {
        self.items.first()
    }

    fn into_items(self) -> Vec<String> {
        self.items
    }

    #[traced(off)]
    fn untraced(&self) {}

    #[traced(secret(key))]
    fn keyed(&self, key: &str) -> usize {
        key.len()
    }
}

struct Basket;

impl Basket {
    #[traced(in = Basket)]
    fn weigh(&self) -> u8 {
        1
    }
}

#[traced]
trait Priced {
    fn price(&self) -> u32;

    fn twice(&self) -> u32 {
        2 * self.price()
    }
}

#[traced]
impl Priced for Cart {
    fn price(&self) -> u32 {
        self.items.len() as u32
    }
}

#[traced]
impl<T: Debug> Priced for Vec<T> {
    fn price(&self) -> u32 {
        7
    }
}

#[tokio::test]
async fn each_shows_its_arguments_and_its_value() {
    let watch = Watch::on("**::kinds::plain do return").await;
    assert_eq!(plain(1, "b"), "1b");
    assert_eq!(watch.lines().await, [r#"call   kinds::plain(1, "b")"#, r#"return kinds::plain -> "1b""#]);

    let watch = Watch::on("**::kinds::nothing do return").await;
    nothing();
    assert_eq!(watch.lines().await, ["call   kinds::nothing()", "return kinds::nothing -> ()"]);

    let watch = Watch::on("**::kinds::generic").await;
    assert_eq!((generic([1, 2]), generic(["a"])), (2, 1));
    assert_eq!(watch.lines().await, ["call   kinds::generic([1, 2])", r#"call   kinds::generic(["a"])"#]);

    let watch = Watch::on("**::kinds::borrows do return").await;
    assert_eq!(borrows("text", &[9, 2]), "xt");
    assert_eq!(
        watch.lines().await,
        [r#"call   kinds::borrows("text", b"\t\x02")"#, r#"return kinds::borrows -> "xt""#]
    );

    let watch = Watch::on("**::kinds::taken_apart(_, _, _) do return").await;
    assert_eq!(taken_apart((1, 2), [3, 4], 5), 6);
    assert_eq!(
        watch.lines().await,
        [r#"call   kinds::taken_apart((1, 2), b"\x03\x04", 5)"#, "return kinds::taken_apart -> 6"]
    );

    let watch = Watch::on("**::kinds::opaque").await;
    assert_eq!(opaque("3").unwrap().count(), 3);
    assert!(opaque("three").is_err());
    assert_eq!(watch.lines().await.len(), 2);

    let watch = Watch::on("**::kinds::callable do return").await;
    assert!(callable(3)("a", "bc"));
    assert_eq!(watch.lines().await[..], ["call   kinds::callable(3)", "return kinds::callable -> <hidden>"]);

    let watch = Watch::on("**::kinds::callable_later").await;
    assert!(callable_later(1).await("a"));
    assert_eq!(watch.lines().await, ["call   kinds::callable_later(1)"]);

    let watch = Watch::on("**::kinds::perhaps_callable").await;
    assert_eq!(perhaps_callable(3).unwrap()(b"a"), 3);
    assert_eq!(watch.lines().await, ["call   kinds::perhaps_callable(3)"]);

    let watch = Watch::on("**::kinds::hidden do return").await;
    assert_eq!(hidden(1, "sesame"), 7);
    assert_eq!(watch.lines().await, ["call   kinds::hidden(<hidden>, <hidden>)", "return kinds::hidden -> 7"]);

    let watch = Watch::on("**::kinds::unprintable").await;
    unprintable(Opaque);
    assert_eq!(watch.lines().await, ["call   kinds::unprintable(<traced::kinds::Opaque>)".replace("traced::", "")]);
}

#[tokio::test]
async fn methods_bear_their_type() {
    let watch = Watch::on("**::Cart::add do return").await;
    let mut cart = Cart::empty();
    cart.add("ball").push('s');
    cart.untraced();
    assert_eq!(
        watch.lines().await,
        [r#"call   kinds::Cart::add(Cart { items: [] }, <&str>)"#, r#"return kinds::Cart::add -> "ball""#]
    );

    let watch = Watch::on("**::Cart::first/1 do return").await;
    cart.first();
    assert_eq!(watch.lines().await[1], r#"return kinds::Cart::first -> Some("balls")"#);

    let watch = Watch::on("**::Cart::keyed(_, _)").await;
    cart.keyed("sesame");
    assert_eq!(watch.lines().await, [r#"call   kinds::Cart::keyed(Cart { items: ["balls"] }, <hidden>)"#]);

    let watch = Watch::on("**::Priced::twice").await;
    assert_eq!((cart.twice(), vec![1].twice()), (2, 14));
    assert_eq!(watch.lines().await.len(), 2);

    let watch = Watch::on("**::Vec::price").await;
    vec!['a'].price();
    assert_eq!(watch.lines().await, ["call   kinds::Vec::price(['a'])"]);

    let watch = Watch::on("**::Basket::weigh").await;
    Basket.weigh();
    assert_eq!(watch.lines().await.len(), 1);

    let watch = Watch::on("**::Cart::into_items do return").await;
    cart.into_items();
    let function = watch.end().await.0[1].function;
    assert_eq!(function.name, "traced::kinds::Cart::into_items/1");
    assert_eq!((function.file, function.arguments), (file!(), &["self"][..]));
    assert!(
        std::fs::read_to_string(file!())
            .unwrap()
            .lines()
            .nth(function.line as usize - 1)
            .unwrap()
            .contains("into_items")
    );
}

#[tokio::test]
async fn functions_that_do_not_return() {
    let watch = Watch::on("**::kinds::exits do return, exception").await;
    std::panic::catch_unwind(|| exits(3)).unwrap_err();
    assert_eq!(watch.lines().await, ["call   kinds::exits(3)", "panic  kinds::exits: (a panic without a text)"]);
}

#[tokio::test]
async fn recursion() {
    const LEVELS: u32 = 100;
    let watch = Watch::on("**::kinds::deep do return").await;
    assert_eq!(deep(LEVELS), LEVELS);
    let lines = watch.lines().await;
    assert_eq!(lines.len(), 2 * (LEVELS as usize + 1));
    assert_eq!(lines.first().unwrap(), "call   kinds::deep(100)");
    assert_eq!(lines.last().unwrap(), "return kinds::deep -> 100");
}
