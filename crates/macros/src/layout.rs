//! `derive(Layout)`: a hash of a type's definition and of the field offsets that the compiler chose.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Data, DeriveInput, Error, Expr, Fields, GenericParam, Result, parse_quote, parse2};

pub fn expand(item: TokenStream) -> Result<TokenStream> {
    let mut item: DeriveInput = parse2(item)?;
    let name = item.ident.to_string();
    let parts = match &item.data {
        Data::Struct(of) => fields(&of.fields, true),
        Data::Enum(of) => {
            let variants = of.variants.iter().map(|variant| {
                let discriminant = variant.discriminant.as_ref().map(|(_, value)| discriminant(value));
                let (name, parts) = (variant.ident.to_string(), fields(&variant.fields, false));
                quote!(.text("variant").text(#name) #discriminant #parts)
            });
            quote!(#(#variants)*)
        }
        Data::Union(of) => {
            return Err(Error::new(
                of.union_token.span,
                "a union has no layout: only its own code knows which field is valid",
            ));
        }
    };
    let repr = item.attrs.iter().filter(|attribute| attribute.path().is_ident("repr")).map(|attribute| {
        let text = attribute.meta.to_token_stream().to_string();
        quote!(.text(#text))
    });
    let constants = item.generics.const_params().map(|parameter| {
        let ident = &parameter.ident;
        quote!(.number(#ident as u128))
    });
    let head = quote!(::dyntrace::code::LayoutHash::of::<Self>(#name) #(#repr)* #(#constants)*);
    for parameter in &mut item.generics.params {
        if let GenericParam::Type(of) = parameter {
            of.bounds.push(parse_quote!(::dyntrace::code::Layout));
        }
    }
    let ident: &Ident = &item.ident;
    let (generics, arguments, condition) = item.generics.split_for_impl();
    Ok(quote! {
        // SAFETY: the hash covers all fields, and each field's type has a layout.
        unsafe impl #generics ::dyntrace::code::Layout for #ident #arguments #condition {
            const HASH: ::dyntrace::code::LayoutHash = #head #parts;
        }
    })
}

/// Hashes the fields in order: names, types, and offsets, which the compiler tells only of structs.
fn fields(of: &Fields, with_offsets: bool) -> TokenStream {
    let parts = of.iter().enumerate().map(|(at, field)| {
        let name = field.ident.clone().unwrap_or_else(|| format_ident!("_{at}"));
        let text = name.to_string();
        let member = match &field.ident {
            Some(ident) => quote!(#ident),
            None => syn::Index::from(at).into_token_stream(),
        };
        let offset = with_offsets.then(|| quote!(.number(::core::mem::offset_of!(Self, #member) as u128)));
        let of = &field.ty;
        quote!(.text(#text) #offset .with(<#of as ::dyntrace::code::Layout>::HASH))
    });
    quote!(#(#parts)*)
}

fn discriminant(value: &Expr) -> TokenStream {
    quote!(.number((#value) as i128 as u128))
}
