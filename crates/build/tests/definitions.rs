//! The Rust code generated for valid definitions.

use std::path::Path;
use std::{env, fs};

use dyntrace_build::model::{ArgumentKind, Provider};
use dyntrace_build::{generate, page, parse, try_compile};

fn shop() -> Provider {
    parse(include_str!("golden/shop.d"), "shop.d").unwrap()
}

#[test]
fn the_model_has_names_types_and_comments() {
    let shop = shop();
    assert_eq!((shop.name.as_str(), shop.doc.as_str()), ("shop", ""));
    let [others @ .., name, arguments] = shop.attributes;
    assert_eq!((others, name, arguments), ([[1, 1, 0]; 3], [5, 5, 5], [1, 1, 0]));
    let names: Vec<String> = shop.probes.iter().map(|probe| probe.tool_name()).collect();
    assert_eq!(names, ["order-paid", "order-return", "tick"]);

    let paid = &shop.probes[0];
    assert!(paid.doc.starts_with("A customer paid, see"));
    let name = &paid.arguments[0];
    assert_eq!((name.name.as_str(), name.doc.as_str()), ("name", "the customer's name"));
    assert_eq!((name.ty.c.as_str(), name.ty.kind), ("const char *", ArgumentKind::Text));
    assert_eq!(paid.arguments[1].doc, "what was paid, in `cents`");

    let returned: Vec<_> =
        shop.probes[1].arguments.iter().map(|argument| (argument.name.as_str(), &argument.ty)).collect();
    let described: Vec<_> =
        returned.iter().map(|(name, ty)| (*name, ty.c.as_str(), ty.rust(), ty.is_signed(), ty.size())).collect();
    assert_eq!(
        described,
        [
            ("type", "int", "i32", true, 4),
            ("arg1", "unsigned char", "u32", false, 4),
            ("balance", "long", "i64", true, 8)
        ]
    );
}

/// Compares the generator's output with a file. `UPDATE_GOLDEN=1` overwrites the file instead.
fn compare(generated: &str, file: &Path) {
    if env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(file, generated).unwrap();
    }
    let expected = fs::read_to_string(file).unwrap();
    assert!(generated == expected, "{} is not what the generator makes:\n{generated}", file.display());
}

/// The golden files show changes of the generator. dyntrace's own tests compile them.
#[test]
fn the_generated_text() {
    for name in ["shop", "odd"] {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
        let definition = fs::read_to_string(golden.with_extension("d")).unwrap();
        compare(&generate(&parse(&definition, name).unwrap()), &golden.with_extension("rs"));
    }
}

/// The crates contain the generated files for their own probes.
#[test]
fn the_probes_of_our_crates() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (definition, generated) in [
        ("../provider.d", "processes/src/probes/generated.rs"),
        ("tracing/dyntrace_tracing.d", "tracing/src/probes/generated.rs"),
    ] {
        let text = fs::read_to_string(crates.join(definition)).unwrap();
        let provider = parse(&text, definition).unwrap();
        let head = "// UPDATE_GOLDEN=1 cargo test -p dyntrace-build --test definitions makes this file anew.\n";
        compare(&(head.to_owned() + &generate(&provider)), &crates.join(generated));
        for probe in &provider.probes {
            assert!(!probe.doc.is_empty(), "{} has no comment", probe.name);
            for argument in &probe.arguments {
                assert!(!argument.doc.is_empty(), "{} of {} has no @param line", argument.name, probe.name);
            }
        }
    }
}

/// The book has a page of dyntrace's probes, each with its stability.
#[test]
fn the_page_of_probes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let provider = parse(include_str!("../../../provider.d"), "provider.d").unwrap();
    for probe in &provider.probes {
        let told = probe.doc.lines().filter(|line| line.starts_with("Stability: ")).count();
        assert_eq!(told, 1, "the comment of {} has no line that begins with `Stability: `", probe.name);
    }
    let head = "# Probes\n\n\
        This page is made from `provider.d`. A tool shows a probe as `dyntrace:::message-send` (DTrace), `dyntrace:message__send` (bpftrace,\n\
        SystemTap, perf) or `message-send` (`dyntrace view`). A string argument that is absent is a null pointer.\n\n\
        *Stable* probes keep their names, and their arguments keep their places, types and meanings, until version 2. *Evolving* ones may\n\
        change with a new minor version in the way that their sentence says, and the changelog tells it. A recorded trace describes its own\n\
        fields, so that old traces stay readable in any case.\n\n";
    compare(&(head.to_owned() + &page(&provider)), &root.join("docs/probes.md"));
}

#[test]
fn the_file_goes_by_the_stem() {
    let folder = tempfile::tempdir().unwrap();
    let made = try_compile(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/shop.d"), folder.path()).unwrap();
    assert_eq!(made, folder.path().join("shop.rs"));
    assert_eq!(fs::read_to_string(made).unwrap(), generate(&shop()));
}

#[test]
fn the_provider_of_dyntrace() {
    let provider = parse(include_str!("../../../provider.d"), "provider.d").unwrap();
    assert_eq!(provider.name, "dyntrace");
    let entry = provider.probes.iter().find(|probe| probe.name == "efile_drv__entry").unwrap();
    let arguments: Vec<_> =
        entry.arguments.iter().map(|argument| (argument.name.as_str(), argument.ty.c.as_str())).collect();
    assert_eq!(
        arguments,
        [
            ("thread_id", "int"),
            ("tag", "int"),
            ("user_tag", "char *"),
            ("command", "int"),
            ("s1", "char *"),
            ("s2", "char *"),
            ("i1", "int64_t"),
            ("i2", "int64_t"),
            ("i3", "int64_t"),
            ("i4", "int64_t"),
            ("port", "char *"),
        ]
    );
}

#[test]
fn one_line_and_no_parameters() {
    for text in
        ["provider p{probe a();};", "provider p { probe a( void ) ; } ;", "provider\np\n{\nprobe\na\n(\n)\n;\n}\n;"]
    {
        assert_eq!(parse(text, "p.d").unwrap().probes[0].arguments, [], "{text}");
    }
}
