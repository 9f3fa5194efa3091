//! The attribute macros of the crate `dyntrace`, which documents and re-exports them.

mod entry;
mod export;
mod function;
mod item;
mod layout;
mod options;

use proc_macro::TokenStream;

/// Makes a function, or each function of an `impl` or `trait` block, a site of breakpoints. See `dyntrace::traced`.
#[proc_macro_attribute]
pub fn traced(options: TokenStream, item: TokenStream) -> TokenStream {
    let options = syn::parse::<options::Options>(options);
    match options.and_then(|options| item::expand(&options, item.clone().into())) {
        Ok(expanded) => expanded.into(),
        // Keeps the item, so that its uses are not errors, too.
        Err(error) => TokenStream::from_iter([error.into_compile_error().into(), item]),
    }
}

/// Exports a function: callers outside of its module find it by name. See `dyntrace::export`.
#[proc_macro_attribute]
pub fn export(options: TokenStream, item: TokenStream) -> TokenStream {
    let options = syn::parse::<syn::parse::Nothing>(options);
    match options.and_then(|_| export::expand(item.clone().into())) {
        Ok(expanded) => expanded.into(),
        Err(error) => TokenStream::from_iter([error.into_compile_error().into(), item]),
    }
}

/// Describes a type's layout in memory. See `dyntrace::code::Layout`.
#[proc_macro_derive(Layout)]
pub fn layout(item: TokenStream) -> TokenStream {
    layout::expand(item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Runs a function on a runtime of its own. See `dyntrace::main`.
#[proc_macro_attribute]
pub fn main(options: TokenStream, item: TokenStream) -> TokenStream {
    entry::expand(entry::EntryKind::Main, options.into(), item.into()).into()
}

/// Runs a function as a test on a runtime of its own. See `dyntrace::test`.
#[proc_macro_attribute]
pub fn test(options: TokenStream, item: TokenStream) -> TokenStream {
    entry::expand(entry::EntryKind::Test, options.into(), item.into()).into()
}
