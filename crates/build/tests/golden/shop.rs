// Made of the provider definition `shop` by dyntrace-build; changes belong there.

/// The probes `order-*` of the provider `shop`.
pub mod order {
    use super::__sdt;

    /// A customer paid, see <https://example.org/orders>.
    ///
    /// indented \[text\] | "\<0.5.0\>"
    ///
    /// - `gone`: a parameter of long ago
    ///
    /// The probe `order-paid` of the provider `shop`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `name` | `const char *` | `Into<Text>` | the customer's name |
    /// | `cents` | `uint32_t` | `u32` | what was paid, in `cents` |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn paid<'a, Name>(
        arguments: impl FnOnce() -> (Name, u32),
    ) where
        Name: Into<__sdt::Text<'a>>,
    {
        __sdt::if_enabled!("shop", "order__paid", paid, {
            __sdt::return_if_discarded!(paid);
            let (name, cents) = arguments();
            paid::fire(name.into(), cents);
        });
    }

    /// Whether `order-paid` is traced, and its firing.
    pub mod paid {
        use super::__sdt;

        __sdt::declare!("shop", "order__paid");
        __sdt::describe!(
            "shop", "order__paid", (str "name"), (u32 "cents")
        );

        /// Whether a tracer looks at `order-paid` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("shop", "order__paid", self, { return true });
            false
        }

        __sdt::discard!("shop", "order__paid");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(name: __sdt::Text<'_>, cents: u32) {
            let mut name_buffer = __sdt::Buffer::new();
            __sdt::record!((str name name_buffer), (u32 cents));
            __sdt::if_traced!("shop", "order__paid", {
                self::trace(name, cents);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(name: __sdt::Text<'_>, cents: u32) {
            let mut name_buffer = __sdt::Buffer::new();
            let name = name_buffer.encode(name);
            __sdt::site!(
                ["1_1_0_1_1_0_1_1_0_5_5_5_1_1_0"]
                "shop",
                "order__paid",
                (str name "const char *")
                (u32 cents "uint32_t")
            );
        }
    }

    /// The probe `order-return` of the provider `shop`.
    /// `arguments` makes these values while a tracer looks at it, only then:
    ///
    /// | argument | in D | in Rust | meaning |
    /// |---|---|---|---|
    /// | `type` | `int` | `i32` |  |
    /// | `arg1` | `unsigned char` | `u32` |  |
    /// | `balance` | `long` | `i64` |  |
    #[inline(always)]
    #[allow(dead_code, named_asm_labels, clippy::type_complexity)]
    pub fn r#return(arguments: impl FnOnce() -> (i32, u32, i64)) {
        __sdt::if_enabled!("shop", "order__return", r#return, {
            __sdt::return_if_discarded!(r#return);
            let (r#type, arg1, balance) = arguments();
            r#return::fire(r#type, arg1, balance);
        });
    }

    /// Whether `order-return` is traced, and its firing.
    pub mod r#return {
        use super::__sdt;

        __sdt::declare!("shop", "order__return");
        __sdt::describe!(
            "shop", "order__return", (i32 "type"), (u32 "arg1"), (i64 "balance")
        );

        /// Whether a tracer looks at `order-return` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            __sdt::if_enabled!("shop", "order__return", self, { return true });
            false
        }

        __sdt::discard!("shop", "order__return");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(r#type: i32, arg1: u32, balance: i64) {
            __sdt::record!((i32 r#type), (u32 arg1), (i64 balance));
            __sdt::if_traced!("shop", "order__return", {
                self::trace(r#type, arg1, balance);
            });
        }

        #[doc(hidden)]
        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub fn trace(r#type: i32, arg1: u32, balance: i64) {
            __sdt::site!(
                ["1_1_0_1_1_0_1_1_0_5_5_5_1_1_0"]
                "shop",
                "order__return",
                (i32 r#type "int")
                (u32 arg1 "unsigned char")
                (i64 balance "long")
            );
        }
    }
}

/// The clock ticks.
///
/// The probe `tick` of the provider `shop`.
/// `arguments` is called while a tracer looks at it, only then.
#[inline(always)]
#[allow(dead_code, named_asm_labels, clippy::type_complexity)]
pub fn tick(arguments: impl FnOnce()) {
    __sdt::if_enabled!("shop", "tick", tick, {
        __sdt::return_if_discarded!(tick);
        arguments();
        tick::fire();
    });
}

/// Whether `tick` is traced, and its firing.
pub mod tick {
    use super::__sdt;

    __sdt::declare!("shop", "tick");
    __sdt::describe!(
        "shop", "tick"
    );

    /// Whether a tracer looks at `tick` now.
    #[inline(always)]
    #[must_use]
    #[allow(dead_code, named_asm_labels)]
    pub fn is_enabled() -> bool {
        __sdt::if_enabled!("shop", "tick", self, { return true });
        false
    }

    __sdt::discard!("shop", "tick");

    #[cold]
    #[inline(never)]
    #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
    pub(super) fn fire() {
        __sdt::record!();
        __sdt::if_traced!("shop", "tick", {
            self::trace();
        });
    }

    #[doc(hidden)]
    #[cold]
    #[inline(never)]
    #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
    pub fn trace() {
        __sdt::site!(["1_1_0_1_1_0_1_1_0_5_5_5_1_1_0"] "shop", "tick");
    }
}
