//! Any file parses without panic or hang, and errors have a place and a message.

use dyntrace_build::{Error, generate, parse};
use proptest::prelude::*;

/// Parses `text` and checks that an error names a place in it and the expected token.
fn read(text: &str) {
    match parse(text, "p.d") {
        Ok(provider) => assert!(generate(&provider).contains("__sdt::probe!")),
        Err(Error::Definition { line, column, problem, .. }) => {
            let line = text.split('\n').nth(line - 1).expect("a line of the text");
            assert!(column <= line.chars().count() + 1);
            let problem = problem.to_string();
            assert!(problem.starts_with("expected ") && !problem.starts_with("expected ,"), "{text:?}: {problem}");
        }
        Err(other) => panic!("{text:?}: {other}"),
    }
}

/// Joins pieces of valid definitions, so that some results get far in the parser.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => prop::sample::select(vec![
            "provider p {\n", "provider ", "};", "}", "{", ";", "\n", " ", "probe ", "probe a(int x);", "probe b__c(char *s, int y);",
            "probe d__e(", "(", ")", ",", "int ", "unsigned long ", "char *", "float", "*", "void", "x", "_", "__", "a__b", "9",
            "/* c */", "/** d\n * @param x e [f] */", "/*", "*/", "// g\n", "#pragma D h\n", "#", "[4]",
        ]).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text(text in any::<String>()) {
        read(&text);
    }

    #[test]
    fn any_pieces(text in pieces()) {
        read(&text);
    }

    #[test]
    fn a_definition_with_a_hole(start in 0usize..1_000, length in 1usize..40) {
        let whole = include_str!("golden/shop.d");
        let start = start % whole.len();
        let end = (start + length).min(whole.len());
        read(&(whole[..start].to_owned() + &whole[end..]));
    }
}

#[test]
fn a_mebibyte_of_comments() {
    let comments = "/* comment ** of ** stars */ // and more\n".repeat(26_000);
    assert!(comments.len() > 1 << 20);
    let provider = parse(&format!("{comments}provider p {{ {comments} probe a({comments}int x); }};"), "p.d").unwrap();
    assert_eq!(provider.probes[0].arguments[0].name, "x");

    let open = "/* ".repeat(400_000);
    let error = parse(&open, "p.d").unwrap_err().to_string();
    assert_eq!(error, "p.d:1:1: expected `*/`: this comment never ends");
}

#[test]
fn ten_thousand_probes() {
    let probes: String = (0..10_000).map(|number| format!("probe group{number}__probe(int x);\n")).collect();
    let provider = parse(&format!("provider p {{ {probes} }};"), "p.d").unwrap();
    assert_eq!(provider.probes.len(), 10_000);
    read(&format!("provider p {{ {probes} probe }};"));
}
