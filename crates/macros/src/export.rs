//! `#[export]`: a function that callers outside its module find by name.
//!
//! ```text
//! fn price(order: &Order) -> Cents { ...as it was written... }
//! const _: () = {
//!     fn __dyntrace_wrapper(order: &Order) -> Result<Cents, Panicked> {
//!         ...caught(move || price(order)), around which it can be traced as `export pricing::price`...
//!     }
//!     const __DYNTRACE_CODE: fn(&Order) -> Result<Cents, Panicked> = __dyntrace_wrapper;    // of any lifetime, if it is written so
//!     static __DYNTRACE_EXPORT: ExportDescriptor = unsafe { ExportDescriptor::new::<fn(&Order) -> Cents>("price", __DYNTRACE_CODE) };
//!     static __DYNTRACE_ENTRY: &ExportDescriptor = &__DYNTRACE_EXPORT;       // in the section where the module's exports are found
//! };
//! ```
//!
//! Only calls from outside the module go through the wrapper, and so hit its breakpoint site. The wrapper of an `async fn` makes the
//! future, which is traced itself and catches panics in each poll.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{
    Error, FnArg, GenericParam, ItemFn, Lifetime, Pat, Result, ReturnType, Signature, Type, parse_quote, parse2,
};

use crate::function::instrument;
use crate::options::Options;

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
    let result = match &signature.output {
        ReturnType::Default => quote!(()),
        ReturnType::Type(_, of) => quote!(#of),
    };
    let all = signature.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => Some(pointee(&typed.ty)),
        FnArg::Receiver(_) => None,
    });
    let all = all.chain(match &signature.output {
        ReturnType::Default => None,
        ReturnType::Type(_, of) => Some(&**of),
    });
    // With the spans of the types, so that errors point there.
    let have_layouts = all.map(|of| quote_spanned!(of.span()=> ::dyntrace::__code::has_layout::<#of>();));
    let name = signature.ident.to_string();
    let name = name.trim_start_matches("r#");
    let parameters = (!lifetimes.is_empty()).then(|| quote!(<#(#lifetimes),*>));
    let (result, wrapper) = match signature.asyncness {
        None => {
            let mut wrapper = entry(signature, "__dyntrace_wrapper", name)?;
            wrapper.sig.output = parse_quote!(-> ::core::result::Result<#result, ::dyntrace::__code::Panicked>);
            (result, quote!(#wrapper))
        }
        Some(_) => {
            let future = entry(signature, "__dyntrace_future", name)?;
            let arguments: Vec<Ident> = (0..types.len()).map(|at| format_ident!("a{at}")).collect();
            let result = quote!(::dyntrace::code::Pending<#result>);
            let wrapper = quote! {
                #future
                fn __dyntrace_wrapper #parameters (
                    #(#arguments: #types),*
                ) -> ::core::result::Result<#result, ::dyntrace::__code::Panicked> {
                    ::dyntrace::__code::caught(move || ::dyntrace::code::Pending::new(__dyntrace_future(#(#arguments),*)))
                }
            };
            (result, wrapper)
        }
    };
    let binder = (!lifetimes.is_empty()).then(|| quote!(for<#(#lifetimes),*>));
    Ok(quote! {
        #item
        const _: () = {
            #wrapper
            #[allow(dead_code, reason = "it is for the compiler to check")]
            fn __dyntrace_layouts #parameters () { #(#have_layouts)* }
            const __DYNTRACE_CODE: #binder fn(#(#types),*) -> ::core::result::Result<#result, ::dyntrace::__code::Panicked> =
                __dyntrace_wrapper;
            // SAFETY: both types are made of the same tokens.
            static __DYNTRACE_EXPORT: ::dyntrace::__code::ExportDescriptor = unsafe {
                ::dyntrace::__code::ExportDescriptor::new::<#binder fn(#(#types),*) -> #result>(#name, __DYNTRACE_CODE as *const ())
            };
            #[used]
            #[unsafe(link_section = "dyntrace_exports")]
            static __DYNTRACE_ENTRY: ::dyntrace::__code::LinkedExport = ::dyntrace::__code::LinkedExport::new(&__DYNTRACE_EXPORT);
        };
    })
}

/// Generates the wrapper for calls from outside the module: a breakpoint site that calls the function.
fn entry(signature: &Signature, entry: &str, name: &str) -> Result<ItemFn> {
    let function = &signature.ident;
    let mut signature = signature.clone();
    signature.ident = format_ident!("{entry}", span = function.span());
    let mut arguments = Vec::new();
    for (at, input) in signature.inputs.iter_mut().enumerate() {
        if let FnArg::Typed(typed) = input {
            let argument = match &*typed.pat {
                Pat::Ident(bound) if bound.by_ref.is_none() && bound.subpat.is_none() && bound.ident != *function => {
                    bound.ident.clone()
                }
                // Another `a0` of the user's is another variable.
                _ => format_ident!("a{at}", span = Span::mixed_site()),
            };
            *typed.pat = parse_quote!(#argument);
            arguments.push(argument);
        }
    }
    let wait = signature.asyncness.map(|_| quote!(.await));
    let mut item: ItemFn = parse_quote!(#signature { #function(#(#arguments),*) #wait });
    let options = Options { export: Some(name.to_owned()), ..Options::default() };
    instrument(&mut item.attrs, &mut item.sig, &mut item.block, None, &options)?;
    Ok(item)
}

/// The type behind a reference. The signature's hash covers the reference itself.
fn pointee(of: &Type) -> &Type {
    match of {
        Type::Reference(reference) => &reference.elem,
        other => other,
    }
}

fn refuse(signature: &Signature) -> Result<()> {
    if let Some(token) = &signature.unsafety {
        return Err(Error::new(
            token.span,
            "an export cannot be `unsafe`: callers find it by name, and could not uphold its contract",
        ));
    }
    if let Some(abi) = &signature.abi {
        return Err(Error::new(abi.span(), "an export uses Rust's calling convention: leave out `extern`"));
    }
    if let Some(variadic) = &signature.variadic {
        return Err(Error::new(variadic.span(), "a function with C's variable arguments cannot be exported"));
    }
    if signature.inputs.len() > 6 {
        return Err(Error::new(signature.inputs.span(), "an export has at most six arguments: put some into a struct"));
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
