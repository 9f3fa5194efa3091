//! Wrong uses do not compile, and the errors say why.
//!
//! For each program that must fail (`*_wrong.rs`) there is one that differs only in that point and compiles (`*_right.rs`). The tests of
//! probes run also with `--cfg dyntrace_without_probes`: the errors must be the same. After a change of the compiler's messages,
//! `TRYBUILD=overwrite` updates the errors.

use trybuild::TestCases;

fn hold(folder: &str) {
    let tests = TestCases::new();
    tests.pass(format!("tests/{folder}/*_right.rs"));
    tests.compile_fail(format!("tests/{folder}/*_wrong.rs"));
}

/// Arguments of probes.
#[test]
fn probes() {
    hold("probes");
}

/// Compiler errors of a wrong `p!`.
#[test]
fn p_refuses() {
    TestCases::new().compile_fail("tests/p_refuses/*.rs");
}

/// Attributes and macros of other items.
#[test]
#[cfg_attr(dyntrace_without_probes, ignore = "they do not depend on probes")]
fn items() {
    hold("items");
}
