//! Names of functions, made of the types of their futures.

use crate::sdt::Text;

/// [`path`], for tracers.
pub(super) fn function(of: &'static str) -> Text<'static> {
    Text::from(path(of))
}

/// The path of the function whose future a type is: without the compiler's name for the body of an `async fn`.
pub(super) fn path(of: &'static str) -> &'static str {
    of.strip_suffix("::{{closure}}").unwrap_or(of)
}
