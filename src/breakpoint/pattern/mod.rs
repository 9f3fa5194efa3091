//! Patterns: which calls of which functions are traced, and with which actions.

pub(crate) mod actions;
mod arguments;
mod cursor;
pub(crate) mod error;
pub(crate) mod evaluate;
mod guard;
mod literal;
mod nearest;
mod parser;
mod part;
mod path;
pub(crate) mod spec;
mod syntax;
mod unquoted;

use std::fmt;
use std::str::FromStr;

pub use actions::{Actions, Flags, TokenChange};
pub use error::PatternError;
pub use evaluate::Call;
pub use spec::MatchSpec;

use path::Path;

/// Says which calls of which functions are traced, and with which actions.
///
/// ```text
/// shop::**::price(_, qty) if qty > 100 do caller, return
/// ```
///
/// # Grammar
///
/// ```text
/// pattern    = path [ "/" arity ] [ "(" arguments ")" ] [ "if" guard ] [ "do" action { "," action } ]
///
/// path       = segment { "::" segment }
/// segment    = "**"                              any number of segments, none included
///            | name with "*" and "?"             any text, any one character, within the segment
///
/// arguments  = [ argument { "," argument } [ "," ] ]
/// argument   = literal | "_" | name | ".."       ".." once: any number of arguments
///            | "Some(" argument ")" | "Ok(" argument ")" | "Err(" argument ")"
///            | type [ "(" arguments ")" | "{" fields "}" ] | "(" arguments ")" | "[" arguments "]"
/// fields     = [ field { "," field } [ "," ] ]
/// field      = name [ ":" argument ] | ".."      a name alone names the field's value, too
/// type       = { name "::" } Name                of a structure or a variant
/// literal    = integer | text | character | "true" | "false" | "None"
///
/// guard      = all { "||" all }
/// all        = comparison { "&&" comparison }
/// comparison = sum [ ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) sum ]
/// sum        = product { ( "+" | "-" ) product }
/// product    = unary { ( "*" | "/" | "%" ) unary }
/// unary      = ( "!" | "-" ) unary | literal | name | "pid" | "tag" | "thread" | "<0." number ".0>"
///            | ( "starts_with" | "ends_with" | "contains" ) "(" guard "," guard ")"
///            | "matches" "(" guard "," text ")" | "(" guard ")"
///
/// action     = "message" | "silent" | "caller" | "return" | "return_to" | "exception" | "error"
///            | "current_stacktrace" [ "(" integer ")" ]
///            | "count" | "time" | "memory"
///            | ( "set" | "clear" ) "(" ( "call" | "silent" | "set_on_spawn" ) ")"
///            | "get_seq_token"
///            | "set_seq_token" "(" "label" "," integer ")"
///            | "set_seq_token" "(" ( "send" | "receive" | "print" | "timestamp" ) "," ( "true" | "false" ) ")"
/// ```
///
/// Literals are written as in Rust: `-1_000`, `0xff`, `"req-\n"`, `'x'`. Spaces are ignored, except in a path, which has none.
///
/// # Functions
///
/// A path matches whole names, `crate::module::Type::function`. `price/2` and `price(_, _)` select functions with two arguments,
/// `price(7, ..)` those with at least one, `price` all.
///
/// # Arguments
///
/// Integers of all types, `bool`, `char`, texts and paths are compared exactly, through references, `Box`, `Rc` and `Arc`, and inside
/// `Option` and `Result`. `secret` and skipped arguments match only `_` and names.
///
/// For all other values, patterns read the text that their `Debug` prints. A derived `Debug` shows the fields of structures and the values
/// in tuples, variants, arrays and slices, at any depth:
///
/// ```text
/// shop::price(Order { id, .. }, quantity) if id == 7 && quantity > 100
/// shop::ship(Order { lines: [.., Line(sku, _)], state: State::Paid, to: Some(to), .. }) if starts_with(to, "Ulm")
/// ```
///
/// Without `..` a structure must have exactly the named fields. A pattern sees the first 4 KiB of the printed arguments. A part beyond
/// that, a missing part, or a `Debug` that prints in another form fails the pattern. A pattern can read parts of eight arguments. They are
/// printed after all other arguments have matched, and the guard if it needs no part; the call waits for that.
///
/// # Guards
///
/// A name stands for the argument, or for the value in its `Some`, `Ok` or `Err`. `pid` is the number of the calling process, 57 of
/// `<0.57.0>`, and compares with either form; `thread` is the number of the calling thread; `tag` is the user tag, or `None`.
/// `matches(tag, "req-*")` compares a whole text with a glob of at most 256 bytes: `*` stands for any text, `?` for one character. A call
/// without a user tag does not match.
///
/// ```
/// use std::sync::mpsc;
///
/// use dyntrace::trace::{Limits, Session};
///
/// #[dyntrace::traced]
/// fn price(quantity: u32) -> u32 {
///     quantity * 5
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (events, traced) = mpsc::channel();
/// let session = Session::start(Limits::default(), move |event| events.send(event.to_string()).unwrap_or_default())?;
/// session.set("**::price if matches(tag, \"req-*\")").await?;
/// dyntrace::with_tag("req-17", async { price(2) }).await;
/// dyntrace::with_tag("import", async { price(3) }).await;
/// session.close().await;
/// let lines: Vec<String> = traced.iter().collect();
/// assert_eq!(lines.len(), 1);
/// assert!(lines[0].contains("price(2)"));
/// # Ok(())
/// # }
/// ```
///
/// Values of different kinds are not equal. An undefined operation fails the whole guard, as in Erlang: a number that does not fit 128
/// bits, a division by zero, an order between different kinds, a hidden or opaque value, more than 64 KiB of text.
///
/// # Actions
///
/// | action | effect |
/// |---|---|
/// | `message` | an event for the call; the default |
/// | `silent` | no event for the call; those of its end still come |
/// | `caller` | the event of the call has the caller; see [`Caller`](crate::trace::Caller) |
/// | `current_stacktrace`, `current_stacktrace(16)` | the event of the call has the stack, up to 8 callers or the given number, at most 32; see [`Stack`](crate::trace::Stack) |
/// | `return` | an event when the function returns, with the value |
/// | `return_to` | an event with the caller when the function returns; for an asynchronous one, where its future was made |
/// | `exception` | an event when it panics |
/// | `error` | an event when it returns an `Err`, with the value, instead of that of `return` |
/// | `count` | the call is counted |
/// | `time` | the call is counted and timed |
/// | `memory` | the call is counted, and the bytes that it allocates, if the program's allocator is [`Counting`](crate::alloc::Counting) |
/// | `set(call)`, `clear(call)` | the session matches the next calls of this process, or does not |
/// | `set(silent)`, `clear(silent)` | the next calls of this process make no events, or do; they are counted either way |
/// | `set(set_on_spawn)`, `clear(set_on_spawn)` | the children of this process inherit these flags, this one included, or do not; the session matches the calls of this process |
/// | `get_seq_token` | the event of the call has the [token](crate::seq_trace) of this process, if it has one |
/// | `set_seq_token(label, 17)`, `set_seq_token(send, true)` | changes one component of that token; a process without a token gets one, a tokio task that dyntrace did not start does not |
///
/// These flags belong to the session, and end with the process. A pattern with `set(call)` matches the calls of all processes; the other
/// patterns of its session then match only those of flagged and [included](crate::trace::Session::include) processes. For example, these
/// trace all calls for one customer, from login to logout:
///
/// ```text
/// shop::login(name) if name == "eve" do set(call)
/// shop::**
/// shop::logout do clear(call)
/// ```
///
/// ```
/// use dyntrace::trace::Pattern;
///
/// let pattern: Pattern = "shop::**::price(_, qty) if qty > 100 do caller, return".parse()?;
/// assert!(pattern.selects("shop::cart::price", 2));
/// assert!(!pattern.selects("shop::cart::price", 3));
/// assert_eq!(pattern.to_string(), "shop::**::price(_, qty) if qty > 100 do caller, return");
/// # Ok::<(), dyntrace::trace::PatternError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: Box<str>,
    path: Path,
    spec: MatchSpec,
}

impl Pattern {
    /// Returns whether the pattern names the function with this name, without `/arity`, and number of arguments.
    pub fn selects(&self, name: &str, arity: usize) -> bool {
        self.spec.arity.allows(arity) && self.path.matches(name)
    }

    /// Like [`selects`](Pattern::selects), for a name that begins with the [`prefix`](Pattern::prefix): compares only the rest.
    pub(crate) fn selects_after_prefix(&self, name: &str, arity: usize) -> bool {
        self.spec.arity.allows(arity) && self.path.matches_after_prefix(name)
    }

    /// Returns the common prefix of the names that the pattern selects, to search sorted lists.
    ///
    /// ```
    /// # use dyntrace::trace::Pattern;
    /// assert_eq!("shop::cart::price(_, _)".parse::<Pattern>()?.prefix(), "shop::cart::price");
    /// assert_eq!("shop::ca*::price".parse::<Pattern>()?.prefix(), "shop::ca");
    /// # Ok::<(), dyntrace::trace::PatternError>(())
    /// ```
    pub fn prefix(&self) -> &str {
        self.path.prefix()
    }

    /// Returns the path of all functions that the pattern selects, if it has no globs.
    pub(crate) fn only_path(&self) -> Option<&str> {
        self.path.only()
    }

    /// Returns at most three of `names`, which may end in `/arity`, that are similar to the pattern, the best first. For a pattern that
    /// selects none of them.
    ///
    /// ```
    /// # use dyntrace::trace::Pattern;
    /// let names = ["shop::cart::price/2", "shop::cart::total/1", "bank::transfer/3"];
    /// assert_eq!("shop::cart::prise(_, 5)".parse::<Pattern>()?.nearest(names)[0], "shop::cart::price/2");
    /// assert_eq!("transfer".parse::<Pattern>()?.nearest(names), ["bank::transfer/3"]);
    /// # Ok::<(), dyntrace::trace::PatternError>(())
    /// ```
    pub fn nearest<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
        nearest::nearest(self.path.text(), names)
    }

    /// Returns its compiled form.
    #[doc(hidden)]
    pub fn match_spec(&self) -> &MatchSpec {
        &self.spec
    }
}

impl FromStr for Pattern {
    type Err = PatternError;

    /// # Errors
    ///
    /// [`PatternError`] if the text is not a pattern, or has more than 64 KiB, 32 levels of nesting, 8 waiting operands or 4096 operations.
    fn from_str(text: &str) -> Result<Pattern, PatternError> {
        let (syntax, guard) = parser::parse(text)?;
        let spec = MatchSpec::compile(&syntax).map_err(|why| PatternError::new(why, guard, text))?;
        let path = syntax.path;
        Ok(Pattern { text: text.trim().into(), path, spec })
    }
}

/// Its text.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests;
