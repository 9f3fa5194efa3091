//! The generator's golden files compile and run, with documentation, without warnings, and with any names.
#![deny(warnings, missing_docs)]

/// An ordinary provider.
pub mod shop {
    use dyntrace::sdt as __sdt;

    include!("../crates/build/tests/golden/shop.rs");
}

/// A provider with names that are keywords or against Rust's style.
pub mod odd {
    use dyntrace::sdt as __sdt;

    include!("../crates/build/tests/golden/odd.rs");
}

#[test]
fn every_function_takes_its_arguments_and_fires_nothing_unasked() {
    fn not_called<T>() -> T {
        panic!("nobody traces this test, so no argument is made")
    }
    shop::order::paid(not_called::<(&str, u32)>);
    shop::order::r#return(not_called);
    shop::tick(not_called);
    odd::names::self_(not_called::<(&str, &str, &str, &str, i32, i32)>);
    odd::names::r#type(not_called::<(&str, &str, &str, i32, i32, i32)>);
    odd::Upper::Case(not_called::<(&str, u32)>);
    odd::names::names(not_called);
    odd::fire(not_called::<(&str, &str)>);
    odd::most(not_called::<(&str, &str, &str, &str, &str, &str, i64, u64, i32, u32, i32, u32)>);
    odd::markdown(not_called);
    assert!(!odd::names::self_::is_enabled());
    assert!(!odd::most::is_enabled());
}
