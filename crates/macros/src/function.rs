//! Expands one function: the code around its body.
//!
//! ```text
//! fn price(order: &Order, qty: u32) -> Cents {
//!     static SITE: Site = ...;
//!     let call = move |hit| {
//!         if let Some(hit) = hit { hit.call(&[order's value, qty's value]) }
//!         move || -> Cents {
//!             let order = order;
//!             let qty = qty;
//!             ...the body as it was written...
//!         }
//!     };
//!     if SITE is set { return hit(call, |result| result's value, &SITE, mark of where this is) }    // out of line
//!     call(None)()
//! }
//! ```
//!
//! The arguments move into the closure, and only the closure borrows them. So the compiler keeps them in their registers while the site is
//! unset. It returns the body, a closure that owns all arguments: when the body runs, the call has left nothing on the stack. Inside they
//! are bound again, in order, and dropped as usual.
//!
//! For an asynchronous function the body is a future. Two kinds of functions have a guard instead of the closure. A function with `#[track_caller]`, perhaps by `cfg_attr`: its callees would take the closure for their caller. A function
//! that returns an `impl Fn`: by the function's type, and not by the closure's, the compiler knows that the returned closure takes
//! references of every lifetime. An asynchronous function with `#[track_caller]`, which Rust does not have, becomes one that takes its
//! caller's location and returns the future.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote};
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::visit_mut::VisitMut;
use syn::{
    Attribute, Block, Error, FnArg, Pat, PatType, PathArguments, Receiver, Result, ReturnType, Signature, Type,
    TypeImplTrait, TypeParamBound, parse_quote, parse2,
};

use crate::options::Options;

pub fn instrument(
    attributes: &mut Vec<Attribute>,
    signature: &mut Signature,
    body: &mut Block,
    within: Option<&str>,
    options: &Options,
) -> Result<()> {
    refuse(signature)?;
    let is_marked = attributes.iter().any(|attribute| attribute.path().is_ident("track_caller"));
    let tracks_caller = options.caller || is_marked;
    if tracks_caller && !is_marked {
        attributes.push(parse_quote!(#[track_caller]));
    }
    let arguments = arguments(signature, options)?;
    let site = site(signature, &arguments, within, options.export.as_deref());
    let values = arguments.iter().map(|argument| &argument.value);
    let bindings = arguments.iter().map(|argument| &argument.binding);
    let statements = &body.stmts;
    let written = quote!(#(#bindings)* #(#statements)*);
    let call = quote! {
        if let ::core::option::Option::Some(__dyntrace_hit) = __dyntrace_hit {
            __dyntrace_hit.call(&[#(#values),*]);
        }
    };
    let result = result(&signature.output);
    let parameter = quote!(__dyntrace_hit: ::core::option::Option<&mut ::dyntrace::__traced::Hit>);
    let of_result = match &result {
        Some(_) => quote!(|__dyntrace_result| ::dyntrace::__traced_value!(*__dyntrace_result)),
        // A function that never returns has no value.
        None => quote!(|_| ::dyntrace::__traced::Value::HIDDEN),
    };
    // In a constant, `Location::caller` is the place of the constant itself.
    let written_at = quote!(const { ::core::panic::Location::caller() });
    let owned = owned(&arguments);
    let inside = if signature.asyncness.is_some() {
        // Never run: tells the compiler the future's type before it checks the body.
        let promise = result.as_ref().map(|of| quote!(if false { return ::dyntrace::__traced::promised::<#of>(); }));
        let caller = match tracks_caller {
            true => quote!(::dyntrace::__traced::known_caller(__dyntrace_caller, #written_at)),
            false => quote!(::core::option::Option::None),
        };
        let future = quote! {
            let __dyntrace_call = ::dyntrace::__traced::call(move |#parameter| {
                #call
                async move { #promise #owned #written }
            });
            if __DYNTRACE_SITE.is_set() {
                return ::dyntrace::__traced::hit_future(__dyntrace_call, #of_result, &__DYNTRACE_SITE, #caller).await;
            }
            __dyntrace_call(::core::option::Option::None).await
        };
        if tracks_caller { made_here(signature, &arguments, &future)? } else { future }
    } else if tracks_caller || may_track_caller(attributes) || returns_closure(&signature.output) {
        quote! {
            let mut __dyntrace_guard = ::dyntrace::__traced::Guard::new();
            ::dyntrace::__traced_if_set!(__DYNTRACE_SITE, {
                let __dyntrace_caller =
                    ::dyntrace::__traced::known_caller(::core::panic::Location::caller(), #written_at);
                let __dyntrace_mark = ::dyntrace::__traced_mark!();
                let __dyntrace_hit = __dyntrace_guard.hit(&__DYNTRACE_SITE, __dyntrace_caller, __dyntrace_mark);
                #call
            });
            #written
        }
    } else {
        let arrow = result.as_ref().map(|of| quote!(-> #of));
        let ends = |call: TokenStream| match options.export {
            Some(_) => quote!(::dyntrace::__code::caught(move || #call)),
            None => call,
        };
        let hit =
            ends(quote!(::dyntrace::__traced::hit(__dyntrace_call, #of_result, &__DYNTRACE_SITE, __dyntrace_mark)));
        let plain = ends(quote!(__dyntrace_call(::core::option::Option::None)()));
        quote! {
            let __dyntrace_call = ::dyntrace::__traced::call(move |#parameter| {
                #call
                move || #arrow { #owned #written }
            });
            ::dyntrace::__traced_if_set!(__DYNTRACE_SITE, {
                let __dyntrace_mark = ::dyntrace::__traced_mark!();
                return #hit;
            });
            #plain
        }
    };
    if result.is_none() {
        // The calls of the closure are of type `!`, too.
        attributes.push(parse_quote!(#[allow(clippy::diverging_sub_expression)]));
    }
    *body = parse2(quote!({ #site #inside }))?;
    Ok(())
}

fn refuse(signature: &Signature) -> Result<()> {
    if let Some(token) = &signature.constness {
        return Err(Error::new(token.span, "a const fn cannot be traced: it also runs while the program is compiled"));
    }
    let mut attributes = signature.inputs.iter().flat_map(|input| {
        let (FnArg::Receiver(Receiver { attrs, .. }) | FnArg::Typed(PatType { attrs, .. })) = input;
        attrs
    });
    if let Some(attribute) = attributes.find(|attribute| attribute.path().is_ident("cfg")) {
        let why = "an argument that some configurations leave out cannot be traced: write two functions under `cfg`";
        return Err(Error::new_spanned(attribute, why));
    }
    if let Some(variadic) = &signature.variadic {
        return Err(Error::new(variadic.span(), "a function with C's variable arguments cannot be traced"));
    }
    Ok(())
}

/// Whether the function has `track_caller` under some configurations, which this macro cannot tell.
fn may_track_caller(attributes: &[Attribute]) -> bool {
    let is_named = |attribute: &Attribute| {
        attribute.path().is_ident("cfg_attr") && attribute.meta.to_token_stream().to_string().contains("track_caller")
    };
    attributes.iter().any(is_named)
}

/// Whether the function returns an `impl Fn`, or a type with one inside.
fn returns_closure(output: &ReturnType) -> bool {
    struct Closures(bool);
    impl<'a> Visit<'a> for Closures {
        fn visit_type_impl_trait(&mut self, of: &'a TypeImplTrait) {
            self.0 |= of.bounds.iter().any(|bound| match bound {
                // `Fn(&T)`, and its relatives.
                TypeParamBound::Trait(bound) => {
                    let last = bound.path.segments.last();
                    last.is_some_and(|last| matches!(last.arguments, PathArguments::Parenthesized(_)))
                }
                _ => false,
            });
            syn::visit::visit_type_impl_trait(self, of);
        }
    }
    let mut closures = Closures(false);
    closures.visit_return_type(output);
    closures.0
}

/// Turns an asynchronous function into one that returns `future`, with the location of the call.
fn made_here(signature: &mut Signature, arguments: &[Argument], future: &TokenStream) -> Result<TokenStream> {
    signature.asyncness = None;
    let answer = match &signature.output {
        ReturnType::Default => quote!(()),
        ReturnType::Type(_, of) if matches!(**of, Type::Never(_)) => {
            let why =
                "the caller of an asynchronous function cannot be tracked where it never returns: leave out `caller`";
            return Err(Error::new(of.span(), why));
        }
        ReturnType::Type(_, of) => quote!(#of),
    };
    signature.output = parse_quote!(-> impl ::core::future::Future<Output = #answer>);
    let owned = owned(arguments);
    Ok(quote! {
        let __dyntrace_caller = ::core::panic::Location::caller();
        async move {
            #owned
            #future
        }
    })
}

/// Has a body, a closure or an `async move` block, own all arguments whole. Otherwise it would own only the parts that it names, and the
/// others would be dropped before it runs.
fn owned(arguments: &[Argument]) -> TokenStream {
    let idents = arguments.iter().map(|argument| &argument.ident);
    quote!(let _ = (#(&#idents,)*);)
}

struct Argument {
    name: String,
    ident: Ident,
    /// The expression for its value.
    value: TokenStream,
    /// The binding as written in the function.
    binding: TokenStream,
}

/// Gives each argument a unique name. Returns its value expression and binding.
fn arguments(signature: &mut Signature, options: &Options) -> Result<Vec<Argument>> {
    let mut unknown: Vec<&Ident> = options.hidden.iter().collect();
    let mut arguments = Vec::new();
    for (place, input) in signature.inputs.iter_mut().enumerate() {
        let (name, ident, binding) = match input {
            FnArg::Receiver(receiver) => {
                let this = Ident::new("self", receiver.self_token.span);
                ("self".to_owned(), this, quote!())
            }
            FnArg::Typed(typed) => {
                let pattern = &typed.pat;
                let (name, ident, whole) = match &**pattern {
                    Pat::Ident(bound) if bound.by_ref.is_none() && bound.subpat.is_none() => {
                        (bound.ident.to_string(), bound.ident.clone(), quote!())
                    }
                    _ => {
                        let ident = format_ident!("__dyntrace_{}", place, span = Span::mixed_site());
                        // As the compiler does: a part that the pattern does not bind is dropped in its argument's turn.
                        let whole = quote!(let #ident = #ident;);
                        ("_".to_owned(), ident, whole)
                    }
                };
                let binding = quote!(#whole let #pattern = #ident;);
                *typed.pat = parse_quote!(#ident);
                (name, ident, binding)
            }
        };
        unknown.retain(|named| **named != name);
        let value = if options.hidden.iter().any(|hidden| *hidden == name) {
            quote!(::dyntrace::__traced::Value::HIDDEN)
        } else {
            quote!(::dyntrace::__traced_value!(#ident))
        };
        arguments.push(Argument { name, ident, value, binding });
    }
    match unknown.first() {
        Some(name) => Err(Error::new(name.span(), "the function has no argument of this name")),
        None => Ok(arguments),
    }
}

fn site(signature: &Signature, arguments: &[Argument], within: Option<&str>, export: Option<&str>) -> TokenStream {
    let within = within.map(|of| format!("::{of}")).unwrap_or_default();
    let (function, arity) = (signature.ident.to_string(), arguments.len());
    let name = match export {
        // The module's name becomes known when it is loaded.
        Some(export) => format!("export {export}/{arity}").to_token_stream(),
        None => {
            let name = format!("{within}::{}/{arity}", function.trim_start_matches("r#"));
            quote!(::core::concat!(::core::module_path!(), #name))
        }
    };
    // `line!()` would be the attribute's line, the same for all functions of a block.
    let line = u32::try_from(signature.ident.span().unwrap().line()).unwrap_or(0);
    let names = arguments.iter().map(|argument| &argument.name);
    quote!(::dyntrace::__traced_site!(__DYNTRACE_SITE, #name, #line, [#(#names),*]);)
}

/// Returns the type to annotate the closure with. The compiler infers parts that only the body determines.
fn result(output: &ReturnType) -> Option<Type> {
    struct Hidden;
    impl VisitMut for Hidden {
        fn visit_type_mut(&mut self, of: &mut Type) {
            if let Type::ImplTrait(_) = of {
                *of = parse_quote!(_);
            } else {
                syn::visit_mut::visit_type_mut(self, of);
            }
        }
    }
    match output {
        ReturnType::Default => Some(parse_quote!(())),
        ReturnType::Type(_, of) if matches!(**of, Type::Never(_)) => None,
        ReturnType::Type(_, of) => {
            let mut of = (**of).clone();
            Hidden.visit_type_mut(&mut of);
            Some(of)
        }
    }
}
