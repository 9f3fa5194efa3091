//! Names of functions, made of the types of their futures.

use crate::sdt::Text;

/// The path of the function whose future a type is: without the compiler's name for the body of an `async fn`.
pub(super) fn function(of: &'static str) -> Text<'static> {
    Text::from(of.strip_suffix("::{{closure}}").unwrap_or(of))
}
