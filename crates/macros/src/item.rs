//! The attribute's item: a function, or a block of functions.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, Block, Error, ImplItem, Item, ItemImpl, ItemTrait, Result, Signature, TraitItem, Type, parse2};

use crate::function;
use crate::options::Options;

pub fn expand(options: &Options, item: TokenStream) -> Result<TokenStream> {
    match parse2(item)? {
        Item::Fn(mut item) => {
            let within = options.within.as_ref().map(type_name);
            function::instrument(&mut item.attrs, &mut item.sig, &mut item.block, within.as_deref(), options)?;
            Ok(item.into_token_stream())
        }
        Item::Impl(item) => of_impl(options, item),
        Item::Trait(item) => of_trait(options, item),
        other => Err(Error::new_spanned(
            other,
            "a function with a body can be traced, and an impl or trait block whose functions are; this is neither",
        )),
    }
}

fn of_impl(options: &Options, mut block: ItemImpl) -> Result<TokenStream> {
    refuse_options_of_functions(options)?;
    let name = options.within.as_ref().map_or_else(|| type_name(&block.self_ty), type_name);
    for item in &mut block.items {
        if let ImplItem::Fn(function) = item {
            of_block(&mut function.attrs, &mut function.sig, &mut function.block, &name)?;
        }
    }
    Ok(block.into_token_stream())
}

fn of_trait(options: &Options, mut block: ItemTrait) -> Result<TokenStream> {
    refuse_options_of_functions(options)?;
    let name = options.within.as_ref().map_or_else(|| block.ident.to_string(), type_name);
    for item in &mut block.items {
        if let TraitItem::Fn(function) = item
            && let Some(body) = &mut function.default
        {
            of_block(&mut function.attrs, &mut function.sig, body, &name)?;
        }
    }
    Ok(block.into_token_stream())
}

/// A function of a block uses the options of its own attribute, if it has one.
fn of_block(attributes: &mut Vec<Attribute>, signature: &mut Signature, body: &mut Block, within: &str) -> Result<()> {
    let own = attributes.iter().position(|attribute| {
        let path = attribute.path();
        path.segments.last().is_some_and(|last| last.ident == "traced")
    });
    let options = match own.map(|place| attributes.remove(place)) {
        Some(attribute) if matches!(attribute.meta, syn::Meta::Path(_)) => Options::default(),
        Some(attribute) => attribute.parse_args()?,
        // Constant functions stay as they are.
        None if signature.constness.is_some() => return Ok(()),
        None => Options::default(),
    };
    if options.off {
        return Ok(());
    }
    let own_name = options.within.as_ref().map(type_name);
    function::instrument(attributes, signature, body, Some(own_name.as_deref().unwrap_or(within)), &options)
}

fn refuse_options_of_functions(options: &Options) -> Result<()> {
    match options.hidden.first() {
        Some(name) => Err(Error::new(name.span(), "say this at the function whose argument it is")),
        None if options.caller || options.off => {
            Err(Error::new(proc_macro2::Span::call_site(), "say `caller` and `off` at the functions that they are for"))
        }
        None => Ok(()),
    }
}

/// Returns `Cart` for `crate::shop::Cart<T>`, and other types as written.
fn type_name(of: &Type) -> String {
    match of {
        Type::Path(path) if path.qself.is_none() => {
            path.path.segments.last().map_or_else(String::new, |last| last.ident.to_string())
        }
        Type::Reference(reference) => type_name(&reference.elem),
        Type::Group(group) => type_name(&group.elem),
        other => quote!(#other).to_string().replace(' ', ""),
    }
}
