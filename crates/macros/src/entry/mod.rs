//! Functions that run on a runtime of their own: the attributes `main` and `test`.

mod options;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::visit_mut::{self, VisitMut};
use syn::{AttrStyle, Attribute, Error, ItemFn, Result, ReturnType, Type, TypeImplTrait, parse2};

use options::{Flavor, Options};

/// Which attribute it is.
#[derive(Clone, Copy, PartialEq)]
pub enum EntryKind {
    Main,
    Test,
}

/// Makes an ordinary function of the asynchronous one. With an error, too, so that uses of the function are not errors.
pub fn expand(kind: EntryKind, options: TokenStream, item: TokenStream) -> TokenStream {
    let function: ItemFn = match parse2(item.clone()) {
        Ok(function) => function,
        Err(error) => return TokenStream::from_iter([error.into_compile_error(), item]),
    };
    match check(kind, &function).and_then(|()| Options::read(kind, options)) {
        Ok(options) => runs(kind, &options, function),
        Err(error) => TokenStream::from_iter([error.into_compile_error(), runs(kind, &Options::default(), function)]),
    }
}

fn check(kind: EntryKind, function: &ItemFn) -> Result<()> {
    let signature = &function.sig;
    if signature.asyncness.is_none() {
        return Err(Error::new_spanned(signature.fn_token, "the function is not `async`: write `async fn`"));
    }
    if kind == EntryKind::Main && signature.ident == "main" && !signature.inputs.is_empty() {
        return Err(Error::new_spanned(&signature.inputs, "the function `main` takes no arguments"));
    }
    match function.attrs.iter().find(|attribute| kind == EntryKind::Test && is_test(attribute)) {
        Some(second) => Err(Error::new_spanned(second, "the function is a test already: remove one of the attributes")),
        None => Ok(()),
    }
}

/// Whether it is `test` or the `test` of a prelude.
fn is_test(attribute: &Attribute) -> bool {
    let path: Vec<String> = attribute.path().segments.iter().map(|segment| segment.ident.to_string()).collect();
    match &path[..] {
        [test] => test == "test",
        [root, prelude, _, test] => ["core", "std"].contains(&&**root) && prelude == "prelude" && test == "test",
        _ => false,
    }
}

fn runs(kind: EntryKind, options: &Options, function: ItemFn) -> TokenStream {
    let ItemFn { mut attrs, vis, mut sig, block } = function;
    // Those inside of the body are the function's, too.
    attrs.iter_mut().for_each(|attribute| attribute.style = AttrStyle::Outer);
    sig.asyncness = None;
    // Locals of other names than the function's, at its place.
    let span = Span::mixed_site().located_at(sig.ident.span());
    let dyntrace = options.path();
    let test = (kind == EntryKind::Test).then(|| quote! { #[::core::prelude::v1::test] });
    let begin = match options.flavor(kind) {
        Flavor::MultiThread => quote_spanned! {span=> new_multi_thread },
        Flavor::CurrentThread => quote_spanned! {span=> new_current_thread },
    };
    let settings = options.settings();
    // So that the error of a body of another type is shown at its last expression.
    let typed = written(&sig.output).map(|output| {
        quote_spanned! {span=>
            if let ::core::option::Option::Some(never) = ::core::option::Option::None::<#output> {
                return never;
            }
        }
    });
    let statements = &block.stmts;
    quote_spanned! {span=>
        #(#attrs)*
        #test
        #vis #sig {
            let body = async {
                #typed
                #(#statements)*
            };
            #[allow(unused_mut)]
            let mut builder = #dyntrace::runtime::Builder::#begin();
            #(builder #settings;)*
            #dyntrace::__runtime::block_on(builder, body)
        }
    }
}

/// The type that the function returns, if it can be written in a type of its body.
fn written(output: &ReturnType) -> Option<TokenStream> {
    struct Finder(bool);
    impl VisitMut for Finder {
        fn visit_type_impl_trait_mut(&mut self, _: &mut TypeImplTrait) {
            self.0 = true;
        }
    }
    match output {
        ReturnType::Default => Some(quote! { () }),
        ReturnType::Type(_, of) => {
            let mut finder = Finder(matches!(**of, Type::Never(_)));
            visit_mut::visit_type_mut(&mut finder, &mut of.clone());
            (!finder.0).then(|| of.to_token_stream())
        }
    }
}
