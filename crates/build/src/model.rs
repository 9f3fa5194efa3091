//! The content of a provider definition: plain values between the parser and the generator.

/// A provider: a named group of probes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provider {
    /// Its name, as tools show it.
    pub name: String,
    /// Its doc comment, without the comment signs; empty if there is none.
    pub doc: String,
    /// The promises to scripts, by `#pragma D attributes`, in DTrace's numbers: stability of names, stability of data, and class of
    /// dependency; of provider, module, function, name and arguments. [`PRIVATE`] without such a line.
    pub attributes: [[u8; 3]; 5],
    /// Its probes, in the order of the file.
    pub probes: Vec<Probe>,
}

/// DTrace's attributes of a provider that promises nothing: Private/Private/Unknown for each part.
pub const PRIVATE: [[u8; 3]; 5] = [[1, 1, 0]; 5];

/// A probe: a named point of a program with typed arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Its name as the file has it, with `__`.
    pub name: String,
    /// Its doc comment, without the comment signs and the `@param` lines; empty if there is none.
    pub doc: String,
    /// Its arguments, in the order of the file; at most [`MAX_ARGUMENTS`].
    pub arguments: Vec<Argument>,
}

/// The maximum number of arguments of a probe, a limit of the tracers' argument strings.
pub const MAX_ARGUMENTS: usize = 12;

impl Probe {
    /// Returns the name that DTrace and SystemTap show, with a hyphen for `__`.
    ///
    /// ```
    /// let provider = dyntrace_build::parse("provider shop { probe order__paid(); };", "shop.d")?;
    /// assert_eq!(provider.probes[0].tool_name(), "order-paid");
    /// # Ok::<(), dyntrace_build::Error>(())
    /// ```
    pub fn tool_name(&self) -> String {
        self.name.replace("__", "-")
    }
}

/// An argument of a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Its name; `arg0`, `arg1` and so on by position if the file has no name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Its `@param` text; empty if there is none.
    pub doc: String,
}

/// The type of an argument: in D, and as passed to the tracer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// The type as the file has it, for example `int`, `unsigned long` or `char *`.
    pub c: String,
    /// The type passed to the tracer.
    pub kind: ArgumentKind,
}

/// A type passed to tracers: an integer of four or eight bytes (smaller ones are widened), or a pointer to a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentKind {
    /// A signed integer of four bytes.
    I32,
    /// An unsigned integer of four bytes.
    U32,
    /// A signed integer of eight bytes.
    I64,
    /// An unsigned integer of eight bytes.
    U64,
    /// The address of a NUL-terminated string, or null.
    Text,
}

impl Type {
    /// Returns the Rust type of the argument; `Text` stands for any type that is `Into<Text>`.
    pub fn rust(&self) -> &'static str {
        match self.kind {
            ArgumentKind::I32 => "i32",
            ArgumentKind::U32 => "u32",
            ArgumentKind::I64 => "i64",
            ArgumentKind::U64 => "u64",
            ArgumentKind::Text => "Text",
        }
    }

    /// Returns the type of the argument in the generated calls of `dyntrace_probes::sdt`'s macros.
    pub fn keyword(&self) -> &'static str {
        match self.kind {
            ArgumentKind::Text => "str",
            _ => self.rust(),
        }
    }

    /// Whether the tracer reads a signed number.
    pub fn is_signed(&self) -> bool {
        matches!(self.kind, ArgumentKind::I32 | ArgumentKind::I64)
    }

    /// Returns the number of bytes that the tracer reads.
    pub fn size(&self) -> usize {
        match self.kind {
            ArgumentKind::I32 | ArgumentKind::U32 => 4,
            ArgumentKind::I64 | ArgumentKind::U64 | ArgumentKind::Text => 8,
        }
    }
}
