//! What stands in the parentheses of the attribute.

use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, Result, Token, Type, parenthesized};

#[derive(Default)]
pub struct Options {
    /// `in = Type`: the type whose method it is.
    pub within: Option<Type>,
    /// `skip(a, b)`, `secret(c)`: arguments that are not looked at.
    pub hidden: Vec<Ident>,
    /// `caller`: the function is given its caller's place.
    pub caller: bool,
    /// Not an option, but what the attribute `export` says: it is an export of this name.
    pub export: Option<String>,
    /// `off`: the function is no site, though the block that it stands in has the attribute.
    pub off: bool,
}

impl Parse for Options {
    fn parse(input: ParseStream) -> Result<Options> {
        let mut options = Options::default();
        while !input.is_empty() {
            let name = input.call(Ident::parse_any)?;
            match name.to_string().as_str() {
                "in" => {
                    input.parse::<Token![=]>()?;
                    options.within = Some(input.parse()?);
                }
                "skip" | "secret" => options.hidden.extend(names(input)?),
                "caller" => options.caller = true,
                "off" => options.off = true,
                _ => {
                    return Err(Error::new(
                        name.span(),
                        "expected one of: in = Type, skip(ARGUMENT, ...), secret(ARGUMENT, ...), caller, off",
                    ));
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(options)
    }
}

fn names(input: ParseStream) -> Result<Punctuated<Ident, Token![,]>> {
    let inner;
    parenthesized!(inner in input);
    inner.parse_terminated(Ident::parse_any, Token![,])
}
