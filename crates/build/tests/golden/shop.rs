// Made of the provider definition `shop` by dyntrace-build; changes belong there.

/// The probes `order-*` of the provider `shop`.
pub mod order {
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
        Name: Into<::dyntrace::sdt::Text<'a>>,
    {
        ::dyntrace::sdt::if_enabled!("shop", "order__paid", paid, {
            ::dyntrace::sdt::return_if_discarded!(paid);
            let (name, cents) = arguments();
            paid::fire(name.into(), cents);
        });
    }

    /// Whether `order-paid` is traced, and its firing.
    pub mod paid {
        ::dyntrace::sdt::declare!("shop", "order__paid");
        ::dyntrace::sdt::describe!(
            "shop", "order__paid", (str "name"), (u32 "cents")
        );

        /// Whether a tracer looks at `order-paid` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            ::dyntrace::sdt::if_enabled!("shop", "order__paid", self, { return true });
            false
        }

        ::dyntrace::sdt::discard!("shop", "order__paid");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(name: ::dyntrace::sdt::Text<'_>, cents: u32) {
            let mut name_buffer = ::dyntrace::sdt::Buffer::new();
            ::dyntrace::sdt::record!((str name name_buffer), (u32 cents));
            ::dyntrace::sdt::if_traced!("shop", "order__paid", {
                self::trace(name, cents);
            });
        }

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(crate) fn trace(name: ::dyntrace::sdt::Text<'_>, cents: u32) {
            let mut name_buffer = ::dyntrace::sdt::Buffer::new();
            let name = name_buffer.encode(name);
            ::dyntrace::sdt::site!(
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
        ::dyntrace::sdt::if_enabled!("shop", "order__return", r#return, {
            ::dyntrace::sdt::return_if_discarded!(r#return);
            let (r#type, arg1, balance) = arguments();
            r#return::fire(r#type, arg1, balance);
        });
    }

    /// Whether `order-return` is traced, and its firing.
    pub mod r#return {
        ::dyntrace::sdt::declare!("shop", "order__return");
        ::dyntrace::sdt::describe!(
            "shop", "order__return", (i32 "type"), (u32 "arg1"), (i64 "balance")
        );

        /// Whether a tracer looks at `order-return` now.
        #[inline(always)]
        #[must_use]
        #[allow(dead_code, named_asm_labels)]
        pub fn is_enabled() -> bool {
            ::dyntrace::sdt::if_enabled!("shop", "order__return", self, { return true });
            false
        }

        ::dyntrace::sdt::discard!("shop", "order__return");

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(super) fn fire(r#type: i32, arg1: u32, balance: i64) {
            ::dyntrace::sdt::record!((i32 r#type), (u32 arg1), (i64 balance));
            ::dyntrace::sdt::if_traced!("shop", "order__return", {
                self::trace(r#type, arg1, balance);
            });
        }

        #[cold]
        #[inline(never)]
        #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
        pub(crate) fn trace(r#type: i32, arg1: u32, balance: i64) {
            ::dyntrace::sdt::site!(
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
    ::dyntrace::sdt::if_enabled!("shop", "tick", tick, {
        ::dyntrace::sdt::return_if_discarded!(tick);
        arguments();
        tick::fire();
    });
}

/// Whether `tick` is traced, and its firing.
pub mod tick {
    ::dyntrace::sdt::declare!("shop", "tick");
    ::dyntrace::sdt::describe!(
        "shop", "tick"
    );

    /// Whether a tracer looks at `tick` now.
    #[inline(always)]
    #[must_use]
    #[allow(dead_code, named_asm_labels)]
    pub fn is_enabled() -> bool {
        ::dyntrace::sdt::if_enabled!("shop", "tick", self, { return true });
        false
    }

    ::dyntrace::sdt::discard!("shop", "tick");

    #[cold]
    #[inline(never)]
    #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
    pub(super) fn fire() {
        ::dyntrace::sdt::record!();
        ::dyntrace::sdt::if_traced!("shop", "tick", {
            self::trace();
        });
    }

    #[cold]
    #[inline(never)]
    #[allow(dead_code, named_asm_labels, clippy::too_many_arguments)]
    pub(crate) fn trace() {
        ::dyntrace::sdt::site!(["1_1_0_1_1_0_1_1_0_5_5_5_1_1_0"] "shop", "tick");
    }
}
