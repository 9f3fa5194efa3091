//! The attribute macros of the crate `dyntrace`, which documents and re-exports them.

mod function;
mod item;
mod options;

use proc_macro::TokenStream;

/// Makes a function, or each function of an `impl` or `trait` block, a site of breakpoints. See `dyntrace::traced`.
#[proc_macro_attribute]
pub fn traced(options: TokenStream, item: TokenStream) -> TokenStream {
    let options = syn::parse::<options::Options>(options);
    match options.and_then(|options| item::expand(&options, item.clone().into())) {
        Ok(expanded) => expanded.into(),
        // With the item as it was, so that its uses are no errors, too.
        Err(error) => TokenStream::from_iter([error.into_compile_error().into(), item]),
    }
}
