//! Compares our parser with dtrace-parser, by which other tools read provider files.
//!
//! It knows no parameter names and no types but `char*` and integers of a stated width. Within that, both take the same files.

use dtrace_parser::{BitWidth, DTraceError, DataType, File, Integer, Sign};
use dyntrace_build::model::{Argument, ArgumentKind, Probe, Provider};
use dyntrace_build::{Error, Problem, parse};
use proptest::prelude::*;

/// Name and probes of a provider, each with the kinds of its arguments.
type Content = (String, Vec<(String, Vec<ArgumentKind>)>);

fn ours(provider: &Provider) -> Content {
    let kinds = |probe: &Probe| probe.arguments.iter().map(|argument| argument.ty.kind).collect();
    (provider.name.clone(), provider.probes.iter().map(|probe| (probe.name.clone(), kinds(probe))).collect())
}

/// Reads the first of the file's providers by dtrace-parser.
fn judged(text: &str) -> Result<Content, DTraceError> {
    let file = File::try_from(text)?;
    let provider = &file.providers()[0];
    let probes = provider.probes.iter().map(|probe| (probe.name.clone(), probe.types.iter().map(kind).collect()));
    Ok((provider.name.clone(), probes.collect()))
}

fn kind(ty: &DataType) -> ArgumentKind {
    match ty {
        DataType::Integer(Integer { sign: Sign::Signed, width: BitWidth::Bit64 | BitWidth::Pointer }) => {
            ArgumentKind::I64
        }
        DataType::Integer(Integer { sign: Sign::Unsigned, width: BitWidth::Bit64 | BitWidth::Pointer }) => {
            ArgumentKind::U64
        }
        DataType::Integer(Integer { sign: Sign::Signed, .. }) => ArgumentKind::I32,
        DataType::Integer(Integer { sign: Sign::Unsigned, .. }) => ArgumentKind::U32,
        DataType::Pointer(_) => ArgumentKind::U64,
        DataType::String => ArgumentKind::Text,
    }
}

/// Returns our parser's result, in words that dtrace-parser knows.
fn respelled(provider: &Provider) -> String {
    let ty = |kind| match kind {
        ArgumentKind::I32 => "int32_t",
        ArgumentKind::U32 => "uint32_t",
        ArgumentKind::I64 => "int64_t",
        ArgumentKind::U64 => "uint64_t",
        ArgumentKind::Text => "char*",
    };
    let mut text = format!("provider {} {{", provider.name);
    for probe in &provider.probes {
        let types: Vec<_> = probe.arguments.iter().map(|argument| ty(argument.ty.kind)).collect();
        text += &format!(" probe {}({});", probe.name, types.join(", "));
    }
    text + " };"
}

/// Fails if only one of both accepts `text` and no known difference explains it.
fn compare(text: &str) {
    match (parse(text, "p.d"), judged(text)) {
        (Ok(provider), judged_as_is) => {
            let is_ours =
                |position, argument: &Argument| argument.name != format!("arg{position}") || argument.ty.c == "char";
            let knows_more = provider
                .probes
                .iter()
                .flat_map(|probe| probe.arguments.iter().enumerate())
                .any(|(at, it)| is_ours(at, it));
            assert_eq!(judged(&respelled(&provider)).unwrap(), ours(&provider), "{text}");
            match judged_as_is {
                Ok(judged) => assert_eq!(judged, ours(&provider), "{text}"),
                Err(error) => assert!(knows_more, "{text}: only dtrace-parser refuses it: {error}"),
            }
        }
        (Err(Error::Definition { problem, .. }), Ok(judged)) => {
            let is_stricter = match &problem {
                // Limits of tracers and names of Rust.
                Problem::ProviderName { .. } | Problem::ProbeName { .. } | Problem::RustNameTaken { .. } => true,
                Problem::SecondProvider { .. } | Problem::TooManyArguments { .. } => true,
                // dtrace-parser accepts pointers to integers, and arguments without a comma between them.
                Problem::Pointer { .. } | Problem::Type { .. } => true,
                _ => false,
            };
            assert!(is_stricter, "{text}: only dtrace-parser takes it, as {judged:?}: {problem}");
        }
        (Err(_), Err(_)) => {}
        (Err(error), Ok(_)) => panic!("{text}: {error}"),
    }
}

#[test]
fn shipped_definitions() {
    for text in [
        include_str!("golden/odd.d"),
        include_str!("golden/shop.d"),
        include_str!("../../../provider.d"),
        include_str!("../../../examples/own_provider/bakery.d"),
        include_str!("../../../examples/digest_driver/digest.d"),
        include_str!("../../../examples/resolver_driver/resolver.d"),
    ] {
        let provider = parse(text, "p.d").unwrap();
        assert_eq!(judged(&respelled(&provider)).unwrap(), ours(&provider));
    }
}

/// The tokens of a definition that both accept, unless a name is one of the known differences.
fn definition() -> impl Strategy<Value = Vec<String>> {
    let name = || "[a-c][a-c1_]{0,3}";
    let ty = prop::sample::select(vec![
        "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "intptr_t",
        "uintptr_t", "char *", "char*",
    ]);
    let probe = (name(), prop::collection::vec(ty, 0..4)).prop_map(|(name, types)| {
        let types = types.join(" , ");
        format!("probe {name} ( {types} ) ;").split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    });
    (name(), prop::collection::vec(probe, 1..4)).prop_map(|(name, probes)| {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        [words(&format!("provider {name} {{")), probes.concat(), words("} ;")].concat()
    })
}

/// A change at a token: `Some` is a new token, and whether it replaces that one or comes before it; `None` removes that one.
fn change() -> impl Strategy<Value = (prop::sample::Index, Option<(&'static str, bool)>)> {
    let token = prop::sample::select(vec![
        "provider", "probe", "start", "a", "b__a", "{", "}", "(", ")", ";", ",", "*", "int8_t", "char",
    ]);
    (any::<prop::sample::Index>(), prop::option::of((token, any::<bool>())))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn right_definitions(tokens in definition()) {
        compare(&tokens.join(" "));
    }

    #[test]
    fn changed_definitions(tokens in definition(), changes in prop::collection::vec(change(), 1..3)) {
        let mut tokens = tokens;
        for (place, change) in changes {
            let place = place.index(tokens.len());
            match change {
                None => drop(tokens.remove(place)),
                Some((token, true)) => tokens[place] = token.to_owned(),
                Some((token, false)) => tokens.insert(place, token.to_owned()),
            }
        }
        compare(&tokens.join(" /* c */\n"));
    }
}
