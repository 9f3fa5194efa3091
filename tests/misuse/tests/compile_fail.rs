//! Wrong arguments of a probe do not compile, whether probes are compiled in or not.
//!
//! Run it with and without `--cfg dyntrace_without_probes`: the errors must be the same. For each program that must fail (`*_wrong.rs`)
//! there is one that differs only in that point and compiles (`*_right.rs`). After a change of the compiler's messages,
//! `TRYBUILD=overwrite` updates the errors.

use trybuild::TestCases;

#[test]
fn arguments_are_checked() {
    let tests = TestCases::new();
    tests.pass("tests/ui/*_right.rs");
    tests.compile_fail("tests/ui/*_wrong.rs");
}

/// Compiler errors of a wrong `p!`.
#[test]
fn p_refuses() {
    TestCases::new().compile_fail("tests/p_refuses/*.rs");
}
