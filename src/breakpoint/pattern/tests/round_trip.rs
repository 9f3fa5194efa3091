//! Random patterns: each parses from its own text to the same pattern, and agrees with the reference implementation about calls.

use std::fmt::Write as _;

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::breakpoint::pattern::literal::Constant;
use crate::breakpoint::pattern::syntax::{
    Argument, ArgumentPlace, Arithmetic, Arity, Comparison, Expression, Leaf, Position, TextTest, Wanted,
};
use crate::breakpoint::value::{Plain, Shell, Variant};

/// A value with the variants around it.
#[derive(Clone, Debug, PartialEq)]
enum Nested {
    Integer(i128),
    Large(u128),
    Bool(bool),
    Char(char),
    Text(String),
    None,
    Unknown,
    In(Variant, Box<Nested>),
}

impl Nested {
    fn value(&self) -> Value<'_> {
        Value::of(match self {
            Nested::Integer(number) => Plain::Integer(*number),
            Nested::Large(number) => Plain::Large(*number),
            Nested::Bool(truth) => Plain::Bool(*truth),
            Nested::Char(character) => Plain::Char(*character),
            Nested::Text(text) => Plain::Text(text),
            Nested::None => Plain::None,
            Nested::Unknown => Plain::Hidden,
            Nested::In(variant, inside) => return inside.value().within(*variant),
        })
    }

    fn of(constant: &Constant) -> Nested {
        match constant {
            Constant::Integer(number) => Nested::Integer(*number),
            Constant::Large(number) => Nested::Large(*number),
            Constant::Bool(truth) => Nested::Bool(*truth),
            Constant::Char(character) => Nested::Char(*character),
            Constant::Text(text) => Nested::Text(text.to_string()),
            Constant::None => Nested::None,
        }
    }
}

fn constant() -> impl Strategy<Value = Constant> {
    prop_oneof![
        integer_constant(),
        any::<bool>().prop_map(Constant::Bool),
        prop_oneof![select(vec!['a', '\'', '\\', '\n', '\u{0}', '日']), any::<char>()].prop_map(Constant::Char),
        text().prop_map(|text| Constant::Text(text.into())),
        Just(Constant::None),
    ]
}

fn integer_constant() -> impl Strategy<Value = Constant> {
    prop_oneof![
        4 => (-3i128..4).prop_map(Constant::Integer),
        1 => select(vec![i128::MIN, i128::MAX]).prop_map(Constant::Integer),
        1 => select(vec![1 << 127, u128::MAX]).prop_map(Constant::Large),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[ab]{0,2}", 1 => any::<String>()]
}

fn variant() -> impl Strategy<Value = Variant> {
    select(vec![Variant::Some, Variant::Ok, Variant::Err])
}

fn value() -> impl Strategy<Value = Nested> {
    let plain = prop_oneof![
        6 => (-3i128..4).prop_map(Nested::Integer),
        6 => constant().prop_map(|constant| Nested::of(&constant)),
        1 => Just(Nested::Unknown),
    ];
    plain.prop_recursive(2, 3, 1, |inside| {
        (variant(), inside).prop_map(|(variant, inside)| Nested::In(variant, inside.into()))
    })
}

/// The pattern of one argument: the variants around it, and a constant, or a name.
type Written1 = (Vec<Variant>, Option<Constant>);

fn argument() -> impl Strategy<Value = Written1> {
    (prop::collection::vec(variant(), 0..3), prop_oneof![3 => Just(None), 1 => constant().prop_map(Some)])
}

fn leaf(places: Vec<ArgumentPlace>) -> BoxedStrategy<Expression> {
    let others = select(vec![Leaf::Pid, Leaf::Thread]);
    if places.is_empty() {
        return others.prop_map(Expression::Leaf).boxed();
    }
    prop_oneof![1 => others, 4 => select(places).prop_map(Leaf::ArgumentPlace)].prop_map(Expression::Leaf).boxed()
}

fn integer(places: Vec<ArgumentPlace>, depth: u32) -> BoxedStrategy<Expression> {
    let leaf = prop_oneof![
        leaf(places.clone()),
        integer_constant().prop_map(|constant| Expression::Leaf(Leaf::Constant(constant)))
    ];
    if depth == 0 {
        return leaf.boxed();
    }
    let part = move || integer(places.clone(), depth - 1);
    let chain = |operators: Vec<Arithmetic>| {
        (part(), prop::collection::vec((select(operators), part()), 1..3))
            .prop_map(|(first, rest)| Expression::Arithmetic(first.into(), rest))
    };
    prop_oneof![
        leaf,
        part().prop_map(|number| Expression::Negative(number.into())),
        chain(vec![Arithmetic::Add, Arithmetic::Subtract]),
        chain(vec![Arithmetic::Multiply, Arithmetic::Divide, Arithmetic::Remainder]),
    ]
    .boxed()
}

fn some_text(places: Vec<ArgumentPlace>) -> BoxedStrategy<Expression> {
    prop_oneof![
        leaf_text(places),
        Just(Expression::Leaf(Leaf::Tag)),
        text().prop_map(|text| Expression::Leaf(Leaf::Constant(Constant::Text(text.into())))),
    ]
    .boxed()
}

fn leaf_text(places: Vec<ArgumentPlace>) -> BoxedStrategy<Expression> {
    if places.is_empty() {
        return Just(Expression::Leaf(Leaf::Tag)).boxed();
    }
    select(places).prop_map(|place| Expression::Leaf(Leaf::ArgumentPlace(place))).boxed()
}

fn condition(places: Vec<ArgumentPlace>, depth: u32) -> BoxedStrategy<Expression> {
    use Comparison::*;
    let comparison = select(vec![Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual]);
    let pair = |(comparison, a, b)| Expression::Compare(comparison, Box::new([a, b]));
    let test = select(vec![TextTest::StartsWith, TextTest::EndsWith, TextTest::Contains]);
    let simple = prop_oneof![
        (comparison.clone(), integer(places.clone(), depth.min(2)), integer(places.clone(), 0)).prop_map(pair),
        (comparison, some_text(places.clone()), some_text(places.clone())).prop_map(pair),
        (select(vec![Equal, NotEqual]), leaf_text(places.clone()), constant())
            .prop_filter("a tag is compared with texts", |(_, a, b)| *a != Expression::Leaf(Leaf::Tag)
                || matches!(b, Constant::Text(_) | Constant::None))
            .prop_map(|(comparison, a, b)| Expression::Compare(
                comparison,
                Box::new([a, Expression::Leaf(Leaf::Constant(b))])
            )),
        (test, some_text(places.clone()), some_text(places.clone()))
            .prop_map(|(test, a, b)| Expression::Text(test, Box::new([a, b]))),
        (some_text(places.clone()), "[a*?]{0,3}").prop_map(|(a, glob)| {
            let glob = Expression::Leaf(Leaf::Constant(Constant::Text(glob.into())));
            Expression::Text(TextTest::Matches, Box::new([a, glob]))
        }),
        any::<bool>().prop_map(|truth| Expression::Leaf(Leaf::Constant(Constant::Bool(truth)))),
    ];
    if depth == 0 {
        return simple.boxed();
    }
    let part = move || condition(places.clone(), depth - 1);
    prop_oneof![
        2 => simple,
        1 => part().prop_map(|condition| Expression::Not(condition.into())),
        2 => prop::collection::vec(part(), 2..4).prop_map(Expression::All),
        2 => prop::collection::vec(part(), 2..4).prop_map(Expression::Any),
        1 => (select(vec![Equal, NotEqual]), part(), part()).prop_map(pair),
    ]
    .boxed()
}

/// A pattern, the arguments in it as they are written, and the names of places.
#[derive(Clone, Debug)]
struct Made {
    text: String,
    arity: Arity,
    arguments: Vec<Argument>,
    guard: Expression,
}

fn made() -> impl Strategy<Value = Made> {
    (prop::collection::vec(argument(), 0..4), prop::option::of(0usize..4)).prop_flat_map(|(written, rest)| {
        let (mut text, mut places, mut arguments) = ("f(".to_owned(), Vec::new(), Vec::new());
        let count = written.len();
        let rest = rest.filter(|at| *at <= count);
        for (number, (variants, constant)) in written.into_iter().enumerate() {
            if rest == Some(number) {
                text += ".., ";
            }
            let position = match rest {
                Some(at) if number >= at => Position::FromEnd((count - number) as u16),
                _ => Position::FromStart(number as u16),
            };
            let shell = variants.iter().rev().fold(Shell::EMPTY, |shell, variant| shell.within(*variant).unwrap());
            let place = ArgumentPlace { position, shell, part: None };
            let inside = constant.as_ref().map_or_else(|| format!("a{}", places.len()), shown);
            let opened: String = variants.iter().map(|variant| format!("{variant}(")).collect();
            write!(text, "{opened}{inside}{}, ", ")".repeat(variants.len())).unwrap();
            if constant.is_none() {
                places.push(place);
            }
            if constant.is_some() || shell != Shell::EMPTY {
                arguments.push(Argument { place, wanted: constant.map_or(Wanted::Anything, Wanted::Constant) });
            }
        }
        if rest == Some(count) {
            text += "..";
        }
        text += ") if ";
        let arity = Arity { least: count, most: if rest.is_some() { usize::MAX } else { count } };
        condition(places.clone(), 3).prop_map(move |guard| {
            let text = text.clone() + &printed(&guard, &places);
            Made { text, arity, arguments: arguments.clone(), guard }
        })
    })
}

fn shown(constant: &Constant) -> String {
    Value::of(constant.plain()).to_string()
}

fn printed(expression: &Expression, places: &[ArgumentPlace]) -> String {
    let part = |expression: &Expression| match expression {
        Expression::Leaf(_) => printed(expression, places),
        other => format!("({})", printed(other, places)),
    };
    let row = |parts: &[Expression], operator: &str| parts.iter().map(part).collect::<Vec<_>>().join(operator);
    match expression {
        Expression::Leaf(Leaf::Constant(constant)) => shown(constant),
        Expression::Leaf(Leaf::ArgumentPlace(place)) => format!("a{}", places.iter().position(|p| p == place).unwrap()),
        Expression::Leaf(Leaf::Pid) => "pid".into(),
        Expression::Leaf(Leaf::Tag) => "tag".into(),
        Expression::Leaf(Leaf::Thread) => "thread".into(),
        Expression::Not(condition) => format!("!{}", part(condition)),
        Expression::Negative(number) => format!("-({})", printed(number, places)),
        Expression::Compare(comparison, sides) => {
            let operator = match comparison {
                Comparison::Equal => "==",
                Comparison::NotEqual => "!=",
                Comparison::Less => "<",
                Comparison::LessOrEqual => "<=",
                Comparison::Greater => ">",
                Comparison::GreaterOrEqual => ">=",
            };
            row(&**sides, operator)
        }
        Expression::Text(test, sides) => {
            let name = match test {
                TextTest::StartsWith => "starts_with",
                TextTest::EndsWith => "ends_with",
                TextTest::Contains => "contains",
                TextTest::Matches => "matches",
            };
            format!("{name}({})", row(&**sides, ", "))
        }
        Expression::Arithmetic(first, rest) => rest.iter().fold(part(first), |text, (operator, expression)| {
            let operator = match operator {
                Arithmetic::Add => '+',
                Arithmetic::Subtract => '-',
                Arithmetic::Multiply => '*',
                Arithmetic::Divide => '/',
                Arithmetic::Remainder => '%',
            };
            format!("{text} {operator} {}", part(expression))
        }),
        Expression::All(parts) => row(parts, " && "),
        Expression::Any(parts) => row(parts, "||"),
    }
}

/// The reference implementation: the simplest evaluation of a guard. `None` if the guard has no value.
fn meaning(expression: &Expression, call: &Call1) -> Option<Nested> {
    let truth = |expression: &Expression| match meaning(expression, call)? {
        Nested::Bool(truth) => Some(truth),
        _ => None,
    };
    let number = |expression: &Expression| match meaning(expression, call)? {
        Nested::Integer(number) => Some(number),
        _ => None,
    };
    let text = |expression: &Expression| match meaning(expression, call)? {
        Nested::Text(text) => Some(text),
        _ => None,
    };
    Some(match expression {
        Expression::Leaf(Leaf::Constant(constant)) => Nested::of(constant),
        Expression::Leaf(Leaf::ArgumentPlace(place)) => call.at(*place)?,
        Expression::Leaf(Leaf::Pid) => Nested::Integer(call.pid.into()),
        Expression::Leaf(Leaf::Tag) => call.tag.clone().map_or(Nested::None, Nested::Text),
        Expression::Leaf(Leaf::Thread) => Nested::Integer(1),
        Expression::Not(condition) => Nested::Bool(!truth(condition)?),
        Expression::Negative(negative) => Nested::Integer(0i128.checked_sub(number(negative)?)?),
        Expression::Arithmetic(first, rest) => {
            let sum = rest.iter().try_fold(number(first)?, |sum, (operator, expression)| match operator {
                Arithmetic::Add => sum.checked_add(number(expression)?),
                Arithmetic::Subtract => sum.checked_sub(number(expression)?),
                Arithmetic::Multiply => sum.checked_mul(number(expression)?),
                Arithmetic::Divide => sum.checked_div(number(expression)?),
                Arithmetic::Remainder => sum.checked_rem(number(expression)?),
            });
            Nested::Integer(sum?)
        }
        Expression::Compare(comparison, sides) => {
            let (a, b) = (meaning(&sides[0], call)?, meaning(&sides[1], call)?);
            let order = || match (&a, &b) {
                (Nested::Integer(a), Nested::Integer(b)) => Some(a.cmp(b)),
                (Nested::Large(a), Nested::Large(b)) => Some(a.cmp(b)),
                (Nested::Integer(_), Nested::Large(_)) => Some(std::cmp::Ordering::Less),
                (Nested::Large(_), Nested::Integer(_)) => Some(std::cmp::Ordering::Greater),
                (Nested::Char(a), Nested::Char(b)) => Some(a.cmp(b)),
                (Nested::Text(a), Nested::Text(b)) => Some(a.cmp(b)),
                _ => None,
            };
            Nested::Bool(match comparison {
                Comparison::Equal => equal(&a, &b)?,
                Comparison::NotEqual => !equal(&a, &b)?,
                Comparison::Less => order()?.is_lt(),
                Comparison::LessOrEqual => order()?.is_le(),
                Comparison::Greater => order()?.is_gt(),
                Comparison::GreaterOrEqual => order()?.is_ge(),
            })
        }
        Expression::Text(test, sides) => {
            let (text, part) = (text(&sides[0])?, text(&sides[1])?);
            Nested::Bool(match test {
                TextTest::StartsWith => text.starts_with(&part),
                TextTest::EndsWith => text.ends_with(&part),
                TextTest::Contains => text.contains(&part),
                TextTest::Matches => crate::glob::Glob::from(part).matches(text.as_bytes()),
            })
        }
        Expression::All(parts) => {
            for part in parts {
                if !truth(part)? {
                    return Some(Nested::Bool(false));
                }
            }
            Nested::Bool(true)
        }
        Expression::Any(parts) => {
            for part in parts {
                if truth(part)? {
                    return Some(Nested::Bool(true));
                }
            }
            Nested::Bool(false)
        }
    })
}

fn equal(a: &Nested, b: &Nested) -> Option<bool> {
    match (a, b) {
        (Nested::Unknown, _) | (_, Nested::Unknown) => None,
        (Nested::In(x, a), Nested::In(y, b)) if x == y => equal(a, b),
        (a, b) => Some(a == b),
    }
}

#[derive(Clone, Debug)]
struct Call1 {
    arguments: Vec<Nested>,
    pid: u64,
    tag: Option<String>,
}

impl Call1 {
    fn at(&self, place: ArgumentPlace) -> Option<Nested> {
        let mut value = self.arguments.get(place.position.of(self.arguments.len())?)?;
        for wanted in place.shell.variants() {
            match value {
                Nested::In(variant, inside) if *variant == wanted => value = inside,
                _ => return None,
            }
        }
        Some(value.clone())
    }

    fn meets(&self, made: &Made) -> bool {
        made.arity.allows(self.arguments.len())
            && made.arguments.iter().all(|argument| {
                let value = self.at(argument.place);
                value.is_some_and(|value| match &argument.wanted {
                    Wanted::Constant(constant) => equal(&value, &Nested::of(constant)) == Some(true),
                    wanted => *wanted == Wanted::Anything,
                })
            })
            && meaning(&made.guard, self) == Some(Nested::Bool(true))
    }
}

fn call() -> impl Strategy<Value = Call1> {
    (prop::collection::vec(value(), 6), 0u64..4, prop::option::of(text())).prop_map(|(arguments, pid, tag)| Call1 {
        arguments,
        pid,
        tag,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn texts_mean_what_they_are_made_of(made in made(), calls in prop::collection::vec(call(), 8)) {
        let (syntax, place) = parser::parse(&made.text).map_err(|error| TestCaseError::fail(format!("{error}")))?;
        prop_assert_eq!(syntax.arity, made.arity);
        prop_assert_eq!(&syntax.arguments, &made.arguments);
        prop_assert_eq!(syntax.guard.as_ref(), Some(&made.guard));
        prop_assert_eq!(&made.text[place], made.text.split_once(") if ").unwrap().1);
        let spec = MatchSpec::compile(&syntax).unwrap();
        for (number, mut call) in calls.into_iter().enumerate() {
            call.arguments.truncate(made.arity.least + [0, 0, 0, 1][number % 4]);
            let arguments: Vec<_> = call.arguments.iter().map(Nested::value).collect();
            let written = Written { arguments, pid: call.pid, tag: call.tag.as_deref(), thread: 1 };
            prop_assert_eq!(spec.evaluate(&written).is_some(), call.meets(&made), "{} of {:?}", made.text, call);
        }
    }
}
