//! Wrong arguments of a probe do not compile, whether probes are compiled in or not.
//!
//! Run it with and without the feature `probes`: the errors must be the same. Each program that must fail (`*_wrong.rs`)
//! stands beside one that differs in that point only and compiles (`*_right.rs`). After a change of the compiler's
//! wording, `TRYBUILD=overwrite` writes the errors anew.

#[test]
fn arguments_are_checked() {
    let tests = trybuild::TestCases::new();
    tests.pass("tests/ui/*_right.rs");
    tests.compile_fail("tests/ui/*_wrong.rs");
}
