//! Errors of wrong definitions: place, expected text, remedy.

use std::fs;

use dyntrace_build::{parse, try_compile};

/// Returns the error for `text`, called `p.d`.
fn said(text: &str) -> String {
    match parse(text, "p.d") {
        Ok(provider) => panic!("{text}: read as {provider:?}"),
        Err(error) => error.to_string(),
    }
}

/// Returns the error for a probe with `parameters`, which begin in column 9 of line 2.
fn said_of(parameters: &str) -> String {
    said(&format!("provider p {{\nprobe a({parameters}); }};"))
}

#[test]
fn grammar() {
    for (text, expected) in [
        ("", "p.d:1:1: expected a provider, found the end of the file"),
        ("\n\n", "p.d:3:1: expected a provider, found the end of the file"),
        ("#pragma D option quiet\n/* nothing */", "p.d:2:14: expected a provider, found the end of the file"),
        ("provider", "p.d:1:9: expected a name (a letter, then letters, digits and `_`), found the end of the file"),
        ("provider {", "p.d:1:10: expected a name (a letter, then letters, digits and `_`), found `{`"),
        ("provider p", "p.d:1:11: expected `{`, found the end of the file"),
        ("provider p {", "p.d:1:13: expected a probe, found the end of the file"),
        ("provider p {\n};", "p.d:2:1: expected a probe, found `}`; a provider has at least one"),
        ("provider p { probe a(); }", "p.d:1:26: expected `;`, found the end of the file"),
        ("provider p {\n  probe a()\n  probe b();\n};", "p.d:2:12: expected `;`, found `probe`"),
        ("provider p {\n  probe a();\n}\n\n#pragma D x", "p.d:3:2: expected `;`, found the end of the file"),
        ("provider p { probe a; };", "p.d:1:21: expected `(`, found `;`"),
        ("provider p { probe (); };", "p.d:1:20: expected a name (a letter, then letters, digits and `_`), found `(`"),
        (
            "provider p { probe _a(); };",
            "p.d:1:20: expected a name (a letter, then letters, digits and `_`), found `_a`",
        ),
        (
            "provider p { probe 1a(); };",
            "p.d:1:20: expected a name (a letter, then letters, digits and `_`), found `1a`",
        ),
        ("provider p { probea(); };", "p.d:1:14: expected a probe, found `probea`"),
        ("provider p { prob a(); };", "p.d:1:14: expected a probe, found `prob`"),
        ("provider p { probe a() : (int); };", "p.d:1:23: expected `;`, found `:`"),
        (
            "provider p { probe a(); }; probe b();",
            "p.d:1:28: expected the end of the file or a provider, found `probe`",
        ),
        ("provider p { probe a(); }; @", "p.d:1:28: expected the end of the file or a provider, found `@`"),
        ("/* ä */ provider p ä", "p.d:1:20: expected `{`, found `ä`"),
        ("provider p { \x1b[2J };", "p.d:1:14: expected a probe, found `\\u{1b}`"),
        ("\u{feff}provider p { probe a(); };", "p.d:1:1: expected a provider, found `\\u{feff}`"),
        (
            "provider p { probe a(); };\nprovider q { probe a(); };",
            "p.d:2:10: expected the end of the file, found the second provider `q`; give it a file of its own",
        ),
    ] {
        assert_eq!(said(text), expected, "{text}");
    }
}

#[test]
fn lines() {
    for (text, expected) in [
        ("provider p {\n  /* probe a(); };", "p.d:2:3: expected `*/`: this comment never ends"),
        (
            "#include <x.h>\nprovider p { probe a(); };",
            "p.d:1:1: expected `#pragma`, found another `#` line; no preprocessor runs over this file, write out what it would have made",
        ),
        (
            "provider p {\n#ifdef X\nprobe a();\n#endif\n};",
            "p.d:2:1: expected `#pragma`, found another `#` line; no preprocessor runs over this file, write out what it would have made",
        ),
    ] {
        assert_eq!(said(text), expected, "{text}");
    }
}

#[test]
fn attributes() {
    let said = |line: &str| said(&format!("provider p {{ probe a(); }};\n{line}"));
    for line in [
        "#pragma D attributes",
        "#pragma D attributes Evolving/Evolving provider p name",
        "#pragma D attributes Evolving/Evolving/Common/Common provider p name",
        "#pragma D attributes Evolving/Evoling/Common provider p name",
        "#pragma D attributes Evolving/Evolving/Common provider q name",
        "#pragma D attributes Evolving/Evolving/Common provider p arguments",
        "# pragma D attributes Evolving/Evolving/Common probe p name",
    ] {
        assert_eq!(
            said(line),
            "p.d:2:1: expected `#pragma D attributes NAME/DATA/CLASS provider p PART`, as `Evolving/Evolving/Common`; PART is provider, module, function, name or args",
            "{line}"
        );
    }
}

#[test]
fn parameters() {
    for (parameters, expected) in [
        (
            "strnig x",
            "p.d:2:9: expected an integer type such as `int`, `unsigned long` or `uint32_t`, or `char *`, found `strnig`",
        ),
        (
            "int x, struct stat *y",
            "p.d:2:16: expected an integer or `char *`, found the pointer `struct stat *`; pass the address as `uintptr_t`",
        ),
        ("int x, ", "p.d:2:16: expected a type, found `)`"),
        (", int x", "p.d:2:9: expected a type, found `,`"),
        ("int x; int y", "p.d:2:14: expected `,` or `)`, found `;`"),
        (
            "int x[4]",
            "p.d:2:9: expected an integer type such as `int`, `unsigned long` or `uint32_t`, or `char *`, found `int x [ 4 ]`",
        ),
        ("int (*f)(void)", "p.d:2:13: expected `,` or `)`, found `(`"),
        (
            "void *p",
            "p.d:2:9: expected an integer or `char *`, found the pointer `void *`; pass the address as `uintptr_t`",
        ),
        (
            "char **p",
            "p.d:2:9: expected an integer or `char *`, found the pointer `char * *`; pass the address as `uintptr_t`",
        ),
        (
            "uint8_t *bytes",
            "p.d:2:9: expected an integer or `char *`, found the pointer `uint8_t *`; pass the address as `uintptr_t`",
        ),
        (
            "float x",
            "p.d:2:9: expected an integer or `char *`, found `float`: tracers read no floating-point registers; pass the bits as `uint32_t`",
        ),
        (
            "int x, double y",
            "p.d:2:16: expected an integer or `char *`, found `double`: tracers read no floating-point registers; pass the bits as `uint64_t`",
        ),
        ("int x, int x", "p.d:2:16: expected another name, found the parameter `x` for the second time"),
        ("int self, int self_", "p.d:2:19: expected another name, found the parameter `self_` for the second time"),
        (
            "int x, int int",
            "p.d:2:16: expected an integer type such as `int`, `unsigned long` or `uint32_t`, or `char *`, found `int int`",
        ),
        (
            "int, int, int, int, int, int, int, int, int, int, int, int, int thirteenth",
            "p.d:2:69: expected at most 12 arguments, found 13; tracers take no more, so make two probes of it",
        ),
    ] {
        assert_eq!(said_of(parameters), expected, "{parameters}");
    }
    assert_eq!(said("provider p { probe a("), "p.d:1:22: expected a type, found the end of the file");
    assert_eq!(said("provider p { probe a(int x"), "p.d:1:27: expected `,` or `)`, found the end of the file");
}

#[test]
fn names() {
    for (text, expected) in [
        (
            "provider p1 { probe a(); };",
            "p.d:1:10: expected the name of a provider, found `p1`: DTrace puts the process id behind it, so it cannot end with a digit",
        ),
        (
            "provider provider { probe a(); };",
            "p.d:1:10: expected the name of a provider, found `provider`: dtrace-parser, by which other tools read such files, keeps this word for itself",
        ),
        (
            "provider p {\n  probe probe();\n};",
            "p.d:2:9: expected the name of a probe, found `probe`: dtrace-parser, by which other tools read such files, keeps this word for itself",
        ),
        (
            "provider p {\n  probe start();\n};",
            "p.d:2:9: expected the name of a probe, found `start`: dtrace-parser, by which other tools read such files, keeps this word for itself",
        ),
        (
            "provider p { probe a__(); };",
            "p.d:1:20: expected the name of a probe, found `a__`: the parts before and after the first `__` become names in Rust, so each needs a letter first",
        ),
        (
            "provider p { probe a__1(); };",
            "p.d:1:20: expected the name of a probe, found `a__1`: the parts before and after the first `__` become names in Rust, so each needs a letter first",
        ),
        (
            "provider p {\n  probe a(int x);\n  probe b();\n  probe a();\n};",
            "p.d:4:9: expected another name, found the probe `a` for the second time; the first is in line 2",
        ),
        (
            "provider p {\n  probe a__b__c();\n  probe a__b_c();\n};",
            "p.d:3:9: expected another name: in Rust the probe `a__b_c`, there `a::b_c`, and the probe `a__b__c` of line 2 get into each other's way; rename one of them",
        ),
        (
            "provider p {\n  probe a();\n  probe a__b();\n};",
            "p.d:3:9: expected another name: in Rust the probe `a__b`, there `a::b`, and the probe `a` of line 2 get into each other's way; rename one of them",
        ),
        (
            "provider p {\n  probe a__b();\n  probe a();\n};",
            "p.d:3:9: expected another name: in Rust the probe `a`, there `a`, and the probe `a__b` of line 2 get into each other's way; rename one of them",
        ),
    ] {
        assert_eq!(said(text), expected, "{text}");
    }
}

#[test]
fn long_names() {
    let provider = |name: String| parse(&format!("provider {name} {{ probe a(); }};"), "p.d");
    let probe = |name: String| parse(&format!("provider p {{ probe {name}(); }};"), "p.d");
    assert!(provider("l".repeat(53)).is_ok());
    assert!(provider("l".repeat(54)).unwrap_err().to_string().ends_with("so it has 53 at most"));
    assert!(probe("l".repeat(63)).is_ok());
    assert!(probe("l".repeat(64)).unwrap_err().to_string().ends_with("DTrace takes 63 bytes at most"));
}

#[test]
fn files() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bad.d");
    let said = |out: &str| try_compile(&file, folder.path().join(out)).unwrap_err().to_string();
    let path = file.display();

    assert!(said("").starts_with(&format!("{path}: cannot read the provider definition: No such file")));

    fs::write(&file, b"provider p {\n  /* \xc3\xa4 */ \xff").unwrap();
    assert_eq!(said(""), format!("{path}:2:11: expected text in UTF-8, found other bytes; save the file as UTF-8"));

    fs::write(&file, "provider p { probe a(); };").unwrap();
    assert!(said("none").contains("none/bad.rs: cannot write the probe functions: No such file"));
}
