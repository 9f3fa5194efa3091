// Made of the provider definition `shop` by dyntrace-build; changes belong there.

/// The probes `order-*` of the provider `shop`.
pub mod order {
    use super::__sdt;

    __sdt::probe! {
        /// A customer paid, see <https://example.org/orders>.
        ///
        /// indented \[text\] | "\<0.5.0\>"
        ///
        /// - `gone`: a parameter of long ago
        ["1_1_0_1_1_0_1_1_0_5_5_5_1_1_0"] "shop" "order__paid" "order-paid"
        paid<'a, Name>(arguments: impl FnOnce() -> (Name, u32))
        (name: Name, str "name", str "const char *", name_buffer; "the customer's name")
        (cents: u32, u32 "cents", u32 "uint32_t"; "what was paid, in `cents`")
    }

    __sdt::probe! {
        ["1_1_0_1_1_0_1_1_0_5_5_5_1_1_0"] "shop" "order__return" "order-return"
        r#return(arguments: impl FnOnce() -> (i32, u32, i64))
        (r#type: i32, i32 "type", i32 "int"; "")
        (arg1: u32, u32 "arg1", u32 "unsigned char"; "")
        (balance: i64, i64 "balance", i64 "long"; "")
    }
}

__sdt::probe! {
    /// The clock ticks.
    ["1_1_0_1_1_0_1_1_0_5_5_5_1_1_0"] "shop" "tick" "tick"
    tick(arguments: impl FnOnce())
}
