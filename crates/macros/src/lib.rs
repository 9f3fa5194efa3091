//! The attribute macros of the crate `dyntrace`, which documents and re-exports them.

mod function;
mod item;
mod options;

use proc_macro::TokenStream;
use syn::parse_macro_input;

/// Makes a function, or each function of an `impl` or `trait` block, a site of breakpoints. See `dyntrace::traced`.
#[proc_macro_attribute]
pub fn traced(options: TokenStream, item: TokenStream) -> TokenStream {
    let options = parse_macro_input!(options as options::Options);
    match item::expand(&options, item.clone().into()) {
        Ok(expanded) => expanded.into(),
        // With the item as it was, so that its uses are no errors, too.
        Err(error) => TokenStream::from_iter([error.into_compile_error().into(), item]),
    }
}
