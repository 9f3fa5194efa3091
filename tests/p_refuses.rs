//! Compiler errors of a wrong `p!`.

#[test]
fn p_refuses() {
    trybuild::TestCases::new().compile_fail("tests/p_refuses/*.rs");
}
