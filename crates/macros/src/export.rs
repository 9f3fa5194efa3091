//! `#[export]`: a function that callers outside of its module find by name.
//!
//! ```text
//! fn price(order: &Order) -> Cents { ...as it was written... }
//! const _: () = {
//!     fn wrapper(a0: &Order) -> Result<Cents, Panicked> { caught(move || price(a0)) }
//!     static EXPORT: ExportDescriptor = ExportDescriptor::new::<fn(&Order) -> Cents>("price", wrapper);
//!     static ENTRY: &ExportDescriptor = &EXPORT;       // in the section where the module's exports are found
//! };
//! ```
//!
//! The wrapper of an asynchronous function makes the future, which catches panics whenever it is polled.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{Error, FnArg, GenericParam, ItemFn, Lifetime, Result, ReturnType, Signature, Type, parse2};

pub fn expand(item: TokenStream) -> Result<TokenStream> {
    let item: ItemFn = parse2(item)?;
    let signature = &item.sig;
    refuse(signature)?;
    let lifetimes = lifetimes(signature)?;
    let types = signature.inputs.iter().map(|input| match input {
        FnArg::Typed(typed) => Ok(&*typed.ty),
        FnArg::Receiver(receiver) => Err(Error::new(receiver.span(), "an export is a function, not a method")),
    });
    let types: Vec<&Type> = types.collect::<Result<_>>()?;
    let arguments: Vec<Ident> = (0..types.len()).map(|at| format_ident!("a{at}")).collect();
    let result = match &signature.output {
        ReturnType::Default => quote!(()),
        ReturnType::Type(_, of) => quote!(#of),
    };
    let (result, call) = match signature.asyncness {
        Some(_) => (quote!(::dyntrace::code::Pending<#result>), quote!(::dyntrace::code::Pending::new)),
        None => (result, TokenStream::new()),
    };
    let (function, name) = (&signature.ident, signature.ident.to_string());
    let name = name.trim_start_matches("r#");
    let parameters = (!lifetimes.is_empty()).then(|| quote!(<#(#lifetimes),*>));
    let binder = (!lifetimes.is_empty()).then(|| quote!(for<#(#lifetimes),*>));
    Ok(quote! {
        #item
        const _: () = {
            fn wrapper #parameters (
                #(#arguments: #types),*
            ) -> ::core::result::Result<#result, ::dyntrace::__code::Panicked> {
                ::dyntrace::__code::caught(move || #call(#function(#(#arguments),*)))
            }
            static EXPORT: ::dyntrace::__code::ExportDescriptor =
                ::dyntrace::__code::ExportDescriptor::new::<#binder fn(#(#types),*) -> #result>(#name, wrapper as *const ());
            #[used]
            #[unsafe(link_section = "dyntrace_exports")]
            static ENTRY: ::dyntrace::__code::ExportEntry = ::dyntrace::__code::ExportEntry::new(&EXPORT);
        };
    })
}

fn refuse(signature: &Signature) -> Result<()> {
    if let Some(token) = &signature.unsafety {
        return Err(Error::new(
            token.span,
            "an export is called by name: nobody could promise there what `unsafe` asks for",
        ));
    }
    if let Some(abi) = &signature.abi {
        return Err(Error::new(abi.span(), "an export has Rust's own calling convention: leave out `extern`"));
    }
    if let Some(variadic) = &signature.variadic {
        return Err(Error::new(variadic.span(), "a function with C's variable arguments cannot be exported"));
    }
    if signature.inputs.len() > 6 {
        return Err(Error::new(signature.inputs.span(), "an export has six arguments at most: put some into a struct"));
    }
    Ok(())
}

fn lifetimes(signature: &Signature) -> Result<Vec<&Lifetime>> {
    let parameters = signature.generics.params.iter().map(|parameter| match parameter {
        GenericParam::Lifetime(of) => Ok(&of.lifetime),
        other => Err(Error::new(other.span(), "an export is one function: it cannot be generic")),
    });
    parameters.collect()
}
